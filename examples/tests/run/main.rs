//! Runs every example, in memory and on a server, and checks its output.

mod compose;
mod server;
#[cfg(all(feature = "axum", unix))]
mod shutdown;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use server::Server;

/// The path of a built example. Cargo builds the examples together with all tests of the package, but
/// not with this test alone, so an example may be missing or out of date.
#[track_caller]
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test
        .ancestors()
        .nth(2)
        .expect("the test is in target/…/deps");
    let program = folder.join("examples").join(name);
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = match name.strip_suffix("-expanded") {
        None => package.join("examples").join(name),
        Some(name) => package.join("expanded").join(name),
    };
    let changed = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    assert!(
        changed(&program) >= changed(&source.with_extension("rs")),
        "build the examples first: cargo build -p lock-examples --examples"
    );
    program
}

/// Runs an example in memory and on a server, in parallel. The output must contain the lines in
/// this order.
#[track_caller]
fn prints(name: &str, expected: &[&str]) {
    let server = Server::start();
    let urls = ["memory://", &server.url()];
    let programs = urls.map(|url| {
        let mut program = Command::new(program(name));
        let program = program.env("LOCK_URL", url).stderr(Stdio::piped());
        let started = program.stdout(Stdio::piped()).spawn();
        started.expect("the example starts")
    });
    for (url, program) in urls.iter().zip(programs) {
        let output = program.wait_with_output().expect("it can be waited for");
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
fn quickstart_ships_every_order_alone() {
    prints(
        "quickstart",
        &["4 clerks", "12 times shipped", "never by two"],
    );
}

#[test]
fn expanded_quickstart_ships_every_order_alone() {
    prints("quickstart-expanded", &["12 times shipped", "never by two"]);
}

#[test]
fn guard_is_acquired_renewed_and_released() {
    let expected = [
        "Acquired `report:daily`",
        "A second caller tries: busy.",
        "lock `report:daily` is busy: held by guard",
        "The server confirms that the lock is held.",
        "Released, after it was held all the time.",
        "Wrote 1042 lines",
    ];
    prints("guard", &expected);
}

#[test]
fn nested_call_enters_the_lock() {
    let expected = [
        "book interest, holder 2",
        "book fees, holder 2",
        "book tax, holder 2",
        "book farewell, holder 3",
        "the lock is free: true",
    ];
    prints("reentrancy", &expected);
}

#[test]
fn readers_permits_and_two_accounts_keep_to_their_modes() {
    let expected = [
        " read the report at once, and 1 rebuilt it",
        "3 of 5 orders were with the supplier at once",
        "1 transfer at a time",
    ];
    prints("modes", &expected);
}

#[test]
fn stock_that_a_java_service_shares_loses_no_update() {
    let expected = [
        "takes one of 10 pieces.",
        "takes one of 8 pieces.",
        "7 pieces are left.",
        "Refused: lock `stock:7`",
        "Redisson's record has no readers",
    ];
    prints("with_java", &expected);
}

#[test]
fn lottery_is_drawn_once() {
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
fn hourly_job_runs_once_a_tick() {
    prints(
        "hourly",
        &[
            "It is 1 o'clock.",
            "machine 1 writes the report.",
            "machine 2 is not needed.",
            "machine 3 is not needed.",
            "It is 2 o'clock.",
            "machine 1 writes the report.",
            "machine 3 is not needed.",
            "once in each hour",
        ],
    );
}

#[test]
fn each_instance_leads_after_the_one_before_it() {
    let expected = [
        "first leads leader",
        "second leads leader",
        "third leads leader",
        "third stopped",
    ];
    prints("leader", &expected);
}

#[test]
fn import_stops_with_its_lease() {
    let expected = [
        "batch 1 of 10",
        "the import ends.",
        "Stopped: lock `import` was lost",
        "the second import ends.",
        "All 5 batches",
    ];
    prints("lost_lease", &expected);
}

#[test]
fn test_finds_the_await_at_which_a_customer_pays_twice() {
    let expected = [
        "pay does not survive the loss of its lock at await 1, its own number 1",
        "lock: `invoice:<id>`, key \"invoice:7\", taken at examples/examples/interrupted.rs:",
        "`.only(1)`",
        "survives the loss of its lock at each of 3 awaits.",
    ];
    prints("interrupted", &expected);
}

#[cfg(feature = "sqlite")]
#[test]
fn stale_writer_is_refused() {
    let expected = [
        "sees 100",
        "Bob  sells 30: written.",
        "refused, stale token",
        "is_valid() returns false",
        "70 are left.",
    ];
    prints("fencing", &expected);
}

#[cfg(feature = "axum")]
#[test]
fn second_request_is_answered_with_the_holder() {
    let expected = [
        "the second: 409 busy: held by warehouse-1@",
        ", again in 5 s",
        "the first:  200 order 42 is on its way",
        "the third:  200 order 42",
    ];
    prints("web", &expected);
}

#[cfg(feature = "axum")]
#[test]
fn operator_who_logs_in_sees_the_lock() {
    let expected = [
        "A stranger: 401, no locks",
        "Ann, all locks: 200, `import` is held by importer-1",
        "Ann, one of them: 200, `import` is held by importer-1",
    ];
    prints("operators", &expected);
}
