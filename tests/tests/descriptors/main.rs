//! A process that has run out of file descriptors. It needs a binary of its own: the limit concerns the whole process,
//! and the background thread starts only once.

#![cfg(unix)]

use std::fs::File;

use harness::{RedisServer, client, hold, patient, soon};
use lock_runtime::LockErrorKind;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Opens files until the limit is reached.
fn all_there_are() -> Vec<File> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(64);
    setrlimit(Resource::Nofile, limit).expect("a limit can be lowered");
    let files = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let error = File::open("/dev/null").expect_err("no descriptor is left");
    assert_eq!(
        error.raw_os_error(),
        Some(rustix::io::Errno::MFILE.raw_os_error())
    );
    files
}

/// The failure of the first use was stored, so the process could not lock until it was restarted.
#[tokio::test]
async fn a_client_is_made_as_soon_as_there_are_descriptors_again() {
    let server = RedisServer::start();
    let files = all_there_are();
    for _ in 0..2 {
        let error = patient(server.url()).build().unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
        let text = error.to_string();
        assert!(
            text.contains("background thread could not be started"),
            "{text}"
        );
    }
    drop(files);
    let client = client(server.url());
    let guard = soon(hold(&client)).await;
    guard.release().await.expect("it was held throughout");
}
