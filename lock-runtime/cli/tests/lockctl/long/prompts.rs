//! `lockctl revoke` with its prompts in a terminal, and `lockctl run` with a command that uses the terminal.

use harness::{LONG, RedisServer, client, patient};

use super::terminal::Terminal;

#[tokio::test]
async fn key_is_typed_in_a_terminal() {
    let server = RedisServer::start();
    let service = client(server.url());
    let guard = service.lock("order:42").fenced().acquire().await.unwrap();
    let program = env!("CARGO_BIN_EXE_lockctl");
    let line = r#""$0" revoke order:42 --reason stuck; echo "ended $?"; read a"#;
    let dialogue = |typed: &str| {
        let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
        terminal.shows("lock `order:42` is held");
        terminal.shows(&format!(
            "token {}",
            guard.fencing_token_blocking().unwrap()
        ));
        terminal.shows("Only a resource that checks tokens is safe");
        terminal.shows("Type the key to take the lock from its holder:");
        terminal.press(&["-l", typed]);
        terminal.press(&["Enter"]);
        terminal
    };
    let terminal = dialogue("order:43");
    terminal.shows("Nothing was done.");
    terminal.shows("ended 1");
    assert!(guard.is_valid());
    let terminal = dialogue("order:42");
    terminal.shows("took lock `order:42` from ");
    terminal.shows("ended 0");
    tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
    terminal.shows("lock `order:42` is free");
    terminal.shows("ended 1");
}

#[tokio::test]
async fn revocation_of_a_shared_lock_warns_first_and_all_lose_it() {
    let server = RedisServer::start();
    let service = client(server.url());
    let one = service.lock("order:42").read().acquire().await.unwrap();
    let other = service.lock("order:42").read().acquire().await.unwrap();
    let program = env!("CARGO_BIN_EXE_lockctl");
    let line = r#""$0" revoke order:42 --reason stuck; echo "ended $?"; read a"#;
    let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
    terminal.shows("All holders of this lock lose it.");
    terminal.press(&["-l", "order:42"]);
    terminal.press(&["Enter"]);
    terminal.shows("ended 0");
    for guard in [one, other] {
        tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    }
}

#[tokio::test]
async fn label_is_typed_before_all_locks_of_a_holder_are_taken() {
    let server = RedisServer::start();
    let service = patient(server.url()).label("api@7");
    let service = service.build().unwrap();
    let guard = service.lock("order:42").fenced().acquire().await.unwrap();
    let other = service.lock("order:43").acquire().await.unwrap();
    let program = env!("CARGO_BIN_EXE_lockctl");
    let line = r#""$0" revoke --holder api@7 --reason stuck; echo "ended $?"; read a"#;
    for (typed, said, ended) in [
        ("api@70", "Nothing was done.", "ended 1"),
        ("api@7", "took lock `order:43` from api@7 (pid ", "ended 0"),
    ] {
        assert!(guard.is_valid() && other.is_valid());
        let terminal = Terminal::of(&server, &["sh", "-c", line, program]);
        terminal.shows("order:42 ");
        terminal.shows("order:43 ");
        terminal.shows("Type the label to take these 2 locks:");
        terminal.press(&["-l", typed]);
        terminal.press(&["Enter"]);
        terminal.shows(said);
        terminal.shows(ended);
    }
    for guard in [guard, other] {
        tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    }
}

#[test]
fn command_has_the_terminal_and_its_shell_gets_it_back() {
    let server = RedisServer::start();
    // A shell without job control: only lockctl gives the terminal back to it.
    let command = r#"read a; echo "one $a"; trap 'echo key; exit 3' INT; echo in; while :; do sleep 0.05; done"#;
    let line = r#"trap : INT; "$1" run import -- sh -c "$2"; echo "exit $?"; read b; echo "two $b"; read c"#;
    let program = env!("CARGO_BIN_EXE_lockctl");
    let terminal = Terminal::of(&server, &["sh", "-c", line, "sh", program, command]);
    terminal.press(&["x", "Enter"]);
    terminal.shows("one x");
    terminal.shows("in");
    terminal.press(&["C-c"]);
    terminal.shows("key");
    terminal.shows("exit 3");
    terminal.press(&["y", "Enter"]);
    terminal.shows("two y");
}
