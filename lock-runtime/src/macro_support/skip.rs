//! Implements `on_busy = "skip"`.

/// A return type that can express "another caller is doing it, nothing was done here".
#[diagnostic::on_unimplemented(
    message = "`on_busy = \"skip\"` needs a return type that can express \"skipped\": `()`, `Option`, or a `Result` of those",
    label = "`{Self}` cannot express \"skipped\""
)]
pub trait Skip {
    /// Returns the value of a skipped call.
    fn skipped() -> Self;
}

impl Skip for () {
    fn skipped() {}
}

impl<T> Skip for Option<T> {
    fn skipped() -> Option<T> {
        None
    }
}

impl<E> Skip for Result<(), E> {
    fn skipped() -> Result<(), E> {
        Ok(())
    }
}

impl<T, E> Skip for Result<Option<T>, E> {
    fn skipped() -> Result<Option<T>, E> {
        Ok(None)
    }
}
