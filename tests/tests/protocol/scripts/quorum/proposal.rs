//! Tokens that clients propose, so that nodes agree on one.

use harness::owner;

use super::node::{Ask, Node};
use super::{COUNTED_ON_MS, SECOND, assert_near, assert_refused, forward, start, stopped};

/// A free lock with this fence: one that the first part of the script takes, or one that it leaves to the rest since
/// there is a queue.
fn free_lock(fence: Option<i64>, is_queued_for: bool) -> (harness::RedisServer, Node) {
    let (server, mut node) = start();
    let (f, q) = (node.lock.f.clone(), node.lock.q.clone());
    if let Some(fence) = fence {
        let fence = (node.zero + fence).to_string();
        let _: () = node.lock.command(&["SET", &f, &fence]);
    }
    if is_queued_for {
        let last = (node.zero + 3_600 * SECOND).to_string();
        let _: i64 = node.lock.command(&["ZADD", &q, &last, "waiter"]);
    }
    (server, node)
}

#[test]
fn token_is_the_largest_of_clock_fence_and_proposal() {
    for is_queued_for in [false, true] {
        for (fence, proposal, expected) in [
            (None, "0".to_owned(), 0),
            (None, "+300000".to_owned(), 300_000),
            (None, "+990000".to_owned(), 990_000),
            (None, "-300000".to_owned(), 0),
            (None, "=+300000".to_owned(), 300_000),
            (None, "=-300000".to_owned(), 0),
            (None, "=+9000000".to_owned(), 9 * SECOND),
            (Some(-SECOND), "+300000".to_owned(), 300_000),
            (Some(400_000), "0".to_owned(), 400_016),
            (Some(400_000), "+400015".to_owned(), 400_016),
            (Some(400_000), "+400017".to_owned(), 400_017),
            (Some(400_000), "=+300000".to_owned(), 400_016),
            (Some(2 * SECOND), "=+9000000".to_owned(), 9 * SECOND),
        ] {
            let (_server, mut node) = free_lock(fence, is_queued_for);
            let text = absolute(&node, &proposal);
            let reply = node.ask('A', &Ask::by(0).proposing(text)).unwrap();
            let token = reply.token() - node.zero;
            let slack = if expected == 0 { COUNTED_ON_MS } else { 0 };
            assert_near(token, expected, 1_000 * slack);
            assert_eq!(node.token(), reply.token(), "{proposal}");
            assert_eq!(node.fence(), Some(reply.token()), "{proposal}");
            let f = node.lock.f.clone();
            let at = node.lock.expires_at(&f);
            let day_after = reply.token() / 1_000 + 86_400_000;
            assert!((day_after..=day_after + 1_010).contains(&at), "{at}");
        }
    }
}

/// A proposal whose sign is before its distance from the node's zero.
fn absolute(node: &Node, proposal: &str) -> String {
    match proposal.trim_start_matches('=') {
        "0" => "0".to_owned(),
        distance => {
            let distance: i64 = distance.parse().expect("digits");
            let known = if proposal.starts_with('=') { "=" } else { "" };
            format!("{known}{:016}", node.zero + distance)
        }
    }
}

#[test]
fn guess_far_ahead_of_the_clock_is_ignored() {
    let slack = 1_000 * COUNTED_ON_MS;
    for (delay, bound) in [
        (60_000, SECOND),
        (4_000, SECOND),
        (400, 100_000),
        (0, SECOND),
    ] {
        for is_queued_for in [false, true] {
            for (ahead, counts) in [(bound - slack, true), (bound + slack, false)] {
                let (_server, mut node) = free_lock(None, is_queued_for);
                node.delay = delay;
                node.mark_as_voting();
                let guess = node.zero + ahead;
                let token = node.ask('A', &Ask::by(0).proposing(guess)).unwrap().token();
                let expected = if counts { guess } else { node.zero };
                assert_near(token, expected, if counts { 0 } else { slack });
            }
        }
    }
}

#[test]
fn known_token_is_a_number_below_the_bound() {
    let limit = (1_i64 << 53) - 32;
    for is_queued_for in [false, true] {
        let (_server, mut node) = free_lock(None, is_queued_for);
        for bad in [
            &format!("={limit}")[..],
            &format!("={}", "9".repeat(400)),
            "=",
            "=x",
            "==5",
            "=-5",
            "=1e3",
            "=0x10",
            "= 7",
            "=7\n",
            "",
            "x",
            "-5",
            "1.5",
        ] {
            let ask = Ask::by(0).proposing(bad);
            assert_refused(&mut node, "LOCKFENCE", |node| node.ask('A', &ask));
        }
        let ask = Ask::by(0).proposing(format!("={}", limit - 1));
        assert_eq!(node.ask('A', &ask).unwrap().token(), limit - 1);
    }
}

#[test]
fn guess_beyond_every_token_is_ignored() {
    let (_server, mut node) = start();
    let ask = Ask::by(0).proposing("9".repeat(400));
    assert_near(
        node.ask('A', &ask).unwrap().token(),
        node.zero,
        1_000 * COUNTED_ON_MS,
    );
}

#[test]
fn own_lock_gets_a_larger_proposal_and_the_fence_with_it() {
    let (_server, mut node) = start();
    let first = node.acquire('A', 0).token();
    node.acquire('B', 1);
    let larger = node.zero + 5 * SECOND;
    let ask = Ask::by(0).proposing(format!("={larger}"));
    let reply = node.ask('A', &ask).unwrap();
    assert_eq!((reply.flag(), reply.token()), ('+', larger));
    let value = node.lock.value().unwrap();
    assert_eq!(value, super::node::value('A', '+', larger));
    assert_eq!(node.fence(), Some(larger));
    // Neither a smaller one nor an ignored guess changes anything.
    for proposal in [format!("={first}"), (node.zero + 6 * SECOND).to_string()] {
        let ask = Ask::by(0).proposing(proposal);
        assert_eq!(node.ask('A', &ask).unwrap().token(), larger);
        assert_eq!(node.fence(), Some(larger));
    }
}

#[test]
fn proposal_that_is_equal_to_an_own_token_changes_nothing() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    let ask = Ask::by(0).proposing(format!("={token}"));
    assert_eq!(node.ask('A', &ask).unwrap().token(), token);
    assert_eq!(node.fence(), Some(token));
}

/// As text, the first two are less than the token.
#[test]
fn proposal_of_more_digits_for_an_own_lock_is_refused_and_of_fewer_changes_nothing() {
    let (_server, mut node) = start();
    let token = node.acquire('A', 0).token();
    for digits in [17, 400] {
        let ask = Ask::by(0).proposing(format!("={}", "1".repeat(digits)));
        assert_refused(&mut node, "LOCKFENCE", |node| node.ask('A', &ask));
    }
    for digits in [1, 15] {
        let ask = Ask::by(0).proposing(format!("={}", "9".repeat(digits)));
        assert_eq!(node.ask('A', &ask).unwrap().token(), token);
    }
    assert_eq!(node.fence(), Some(token));
}

#[test]
fn fence_above_a_proposal_for_an_own_lock_stays() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    let f = node.lock.f.clone();
    let fence = node.zero + 9 * SECOND;
    let _: () = node.lock.command(&["SET", &f, &fence.to_string()]);
    let proposed = node.zero + 5 * SECOND;
    let ask = Ask::by(0).proposing(format!("={proposed}"));
    assert_eq!(node.ask('A', &ask).unwrap().token(), proposed);
    assert_eq!(node.fence(), Some(fence));
}

#[test]
fn next_token_is_above_a_written_one() {
    let (_server, mut node) = start();
    node.acquire('A', 0);
    let written = node.zero + 5 * SECOND;
    let ask = Ask::by(0).proposing(format!("={written}"));
    node.ask('A', &ask).unwrap();
    node.expire();
    assert_eq!(node.acquire('B', 0).token(), written + 16);
}

/// The seconds since 1970 have ten digits since September 2001.
#[test]
fn clock_of_fewer_digits_gives_a_token_of_as_many() {
    let server = stopped();
    let now = server.clock().now();
    let since_2001 = now - 978_307_200_000_000;
    server.back(std::time::Duration::from_micros(since_2001.unsigned_abs()));
    let mut node = Node::new(&server);
    node.mark_as_voting();
    let token = node.acquire('A', 0).token();
    assert_near(token, node.zero, 1_000 * COUNTED_ON_MS);
    assert!(token < 999_999_999_999_999);
    assert_eq!(node.lock.fence(), Some(format!("{token:016}")));
    assert_eq!(&node.lock.value().unwrap()[..22], owner('A'));
}

#[test]
fn clock_just_past_the_second_keeps_its_zeros() {
    let (server, mut node) = start();
    let micros = node.lock.now() % SECOND;
    let rest = (SECOND - micros) as u64;
    server.forward(std::time::Duration::from_micros(rest + 20_000));
    let token = node.acquire('A', 0).token();
    assert_near(token % SECOND, 20_000, 1_000 * COUNTED_ON_MS);
    forward(&server, 1);
    assert_near(node.lock.now(), token, 2_000 * COUNTED_ON_MS);
}
