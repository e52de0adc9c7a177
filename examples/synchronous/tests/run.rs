//! Runs the program, in memory and on a server.

#[path = "../../tests/run/server.rs"]
mod server;

use std::process::Command;

use server::Server;

#[track_caller]
fn runs(url: &str) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_lock-example-synchronous"));
    let output = program
        .env("LOCK_URL", url)
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(text.contains("0 are left: no sale was lost."), "{text}");
    assert!(text.contains("finds it busy: true."), "{text}");
}

#[test]
fn no_sale_is_lost_in_memory() {
    runs("memory://");
}

#[test]
fn no_sale_is_lost_on_a_server() {
    let server = Server::start();
    runs(&server.url());
}
