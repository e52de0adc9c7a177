//! The reason that a command failed, as in the runtime's `backend::wire::error`.

#[derive(Clone, Debug)]
pub(crate) enum WireError {
    /// The server refused the command.
    Refused(&'static str),
    /// The command was not answered.
    Unavailable(&'static str),
}

impl WireError {
    pub(crate) fn refused(detail: &'static str) -> WireError {
        WireError::Refused(detail)
    }

    pub(crate) fn unavailable(detail: &'static str) -> WireError {
        WireError::Unavailable(detail)
    }
}
