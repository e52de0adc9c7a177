//! Every example runs, in memory and on a server, and prints what it promises.

mod server;
#[cfg(all(feature = "axum", unix))]
mod shutdown;

use std::path::{Path, PathBuf};
use std::process::Command;

use server::Server;

/// Where cargo puts the examples of this package when it builds all of its tests. It does not when
/// it is asked for this one alone, so they may be missing or old.
#[track_caller]
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a program knows where it is");
    let folder = test.ancestors().nth(2).expect("it is in target/…/deps");
    let program = folder.join("examples").join(name);
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = match name.strip_suffix("-expanded") {
        None => package.join("examples").join(name),
        Some(name) => package.join("expanded").join(name),
    };
    let changed = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    assert!(
        changed(&program) >= changed(&source.with_extension("rs")),
        "build it first: cargo build -p lock-examples --examples"
    );
    program
}

/// Runs an example in memory, then on a server. It must print each of these, in this order.
#[track_caller]
fn prints(name: &str, expected: &[&str]) {
    let server = Server::start();
    for url in ["memory://", &server.url()] {
        let mut program = Command::new(program(name));
        let output = program.env("LOCK_URL", url).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name} on {url}: {output:?}");
        let mut rest = &*text;
        for line in expected {
            let found = rest.split_once(line);
            rest = found
                .unwrap_or_else(|| panic!("no `{line}` on {url} in:\n{text}"))
                .1;
        }
    }
}

#[test]
fn quickstart() {
    prints(
        "quickstart",
        &["4 clerks", "12 times shipped", "never by two"],
    );
}

#[test]
fn quickstart_expanded() {
    prints("quickstart-expanded", &["12 times shipped", "never by two"]);
}

#[test]
fn guard() {
    let expected = [
        "Acquired `report:daily`",
        "Somebody else tries: busy.",
        "lock `report:daily` is busy: held by guard",
        "The server says that it is still ours.",
        "Released, and held until then.",
        "Wrote 1042 lines",
    ];
    prints("guard", &expected);
}

#[test]
fn reentrancy() {
    let expected = [
        "book interest, holder 2",
        "book fees, holder 2",
        "book tax, holder 2",
        "book farewell, holder 3",
        "free again is true",
    ];
    prints("reentrancy", &expected);
}

#[test]
fn lottery() {
    prints(
        "lottery",
        &[
            "5 instances",
            " draws.",
            "comes late",
            "The drum turned once.",
        ],
    );
}

#[test]
fn lost_lease() {
    let expected = [
        "batch 1 of 10",
        "the import ends.",
        "Stopped: lock `import` was lost",
        "the second import ends.",
        "All 5 batches",
    ];
    prints("lost_lease", &expected);
}

#[cfg(feature = "sqlite")]
#[test]
fn fencing() {
    let expected = [
        "sees 100",
        "Bob  sells 30: written.",
        "refused, stale token",
        "her lock is held is false",
        "There are 70 left.",
    ];
    prints("fencing", &expected);
}

#[cfg(feature = "axum")]
#[test]
fn web() {
    let expected = [
        "the second: 409 busy: held by warehouse-1 (pid ",
        "the first:  200 order 42 is on its way",
        "the third:  200 order 42",
    ];
    prints("web", &expected);
}
