//! The labels of holders in the records of a client.

use std::sync::Arc;

use foldhash::HashMap;

use crate::background::sync::Mutex;

/// The labels of one client, which describe the holder of a lock. Each is built once, not for every acquisition.
#[derive(Debug)]
pub(crate) struct Labels {
    /// Service and process; empty if the client has no label.
    client: Arc<str>,
    /// The same with a function, at most one for each function of the program.
    functions: Mutex<HashMap<&'static str, Arc<str>>>,
}

impl Labels {
    /// Creates the labels of a service with this name, or no labels at all.
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

    /// Returns the label for a lock that `function` acquires; `function` is empty without the attribute.
    pub(crate) fn of(&self, function: &'static str) -> Arc<str> {
        if self.client.is_empty() || function.is_empty() {
            return self.client.clone();
        }
        let build = || [&*self.client, " ", function].concat().into();
        // Does not wait for a locked mutex: building the label takes as long, and in a forked child the mutex may stay
        // locked for ever.
        let Some(mut functions) = self.functions.try_lock() else {
            return build();
        };
        functions.entry(function).or_insert_with(build).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn label_names_service_process_and_function() {
        let labels = Labels::new(Some("api-7"));
        let pid = std::process::id();
        assert_eq!(*labels.of("ship"), format!("api-7 (pid {pid}) ship"));
        assert_eq!(*labels.of("pack"), format!("api-7 (pid {pid}) pack"));
        assert_eq!(*labels.of(""), format!("api-7 (pid {pid})"));
        let silent = Labels::new(None);
        assert_eq!((&*silent.of("ship"), &*silent.of("")), ("", ""));
    }

    #[test]
    fn label_is_built_while_the_mutex_is_locked() {
        let labels = Arc::new(Labels::new(Some("api-7")));
        // Simulates a child that was forked while a label was built.
        let _locked = labels.functions.lock();
        let (sender, label) = mpsc::channel();
        let child = labels.clone();
        thread::spawn(move || sender.send(child.of("ship")));
        let label = label.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(label.ends_with(" ship"), "{label}");
    }

    #[test]
    fn label_is_built_once() {
        let labels = Labels::new(Some("api-7"));
        for function in ["ship", ""] {
            assert!(Arc::ptr_eq(&labels.of(function), &labels.of(function)));
        }
    }
}
