//! What the records of a client say of their holders.

use std::collections::HashMap;
use std::sync::Arc;

use crate::background::sync::Mutex;

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
        let put_together = || [&*self.client, " ", function].concat().into();
        // Not waited for: it takes as long to do the work, and in a forked child the mutex may be locked
        // for ever.
        let Some(mut functions) = self.functions.try_lock() else {
            return put_together();
        };
        functions
            .entry(function)
            .or_insert_with(put_together)
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

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
    fn nobody_waits_for_a_label() {
        let labels = Arc::new(Labels::new(Some("api-7")));
        // As it is in a child that was forked while one was put together.
        let _locked = labels.functions.lock();
        let (told, label) = mpsc::channel();
        let child = labels.clone();
        thread::spawn(move || told.send(child.of("ship")));
        let label = label.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(label.ends_with(" ship"), "{label}");
    }

    #[test]
    fn a_label_is_put_together_once() {
        let labels = Labels::new(Some("api-7"));
        for function in ["ship", ""] {
            assert!(Arc::ptr_eq(&labels.of(function), &labels.of(function)));
        }
    }
}
