//! Worker processes: answers, silence, death.

use std::time::Duration;

use harness::{PATIENCE, Worker};

const SHORT: Duration = Duration::from_millis(100);

/// A worker that answers each line with itself.
fn echo() -> Worker {
    Worker::spawn(
        "sh",
        &["-c", r#"while read -r line; do echo "$line"; done"#],
    )
}

#[test]
fn it_answers_line_by_line() {
    let mut worker = echo();
    assert_eq!(worker.ask("one", PATIENCE), "one");
    worker.send("two");
    worker.send("three");
    assert_eq!(worker.line(PATIENCE).as_deref(), Some("two"));
    assert_eq!(worker.line(PATIENCE).as_deref(), Some("three"));
}

#[test]
fn a_stopped_one_is_silent_and_goes_on() {
    let mut worker = echo();
    assert_eq!(worker.ask("one", PATIENCE), "one");
    worker.stop();
    worker.send("two");
    assert_eq!(worker.line(SHORT), None);
    worker.cont();
    assert_eq!(worker.line(PATIENCE).as_deref(), Some("two"));
}

#[test]
fn a_killed_one_says_nothing_more() {
    let mut worker = echo();
    worker.kill9();
    assert_eq!(worker.line(PATIENCE), None);
}
