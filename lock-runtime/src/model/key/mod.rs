//! stub
use std::fmt;
use std::sync::Arc;
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// x
pub struct LockKey(String);
impl LockKey {
    /// x
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
impl From<&str> for LockKey {
    fn from(s: &str) -> Self {
        LockKey(s.into())
    }
}
impl From<String> for LockKey {
    fn from(s: String) -> Self {
        LockKey(s)
    }
}
impl fmt::Display for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
#[derive(Debug, Clone)]
pub(crate) struct RecordNames {
    pub(crate) lock: Arc<str>,
    pub(crate) fence: String,
    pub(crate) queue: String,
}
pub(crate) enum KeyProblem {
    Empty,
}
impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is empty")
    }
}
impl RecordNames {
    pub(crate) fn new(prefix: &str, key: &LockKey) -> Result<RecordNames, KeyProblem> {
        if key.0.is_empty() {
            return Err(KeyProblem::Empty);
        }
        let k = format!("{prefix}{}", key.0);
        Ok(RecordNames {
            lock: k.clone().into(),
            fence: format!("{{{k}}}:f"),
            queue: format!("{{{k}}}:w"),
        })
    }
}

impl RecordNames {
    pub(crate) fn of_lock(k: &str) -> RecordNames {
        RecordNames {
            lock: k.into(),
            fence: format!("{{{k}}}:f"),
            queue: format!("{{{k}}}:w"),
        }
    }
}
