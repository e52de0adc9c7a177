//! `lockctl watch` in a terminal.

use harness::{LONG, RedisServer, ask, client, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use super::terminal::Terminal;
use crate::many::{calls, fill};

#[tokio::test]
async fn live_view_sorts_filters_inspects_and_revokes() {
    let server = RedisServer::start();
    let service = client(server.url());
    let guard = service.lock("order:42").fenced().acquire().await.unwrap();
    let stock = service.lock("stock:1").acquire().await.unwrap();
    let terminal = Terminal::start(&server, &["watch", "--interval", "100ms"]);
    terminal.shows("*: 2 locks, by key");
    terminal.shows("stock:1");
    stock.release().await.unwrap();
    terminal.shows("*: 1 locks");

    terminal.press(&["s"]);
    terminal.shows("by age, oldest first");
    terminal.press(&["/", "n", "o", "n", "e"]);
    terminal.shows("*: 1 locks, 0 shown");
    terminal.press(&["Escape"]);
    terminal.shows("order:42");
    terminal.press(&["Enter"]);
    terminal.shows("lock `order:42` is held");
    terminal.shows(&format!("token {}", guard.fencing_token().await.unwrap()));
    // Revokes the lock that is shown.
    terminal.press(&["r"]);
    terminal.shows("revoke `order:42`, reason:");
    terminal.press(&["-l", "stuck"]);
    terminal.press(&["Enter"]);
    terminal.shows("type `order:42` to revoke:");
    terminal.press(&["-l", "order:42"]);
    terminal.press(&["Enter"]);
    terminal.shows("took `order:42` from ");
    tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    terminal.shows("*: 0 locks");
    terminal.press(&["q"]);
    // The session ends with its program.
    wait_until("end of the terminal", LONG, || terminal.screen().is_empty());
}

/// The number of single locks, and of pages of keys, that the server was asked for.
fn looks(admin: &mut redis::Connection) -> (usize, usize) {
    (calls(admin, "multi"), calls(admin, "scan"))
}

/// Only the locks on the screen are read every second, not thousands.
#[tokio::test]
async fn many_locks_are_read_less_often_than_the_screen() {
    const OTHERS: usize = 5_000;
    let server = RedisServer::start();
    let service = client(server.url());
    let mut admin = server.connection();
    fill(&mut admin, OTHERS);
    let guard = service.lock("aaa:first").acquire().await.unwrap();
    let terminal = Terminal::start(&server, &["watch", "--interval", "100ms"]);
    terminal.shows("*: 5001 locks, by key");
    let (_, a_look) = looks(&mut admin);
    assert!(a_look >= OTHERS / 250, "{a_look} pages");

    guard.release().await.unwrap();
    terminal.shows("*: 5000 locks");
    let _: () = ask(&mut admin, &["DEL", "lock:order:0"]);
    terminal.shows("*: 4999 locks");
    terminal.shows("all read ");
    // Sixteen rows are on the screen. Even on a slow machine, there is time for some of these reads in the pause after
    // a read of all locks.
    let (single, pages) = looks(&mut admin);
    let (on_screen, all) = (single / 16, pages.div_ceil(a_look));
    assert!(
        on_screen >= 3 * all,
        "{on_screen} reads of the screen, {all} of all"
    );
}

#[tokio::test]
async fn change_outside_the_screen_is_seen_by_the_next_full_read() {
    let server = RedisServer::start();
    let service = client(server.url());
    let mut admin = server.connection();
    for number in 0..200 {
        let name = format!("lock:order:{number}");
        let _: () = ask(&mut admin, &["SET", &name, "another's", "PX", "600000"]);
    }
    let terminal = Terminal::start(&server, &["watch", "--interval", "100ms"]);
    terminal.shows("*: 200 locks, by key");
    let _guard = service.lock("zzz:last").acquire().await.unwrap();
    terminal.shows("*: 201 locks, by key");
    let _: () = ask(&mut admin, &["DEL", "lock:order:99"]);
    terminal.shows("*: 200 locks, by key");
}

#[tokio::test]
async fn unreachable_server_is_reported_and_retried() {
    let mut server = RedisServer::start();
    let service = client(server.url());
    let _guard = service.lock("order:42").fenced().acquire().await.unwrap();
    let arguments = ["watch", "--interval", "100ms", "--timeout", "300ms"];
    let terminal = Terminal::start(&server, &arguments);
    terminal.shows("*: 1 locks");
    server.kill9();
    terminal.shows("cannot connect to ");
    // The last known rows stay.
    terminal.shows("order:42");
    server.restart();
    terminal.shows("*: 0 locks");
    terminal.press(&["C-c"]);
    wait_until("end of the terminal", LONG, || terminal.screen().is_empty());
}

#[tokio::test]
async fn keys_and_signals_work_while_a_server_does_not_answer() {
    let server = RedisServer::start();
    let service = client(server.url());
    let _guard = service.lock("order:42").fenced().acquire().await.unwrap();
    // The shell stays, to show the state of the terminal afterwards.
    let line = r#""$0" watch --interval 100ms --timeout 10m; echo "ended $?"; read a; echo "read $a"; read a"#;
    let program = env!("CARGO_BIN_EXE_lockctl");
    let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
    terminal.shows("*: 1 locks, by key");
    let shell = terminal.tmux(&["display-message", "-p", "#{pane_pid}"]);
    let shell = shell.trim();
    let children = format!("/proc/{shell}/task/{shell}/children");
    let watching = std::fs::read_to_string(children).unwrap();
    let watching = Pid::from_raw(watching.trim().parse().unwrap()).unwrap();

    server.pause();
    // A read of the locks begins in between and does not end.
    let sorts = ["by age", "by waiters", "by holder", "by key"];
    for sort in sorts.iter().cycle().take(16) {
        terminal.press(&["s"]);
        terminal.shows(sort);
    }
    kill_process(watching, Signal::TERM).unwrap();
    terminal.shows("ended 143");
    let screen = terminal.tmux(&["display-message", "-p", "#{alternate_on}"]);
    assert_eq!(screen.trim(), "0", "the earlier screen is shown");
    terminal.press(&["-l", "typed"]);
    terminal.press(&["Enter"]);
    terminal.shows("read typed");
    server.resume();
}

#[tokio::test]
async fn keys_work_while_an_action_is_not_answered() {
    let server = RedisServer::start();
    let service = client(server.url());
    let _guard = service.lock("order:42").fenced().acquire().await.unwrap();
    let line = r#""$0" watch --interval 100ms --timeout 10m; echo "ended $?"; read a"#;
    let program = env!("CARGO_BIN_EXE_lockctl");
    for end in ["q", "C-c"] {
        let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
        terminal.shows("*: 1 locks, by key");
        server.pause();
        terminal.press(&["Enter"]);
        terminal.shows("inspecting `order:42`");
        terminal.press(&["s"]);
        terminal.shows("by age");
        terminal.press(&["Enter"]);
        terminal.shows("nothing was done");
        terminal.press(&[end]);
        terminal.shows("ended 0");
        server.resume();
    }

    let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
    terminal.shows("*: 1 locks, by key");
    server.pause();
    terminal.press(&["r"]);
    terminal.press(&["-l", "stuck"]);
    terminal.press(&["Enter"]);
    terminal.press(&["-l", "order:42"]);
    terminal.press(&["Enter"]);
    terminal.shows("revoking `order:42`");
    terminal.press(&["C-c"]);
    terminal.shows("revocation of `order:42` was not answered");
    terminal.shows("ended 0");
    server.resume();
}
