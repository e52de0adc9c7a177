//! Everything that the crate logs in this process, in one text.

use std::io::Write;
use std::sync::{Mutex, OnceLock};

use tracing_subscriber::fmt::format::FmtSpan;

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Writer;

impl Write for Writer {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        TEXT.lock().expect("no writer panics").write(text)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Records from now on, at every level and on every thread.
pub(crate) fn record() {
    static RECORDING: OnceLock<()> = OnceLock::new();
    RECORDING.get_or_init(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            // Also what only a span knows.
            .with_span_events(FmtSpan::FULL)
            .with_writer(|| Writer)
            .with_ansi(false)
            .finish();
        tracing::subscriber::set_global_default(subscriber).expect("it is the only one");
    });
}

/// What was recorded.
pub(crate) fn text() -> String {
    let text = TEXT.lock().expect("no writer panics");
    String::from_utf8_lossy(&text).into_owned()
}
