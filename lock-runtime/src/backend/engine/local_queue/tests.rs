use super::*;

/// A queue with a head and this many waiters.
fn queue(waiters: u8) -> LocalQueue<u8, &'static str> {
    let mut queue = LocalQueue::new();
    assert!(queue.enter(1));
    for waiter in 1..=waiters {
        join(&mut queue, waiter);
    }
    queue
}

fn join(queue: &mut LocalQueue<u8, &'static str>, waiter: u8) {
    assert!(!queue.enter(1), "there is a head");
    queue.join(WaiterId(waiter.into()), waiter);
}

#[test]
fn waiters_become_the_head_in_order_and_the_queue_ends_with_the_last() {
    let mut queue = queue(2);
    assert_eq!((queue.peek(), queue.waiting()), (Some(&1), 2));
    assert_eq!(queue.pop(), Next::Head(1));
    assert_eq!(queue.pop(), Next::Head(2));
    assert!(!queue.enter(1), "the last waiter is the head still");
    assert_eq!(queue.pop(), Next::Nobody);
    assert!(queue.enter(1));
}

#[test]
fn waiter_that_may_not_be_the_head_stays() {
    let mut queue = queue(0);
    assert_eq!(queue.pop_if(|_| Some(())), None, "there is a head");
    join(&mut queue, 1);
    join(&mut queue, 2);
    assert_eq!(queue.pop_if(|_| None::<()>), None);
    assert_eq!(queue.pop_if(|&waiter| Some(waiter * 10)), Some((1, 10)));
    assert_eq!(queue.pop(), Next::Head(2));
    assert!(!queue.enter(1));
}

#[test]
fn waiter_that_leaves_is_skipped_and_knows_whether_it_was_the_head() {
    let mut queue = queue(3);
    assert_eq!(queue.leave(WaiterId(2)), Some(2));
    assert_eq!(queue.leave(WaiterId(2)), None);
    assert_eq!(queue.pop(), Next::Head(1));
    assert_eq!(queue.leave(WaiterId(1)), None);
    assert_eq!(queue.pop(), Next::Head(3));
    assert_eq!(queue.leave(WaiterId(3)), None);
}

#[test]
fn announcement_removes_the_waiters_without_time() {
    let mut queue = queue(4);
    let has_time = |waiter: &u8| [2, 4].contains(waiter);
    queue.await_announcement();
    assert_eq!(queue.announce(&"held", has_time), [1, 3]);
    assert_eq!(queue.last_known(), Some("held"));
    let again = queue.announce(&"held", |_| false);
    assert!(again.is_empty(), "no waiter awaits it");
    assert_eq!(queue.pop(), Next::Head(2));
    assert_eq!(queue.pop(), Next::Head(4));
}

#[test]
fn queue_of_several_heads_lets_the_next_caller_wait() {
    let mut queue = LocalQueue::<u8, ()>::new();
    assert!(queue.enter(2) && queue.enter(2) && !queue.enter(2));
    queue.join(WaiterId(3), 3);
    assert_eq!(queue.pop(), Next::Head(3), "a head is done");
    queue.join(WaiterId(4), 4);
    assert_eq!(queue.pop(), Next::Head(4));
    assert_eq!(queue.pop(), Next::OtherHeads);
    assert!(queue.enter(2), "one head is left");
    assert_eq!(queue.pop(), Next::OtherHeads);
    assert_eq!(queue.pop(), Next::Nobody);
}
