//! A hold that outlives its body is seldom intended: the log names the function.

use std::io::Write;
use std::sync::{Arc, Mutex};

use lock_runtime::{LockClient, LockError, distributed_lock, in_current_hold};
use tokio::task::JoinHandle;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(text)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[distributed_lock(key = "order:<id>", client = locks)]
async fn ship(
    locks: &LockClient,
    id: u64,
    leak: bool,
) -> Result<Option<JoinHandle<()>>, LockError> {
    let carried = in_current_hold(std::future::pending());
    Ok(leak.then(|| tokio::spawn(carried)))
}

#[tokio::test]
async fn a_hold_that_outlives_its_body_is_logged_with_the_functions_name() {
    let client = LockClient::memory();
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    let _default = tracing::subscriber::set_default(subscriber);

    ship(&client, 1, false).await.unwrap();
    assert!(!log.text().contains("hold_outlives_body"), "{}", log.text());

    let carried = ship(&client, 2, true).await.unwrap().unwrap();
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("hold_outlives_body"));
    let line = line.expect("it is logged");
    assert!(line.contains("WARN") && line.contains("ship"), "{line}");
    assert!(line.contains("order:<id>"), "{line}");
    carried.abort();
}
