//! Clients of Redlock from other languages, on the nodes of a quorum: redlock-py, pottery and node-redlock.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use harness::{RedisQuorum, Worker, patient};
use lock_runtime::LockClient;

use super::packages::{self, text};
use super::{exclude_each_other, lose_no_update};

/// The prefix that pottery gives to all keys.
const PREFIX: &str = "redlock:";

/// The name of our lock.
const NAME: &str = "redlock:order:42";

/// With these variables, tests fail if the clients of a language cannot be installed.
const REQUIRE_NODE: &str = "LOCK_REQUIRE_NODE_REDLOCK";
const REQUIRE_PYTHON: &str = "LOCK_REQUIRE_REDLOCK_PY";

/// Tests that run at the same time install them once.
static PYTHON: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
    let packages = ["redlock-py==1.0.8", "pottery==3.0.1"];
    packages::python("redlock-clients", &packages, "redlock, pottery")
});

static NODE: LazyLock<Result<PathBuf, String>> =
    LazyLock::new(|| packages::node("node-redlock", &["redlock@5.0.0-beta.2", "ioredis@5"]));

const KINDS: [&str; 3] = ["redlock-py", "pottery", "node-redlock"];

/// A process with a client of that kind, if it can be installed.
fn client_of(kind: &str, quorum: &RedisQuorum, test: &str) -> Option<Worker> {
    let ports: Vec<String> = quorum
        .nodes
        .iter()
        .map(|node| node.port().to_string())
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promise/long");
    let (program, script, first) = match kind {
        "node-redlock" => {
            let packages = packages::installed(&NODE, kind, REQUIRE_NODE, test)?;
            (
                Path::new("node"),
                folder.join("node_redlock.js"),
                text(packages),
            )
        }
        _ => {
            let python = packages::installed(&PYTHON, kind, REQUIRE_PYTHON, test)?;
            (python, folder.join("redlock_clients.py"), kind)
        }
    };
    let mut arguments = vec![text(&script), first];
    arguments.extend(ports.iter().map(String::as_str));
    Some(Worker::spawn(text(program), &arguments))
}

/// Three nodes, and a client that names its keys as the others do.
fn start() -> (RedisQuorum, LockClient) {
    let quorum = RedisQuorum::start();
    quorum.mark(PREFIX);
    for node in &quorum.nodes {
        // They may use other commands than the crate does, and keys of their own.
        node.allow(&["~*", "+@all"]);
    }
    let builder = patient(quorum.url()).prefix(PREFIX);
    let ours = builder.build().expect("the settings are valid");
    (quorum, ours)
}

#[tokio::test]
async fn clients_of_redlock_and_we_exclude_each_other() {
    for kind in KINDS {
        let (quorum, ours) = start();
        let test = "clients_of_redlock_and_we_exclude_each_other";
        if let Some(mut theirs) = client_of(kind, &quorum, test) {
            println!("{kind}");
            exclude_each_other(&mut theirs, &ours, NAME).await;
        }
    }
}

#[tokio::test]
async fn clients_of_redlock_and_we_lose_no_update() {
    let (quorum, ours) = start();
    let test = "clients_of_redlock_and_we_lose_no_update";
    let theirs = KINDS
        .into_iter()
        .filter_map(|kind| client_of(kind, &quorum, test));
    let mut theirs: Vec<Worker> = theirs.collect();
    lose_no_update(&mut theirs, &ours, NAME, &quorum.nodes[0], 25).await;
}
