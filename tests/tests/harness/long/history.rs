//! The register must reveal every failure of a lock.

use harness::{Entry, History, READ, RedisServer, Share, Written};

fn entry(token: u64, seen: usize) -> Entry {
    Entry {
        token,
        seen,
        writer: "test".to_owned(),
        share: None,
    }
}

fn shared(share: Share, seen: usize) -> Entry {
    Entry {
        share: Some(share),
        ..entry(1, seen)
    }
}

#[tokio::test]
async fn overlapping_visits_are_found() {
    let server = RedisServer::start();
    let mut connection = server.async_connection().await;
    let history = History::of("order:42");
    // Both read before either writes.
    for _ in 0..2 {
        assert_eq!(history.look(&mut connection, 0).await.unwrap(), 0);
    }
    let in_turn = Entry {
        token: 3,
        ..shared(Share::permits(2, 5), 2)
    };
    let visits = [entry(1, 0), entry(2, 0), in_turn];
    for visit in &visits {
        assert!(history.append(&mut connection, visit).await.unwrap());
    }
    let entries = history.read(&mut server.connection());
    assert_eq!(entries, visits);
    assert_eq!(History::double_entries(&entries), [&entry(2, 0)]);
}

#[test]
#[should_panic(expected = "1 double entries, first test that saw 0 under token 2")]
fn overlapping_visits_fail_a_test() {
    History::assert_exclusive(&[entry(1, 0), entry(2, 0)]);
}

#[test]
#[should_panic(expected = "under token 2 came before")]
fn tokens_that_do_not_rise_fail_a_test() {
    History::assert_exclusive(&[entry(2, 0), entry(2, 1)]);
}

#[tokio::test]
async fn a_stale_write_is_refused_once_a_later_token_was_shown() {
    let server = RedisServer::start();
    let mut connection = server.async_connection().await;
    let history = History::of("order:42");
    let mut append = async |token, seen| {
        let entry = entry(token, seen);
        history.append(&mut connection, &entry).await.unwrap()
    };
    // They differ in length, so that their order as text is not their order as numbers.
    assert!(append(10, 0).await);
    assert!(append(10, 1).await);
    assert!(!append(9, 2).await);
    let mut reader = server.async_connection().await;
    assert_eq!(history.look(&mut reader, 11).await.unwrap(), 3);
    assert!(!append(10, 3).await, "showing it is enough");
    assert!(append(11, 4).await);
    let taken: Vec<_> = history
        .read_written(&mut server.connection())
        .into_iter()
        .map(|written| (written.entry.token, written.taken))
        .collect();
    let expected = [(10, true), (10, true), (9, false), (10, false), (11, true)];
    assert_eq!(taken, expected);
}

#[test]
fn a_write_that_was_overtaken_is_stale_if_it_was_taken() {
    let written = |token, seen, taken| Written {
        entry: entry(token, seen),
        taken,
    };
    let refused = [written(2, 0, true), written(1, 0, false)];
    assert_eq!(History::stale_writes(&refused), Vec::<&Written>::new());
    let taken = [written(1, 0, true), written(1, 0, true)];
    assert_eq!(History::stale_writes(&taken), [&written(1, 0, true)]);
    // The visit overlapped only a write that was refused.
    let harmless = [written(1, 0, false), written(2, 0, true)];
    assert_eq!(History::stale_writes(&harmless), Vec::<&Written>::new());
}

#[test]
fn readers_may_overlap_each_other_and_no_writer() {
    let readers = [shared(READ, 0), shared(READ, 0), entry(1, 2)];
    assert_eq!(History::double_entries(&readers), Vec::<&Entry>::new());
    let written_meanwhile = [entry(1, 0), shared(READ, 0)];
    assert_eq!(
        History::double_entries(&written_meanwhile),
        [&shared(READ, 0)]
    );
    let read_meanwhile = [shared(READ, 0), entry(1, 0)];
    assert_eq!(History::double_entries(&read_meanwhile), [&entry(1, 0)]);
}

#[test]
fn permits_are_counted_while_their_visits_overlap() {
    let of_three = |take, seen| shared(Share::permits(take, 3), seen);
    let in_turn = [of_three(2, 0), of_three(2, 1), of_three(1, 1)];
    assert_eq!(History::overfull_entries(&in_turn), []);
    let at_once = [of_three(1, 0), of_three(2, 1), of_three(2, 1)];
    assert_eq!(
        History::overfull_entries(&at_once),
        [(&of_three(2, 1), 4, 3)]
    );
    assert_eq!(History::double_entries(&at_once), Vec::<&Entry>::new());
}

#[test]
fn permits_are_compared_with_the_highest_limit_and_readers_with_none() {
    let limits = [
        shared(Share::permits(2, 2), 0),
        shared(Share::permits(3, 5), 0),
    ];
    assert_eq!(History::overfull_entries(&limits), []);
    let beside_readers = [
        shared(Share::permits(2, 2), 0),
        shared(READ, 0),
        shared(READ, 0),
    ];
    assert_eq!(History::overfull_entries(&beside_readers), []);
}

#[test]
fn read_is_stale_if_a_fenced_resource_took_it_after_a_write_meanwhile() {
    let written = |entry, taken| Written { entry, taken };
    let reader = || shared(READ, 0);
    let beside = [written(reader(), true), written(reader(), true)];
    assert_eq!(History::stale_writes(&beside), Vec::<&Written>::new());
    let refused = [written(entry(2, 0), true), written(reader(), false)];
    assert_eq!(History::stale_writes(&refused), Vec::<&Written>::new());
    let taken = [written(entry(1, 0), true), written(reader(), true)];
    assert_eq!(History::stale_writes(&taken), [&written(reader(), true)]);
}
