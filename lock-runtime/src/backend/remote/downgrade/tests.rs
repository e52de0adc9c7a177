use std::pin::pin;
use std::sync::mpsc;
use std::task::{self, Waker};

use super::*;
use crate::backend::remote::join_queue::{self, Joined};
use crate::backend::remote::open;
use crate::backend::remote::servers::Servers;
use crate::backend::remote::tests::{SilentWire, head_with_the_lock, request};
use crate::background::clock::Clock;
use crate::config::Options;

#[test]
fn downgrade_that_is_dropped_promotes_the_next_caller_and_ends_the_owner() {
    for is_polled in [false, true] {
        drop_downgrade(is_polled);
    }
}

fn drop_downgrade(is_polled: bool) {
    let (ends, ended) = mpsc::channel();
    let wire = SilentWire {
        ends: Some(ends),
        ..SilentWire::default()
    };
    let client = open(&Options::default(), Clock::Boot, |_, _| {
        Ok(Servers::Silent(wire))
    })
    .unwrap();
    let request = request(Duration::from_secs(60));
    let mut entry = head_with_the_lock(&client, &request);
    entry.owner.outstanding.assume_stored();
    let holder = entry.owner.id();
    let lock = request.lock().names.lock.clone();
    let until = Instant::now() + request.wait;
    let Joined::Waits(_position) = join_queue::join(&client, request, until) else {
        panic!("the queue has a head");
    };
    {
        let mut downgrading = pin!(downgrade(client.clone(), Box::new(entry)));
        let mut noop = task::Context::from_waker(Waker::noop());
        assert!(!is_polled || downgrading.as_mut().poll(&mut noop).is_pending());
        assert!(client.queues().peek(&lock).is_some(), "it is the head");
    }
    assert!(client.queues().peek(&lock).is_none(), "there is a new head");
    assert_eq!(ended.recv_timeout(Duration::from_secs(30)), Ok(holder));
}
