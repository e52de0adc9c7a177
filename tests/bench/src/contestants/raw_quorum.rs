//! The floor of a quorum: the two commands of a hand-made Redlock, on all nodes in parallel, for a
//! caller that knows that the lock is free.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use super::{Contestant, Raw};

type Step = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Connections to all nodes. A step ends as soon as a majority has answered.
#[derive(Clone)]
pub(crate) struct RawQuorum {
    nodes: Vec<Raw>,
    /// The rest of earlier steps: the client library does not send a command whose caller is gone.
    late: Arc<Mutex<Vec<Step>>>,
}

impl RawQuorum {
    pub(crate) async fn connect(urls: &[String]) -> RawQuorum {
        let mut nodes = Vec::new();
        for url in urls {
            nodes.push(Raw::connect(url).await);
        }
        RawQuorum {
            nodes,
            late: Arc::default(),
        }
    }

    async fn on_majority<F: Future<Output = ()> + Send + 'static>(&self, step: impl Fn(Raw) -> F) {
        let mut late = std::mem::take(&mut *self.late.lock().expect("no step panics"));
        let mut steps: Vec<Step> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            steps.push(Box::pin(step(node.clone())));
        }
        let others = self.nodes.len() - (self.nodes.len() / 2 + 1);
        poll_fn(|cx| {
            for steps in [&mut late, &mut steps] {
                steps.retain_mut(|step| step.as_mut().poll(cx).is_pending());
            }
            if steps.len() <= others {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        late.append(&mut steps);
        self.late.lock().expect("no step panics").append(&mut late);
    }
}

impl Contestant for RawQuorum {
    type Held = String;

    async fn acquire(&self, key: &str) -> String {
        self.on_majority(|node| {
            let key = key.to_owned();
            async move {
                node.acquire(&key).await;
            }
        })
        .await;
        super::raw::name(key)
    }

    async fn release(&self, name: String) {
        self.on_majority(|node| {
            let name = name.clone();
            async move { node.release(name).await }
        })
        .await;
    }
}
