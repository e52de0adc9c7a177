//! Everything that the crate logs in this process, as one text.

use std::io::Write;
use std::sync::Mutex;

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

pub(crate) struct Writer;

impl Write for Writer {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        TEXT.lock().expect("no writer panics").write(text)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn text() -> String {
    let text = TEXT.lock().expect("no writer panics");
    String::from_utf8_lossy(&text).into_owned()
}
