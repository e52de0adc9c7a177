//! The same commands on every kind of server.

use harness::{RedisCluster, RedisQuorum, RedisSentinels, RedisServer, ask, client, patient};
use lock_runtime::LockRecord;
use serde_json::Value;

use crate::{Running, done, lockctl, text};

/// Takes a lock with `run`, and inspects and revokes it with the other commands.
#[track_caller]
fn works(server: &RedisServer, options: &[&str]) {
    let command = |arguments: &[&str]| lockctl(server, &[options, arguments].concat());
    let done = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let mut running = Running::start(command(&[
        "run",
        "import",
        "--",
        "sh",
        "-c",
        "echo in; sleep 600",
    ]));
    assert_eq!(running.lines().next().as_deref(), Some("in"));
    let (code, said, complaint) = done(&["list", "--json"]);
    assert_eq!(
        (code, said.lines().count()),
        (Some(0), 1),
        "{said} {complaint}"
    );
    let line: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(line["key"], "import");
    let (code, said, complaint) = done(&["inspect", "import", "--json"]);
    assert_eq!(code, Some(0), "{complaint}");
    let lock: Value = serde_json::from_str(&said).unwrap();
    let holder = &lock["holders"][0];
    let seen = match (holder["token"].as_u64(), holder["record"].as_str()) {
        (Some(token), _) => ["--token".to_owned(), token.to_string()],
        (None, Some(hash)) => ["--hash".to_owned(), hash.to_owned()],
        (None, None) => panic!("{lock}"),
    };
    let revoke = [
        "revoke", "import", "--yes", "--reason", "test", &seen[0], &seen[1],
    ];
    let (code, _, complaint) = done(&revoke);
    assert_eq!(code, Some(0), "{complaint}");
    assert_eq!(running.ended().code(), Some(76));
    assert_eq!(done(&["inspect", "import"]).0, Some(1));
    let (code, said, complaint) = done(&["audit", "import"]);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(said.contains(": intended; test ["), "{said}");

    // The same, by the label of the holder.
    let run = [
        "run",
        "export",
        "--by",
        "pod@7",
        "--",
        "sh",
        "-c",
        "echo in; sleep 600",
    ];
    let mut running = Running::start(command(&run));
    assert_eq!(running.lines().next().as_deref(), Some("in"));
    let revoke = ["revoke", "--holder", "pod@7", "--yes", "--reason", "test"];
    let (code, said, complaint) = done(&revoke);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(
        said.starts_with("took lock `export` from pod@7 run sh "),
        "{said}"
    );
    assert_eq!(running.ended().code(), Some(76));
}

#[test]
fn locks_of_a_cluster() {
    let cluster = RedisCluster::with(3, 0);
    works(&cluster.nodes[0], &["--url", &cluster.url()]);
}

#[test]
fn locks_behind_sentinels() {
    let sentinels = RedisSentinels::start();
    works(&sentinels.servers[0], &["--url", &sentinels.url()]);
}

#[test]
fn locks_of_a_quorum() {
    let quorum = RedisQuorum::start();
    works(&quorum.nodes[0], &["--url", &quorum.url()]);
}

#[test]
fn locks_in_the_record_of_redisson() {
    let server = RedisServer::start();
    // It learns of the revocation at its next renewal.
    let options = [
        "--record",
        "redisson",
        "--prefix",
        "",
        "--url",
        &server.admin_url(),
    ];
    let held = patient(server.admin_url())
        .prefix("")
        .record(LockRecord::Redisson)
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let guard = runtime.block_on(async { held.lock("import").acquire().await.unwrap() });
    let command = |arguments: &[&str]| {
        let output = done(&server, &[&options[..], arguments].concat());
        (output.status.code(), text(&output.stdout))
    };
    assert_eq!(
        command(&["run", "import", "--wait", "0s", "--", "true"]).0,
        Some(75)
    );
    let (code, said) = command(&["list", "--json"]);
    let line: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &line["kind"]), (Some(0), &"redisson".into()));
    let (_, said) = command(&["inspect", "import", "--json"]);
    let lock: Value = serde_json::from_str(&said).unwrap();
    let hash = lock["holders"][0]["record"].as_str().unwrap();
    let revoke = [
        "revoke", "import", "--yes", "--reason", "test", "--hash", hash,
    ];
    assert_eq!(command(&revoke).0, Some(0));
    assert_eq!(command(&["inspect", "import"]).0, Some(1));
    let (code, said) = command(&["run", "import", "--", "sh", "-c", "echo $LOCK_KEY"]);
    assert_eq!((code, said.as_str()), (Some(0), "import\n"));
    assert_eq!(command(&["doctor"]).0, Some(0));
    drop(guard);

    let _guard = runtime.block_on(async { held.lock("export").acquire().await.unwrap() });
    let line: Value = serde_json::from_str(&command(&["list", "--json"]).1).unwrap();
    let label = line["holder"].as_str().unwrap();
    let revoke = ["revoke", "--holder", label, "--yes", "--reason", "test"];
    let (code, said) = command(&revoke);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("took lock `export` from "), "{said}");
    assert_eq!(command(&["inspect", "export"]).0, Some(1));
}

#[tokio::test]
async fn prefix_separates_services() {
    let server = RedisServer::start();
    let service = patient(server.admin_url()).prefix("shop:").build().unwrap();
    let _guard = service.lock("order:42").acquire().await.unwrap();
    let _other = client(server.url())
        .lock("order:43")
        .acquire()
        .await
        .unwrap();
    let list = |arguments: &[&str], prefix: Option<&str>| {
        let mut command = lockctl(&server, &[&["list"], arguments].concat());
        command.env("LOCK_URL", server.admin_url());
        if let Some(prefix) = prefix {
            command.env("LOCK_PREFIX", prefix);
        }
        text(&command.output().unwrap().stdout)
    };
    assert!(list(&[], None).starts_with("order:43 "));
    assert!(list(&["--prefix", "shop:"], None).starts_with("order:42 "));
    assert!(list(&[], Some("shop:")).starts_with("order:42 "));
    assert!(list(&["--prefix", "lock:"], Some("shop:")).starts_with("order:43 "));
    let exists = |name: &str| ask::<bool>(&mut server.connection(), &["EXISTS", name]);
    assert!(exists("shop:order:42") && exists("lock:order:43"));
}

#[test]
fn memory_is_refused_for_locks_that_exclude_others() {
    let server = RedisServer::start();
    for arguments in [
        &["run", "import", "--", "echo", "ran"][..],
        &["hold", "import", "--for", "1s", "--reason", "test"],
    ] {
        for url in ["memory://", "MEMORY://x"] {
            let output = done(&server, &[&["--url", url], arguments].concat());
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains("exclude no other process"), "{said}");
            assert_eq!(text(&output.stdout), "");
        }
    }
}
