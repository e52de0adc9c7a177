//! M: after a loss of data the votes of a node do not count for a while.

use super::node::{Ask, Node};
use super::{
    COUNTED_ON_MS, DELAY, SECOND, TTL, assert_near, assert_refused, forward, start, stopped,
};

/// The delay, a hundredth of it, and 2 ms; in µs.
const UNTIL: i64 = DELAY * 1_010 + 2_000;
const SLACK: i64 = 1_000 * COUNTED_ON_MS;

/// A command that marks the node.
type Marks = fn(&mut Node);

const MARKING: [(&str, Marks); 4] = [
    ("mark", |node| {
        node.mark().unwrap();
    }),
    ("acquire", |node| {
        node.acquire('A', 0);
    }),
    ("hold", |node| {
        node.hold('A', TTL, 5).unwrap();
    }),
    ("attempt", |node| {
        let ask = Ask::by(0).without_queueing();
        node.ask('A', &ask).unwrap();
    }),
];

#[test]
fn node_without_marker_is_marked_by_its_first_script() {
    for is_taken in [false, true] {
        for (name, command) in MARKING {
            let server = stopped();
            let mut node = Node::new(&server);
            if is_taken {
                let k = node.lock.k.clone();
                let _: () = node.lock.command(&["SET", &k, "stranger"]);
            }
            command(&mut node);
            let till = node.till();
            assert_near(till, node.zero + UNTIL, SLACK);
            let marker = format!("{} {DELAY} {till:016}", node.boot);
            assert_eq!(node.marker(), Some(marker), "{name}");
            let m = node.m.clone();
            assert_eq!(node.lock.command::<i64>(&["PTTL", &m]), -1, "{name}");
        }
    }
}

#[test]
fn marker_of_this_boot_stays() {
    let server = stopped();
    let mut node = Node::new(&server);
    node.mark().unwrap();
    let marker = node.marker();
    forward(&server, 5_000);
    for (name, command) in MARKING {
        command(&mut node);
        assert_eq!(node.marker(), marker, "{name}");
    }
}

#[test]
fn marker_of_another_boot_is_replaced() {
    for (name, command) in MARKING {
        let (_server, mut node) = start();
        node.boot = "boot-2".to_owned();
        command(&mut node);
        assert_near(node.till(), node.zero + UNTIL, SLACK);
        let marker = node.marker().unwrap();
        assert!(marker.starts_with("boot-2 60000 "), "{name}: {marker}");
    }
}

#[test]
fn marker_that_is_no_marker_is_replaced() {
    for text in [
        "",
        "boot-1",
        "boot-1 60000",
        "boot-1 60000 x",
        "boot-1  60000 5",
    ] {
        let (_server, mut node) = start();
        let m = node.m.clone();
        let _: () = node.lock.command(&["SET", &m, text]);
        assert!(node.acquire('A', 0).early() > 0, "{text}");
        assert_near(node.till(), node.zero + UNTIL, SLACK);
    }
}

#[test]
fn boot_that_begins_alike_is_another() {
    for boot in ["boot-", "boot-11", "-"] {
        let (_server, mut node) = start();
        node.boot = boot.to_owned();
        assert!(node.acquire('A', 0).early() > 0, "{boot}");
        assert!(node.marker().unwrap().starts_with(&format!("{boot} ")));
    }
}

#[test]
fn cede_end_and_releases_do_not_mark() {
    let (_server, mut node) = start();
    let m = node.m.clone();
    let token = node.acquire('A', 0).token();
    node.lose(&m);
    node.cede('A', token, 0).unwrap();
    node.cede('B', token, 0).unwrap();
    node.lock.renew('A', TTL).unwrap();
    node.end('B', 0).unwrap();
    node.end('A', 0).unwrap();
    assert_eq!(node.marker(), None);
}

#[test]
fn votes_count_from_the_end_of_the_delay() {
    let server = stopped();
    let mut node = Node::new(&server);
    let most = (UNTIL + 999) / 1_000;
    assert_near(node.acquire('A', 0).early(), most, COUNTED_ON_MS);
    forward(&server, 20_000);
    assert_near(node.acquire('A', 0).early(), most - 20_000, COUNTED_ON_MS);
    assert_near(node.mark().unwrap().0, most - 20_000, COUNTED_ON_MS);
    let token = node.token();
    assert_near(
        node.hold('A', TTL, token).unwrap().early(),
        most - 20_000,
        COUNTED_ON_MS,
    );
    assert_near(
        node.cede('A', token, 0).unwrap().early(),
        most - 20_000,
        COUNTED_ON_MS,
    );
    forward(&server, 42_000);
    assert_eq!(node.mark().unwrap().0, 0);
    let (early, now) = node.mark().unwrap();
    assert_eq!(early, 0);
    assert_near(now, node.zero + 62 * SECOND, SLACK);
    assert_eq!(node.acquire('A', 0).early(), 0);
}

#[test]
fn rest_of_the_delay_is_rounded_up() {
    let (_server, mut node) = start();
    let m = node.m.clone();
    // Valkey 9.1 may count on a little.
    let till = node.zero + 10_500;
    let marker = format!("{} {DELAY} {till:016}", node.boot);
    let _: () = node.lock.command(&["SET", &m, &marker]);
    let (early, now) = node.mark().unwrap();
    assert_eq!(early, (till - now + 999) / 1_000);
}

#[test]
fn without_delay_votes_count_at_once() {
    let server = stopped();
    let mut node = Node::new(&server);
    node.delay = 0;
    assert_eq!(node.mark().unwrap().0, 0);
    assert_near(node.till(), node.zero, SLACK);
    let m = node.m.clone();
    node.lose(&m);
    assert_eq!(node.acquire('A', 0).early(), 0);
    assert_near(node.till(), node.zero, SLACK);
}

#[test]
fn another_delay_is_refused_by_both_names() {
    for (is_free, restarted) in [(true, false), (false, false), (true, true), (false, true)] {
        let (_server, mut node) = start();
        if !is_free {
            node.acquire('A', 0);
        }
        if restarted {
            node.boot = "boot-2".to_owned();
        }
        node.delay = 30_000;
        let asks: [fn(&mut Node) -> redis::RedisResult<()>; 4] = [
            |node| node.ask('A', &Ask::by(0)).map(drop),
            |node| node.cede('A', 5, 0).map(drop),
            |node| node.hold('A', TTL, 5).map(drop),
            |node| node.mark().map(drop),
        ];
        for ask in asks {
            let error = assert_refused(&mut node, "LOCKDELAY", ask);
            assert!(error.contains("60000 ms"), "{error}");
            assert!(error.contains("30000 ms"), "{error}");
        }
    }
}

#[test]
fn token_of_the_delay_is_replaced_once_votes_count() {
    let server = stopped();
    let mut node = Node::new(&server);
    let ask = Ask::by(0).ttl(2 * DELAY);
    let early = node.ask('A', &ask).unwrap().token();
    node.acquire('B', 1);
    forward(&server, 30_000);
    assert_eq!(
        node.acquire('A', 0).token(),
        early,
        "votes do not count yet"
    );
    forward(&server, 31_000);
    let reply = node.acquire('A', 0);
    assert_near(reply.token(), node.zero + 61 * SECOND, SLACK);
    assert_eq!((reply.flag(), reply.early()), ('+', 0));
    assert_eq!(node.token(), reply.token());
    assert_eq!(node.fence(), Some(reply.token()));
    assert_eq!(node.acquire('A', 0).token(), reply.token(), "and once only");
}

#[test]
fn token_of_the_delay_is_replaced_by_the_proposal() {
    let server = stopped();
    let mut node = Node::new(&server);
    node.ask('A', &Ask::by(0).ttl(2 * DELAY)).unwrap();
    forward(&server, 61_000);
    let proposed = node.zero + 65 * SECOND;
    let ask = Ask::by(0).proposing(format!("={proposed}"));
    assert_eq!(node.ask('A', &ask).unwrap().token(), proposed);
    assert_eq!(node.fence(), Some(proposed));
}

#[test]
fn token_above_the_delay_stays() {
    let server = stopped();
    let mut node = Node::new(&server);
    let above = node.zero + 70 * SECOND;
    let ask = Ask::by(0).ttl(2 * DELAY).proposing(format!("={above}"));
    assert_eq!(node.ask('A', &ask).unwrap().token(), above);
    forward(&server, 61_000);
    assert_eq!(node.acquire('A', 0).token(), above);
}

#[test]
fn renewal_by_hold_keeps_a_token_of_the_delay() {
    let server = stopped();
    let mut node = Node::new(&server);
    let token = node.ask('A', &Ask::by(0).ttl(2 * DELAY)).unwrap().token();
    forward(&server, 61_000);
    let reply = node.hold('A', TTL, token).unwrap();
    assert_eq!((reply.token(), reply.early()), (token, 0));
}

#[test]
fn clock_set_back_makes_votes_early_again() {
    let server = stopped();
    let mut node = Node::new(&server);
    node.mark().unwrap();
    forward(&server, 61_000);
    assert_eq!(node.mark().unwrap().0, 0);
    server.back(std::time::Duration::from_secs(31));
    assert_near(node.mark().unwrap().0, 30_602, COUNTED_ON_MS);
    assert!(node.acquire('A', 30 * SECOND).early() > 30_000);
}
