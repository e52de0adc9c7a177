//! What the records of a client say of their holders.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The labels of one client: who holds a lock, in words. Each is put together once and not for every
/// acquisition.
#[derive(Debug)]
pub(crate) struct Labels {
    /// Service and process; empty if nothing is to be said.
    client: Arc<str>,
    /// The same and a function. There are no more of them than functions in the program.
    functions: Mutex<HashMap<&'static str, Arc<str>>>,
}

impl Labels {
    /// The labels of a service of this name, or no labels at all.
    pub(crate) fn new(service: Option<&str>) -> Labels {
        let client = match service {
            Some(service) => format!("{service} (pid {})", std::process::id()).into(),
            None => "".into(),
        };
        Labels {
            client,
            functions: Mutex::default(),
        }
    }

    /// The label of a record of `function`'s; it is empty where a lock is taken by hand.
    pub(crate) fn of(&self, function: &'static str) -> Arc<str> {
        if self.client.is_empty() || function.is_empty() {
            return self.client.clone();
        }
        let mut functions = self
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        functions
            .entry(function)
            .or_insert_with(|| [&*self.client, " ", function].concat().into())
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_service_process_and_function() {
        let labels = Labels::new(Some("api-7"));
        let pid = std::process::id();
        assert_eq!(*labels.of("ship"), format!("api-7 (pid {pid}) ship"));
        assert_eq!(*labels.of("pack"), format!("api-7 (pid {pid}) pack"));
        assert_eq!(*labels.of(""), format!("api-7 (pid {pid})"));
        let silent = Labels::new(None);
        assert_eq!((&*silent.of("ship"), &*silent.of("")), ("", ""));
    }

    #[test]
    fn a_label_is_put_together_once() {
        let labels = Labels::new(Some("api-7"));
        for function in ["ship", ""] {
            assert!(Arc::ptr_eq(&labels.of(function), &labels.of(function)));
        }
    }
}
