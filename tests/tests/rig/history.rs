//! The register: it must see what a lock would let happen.

use harness::{Entry, History, RedisServer};

fn entry(token: u64, seen: usize) -> Entry {
    Entry {
        token,
        seen,
        writer: "test".to_owned(),
    }
}

#[tokio::test]
async fn visits_that_overlap_are_seen() {
    let server = RedisServer::start();
    let mut connection = server.async_connection().await;
    let history = History::unfenced("order:42");
    // Both look before either writes.
    for _ in 0..2 {
        assert_eq!(history.look(&mut connection).await.unwrap(), 0);
    }
    for token in [1, 2] {
        assert!(
            history
                .append(&mut connection, &entry(token, 0))
                .await
                .unwrap()
        );
    }
    let entries = history.read(&mut server.connection());
    assert_eq!(entries, [entry(1, 0), entry(2, 0)]);
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
async fn a_fenced_register_refuses_a_stale_write() {
    let server = RedisServer::start();
    let mut connection = server.async_connection().await;
    let (fenced, unfenced) = (History::fenced("order:42"), History::unfenced("order:42"));
    // Of different lengths, so that text does not compare as numbers do.
    assert!(fenced.append(&mut connection, &entry(10, 0)).await.unwrap());
    assert!(fenced.append(&mut connection, &entry(10, 1)).await.unwrap());
    assert!(!fenced.append(&mut connection, &entry(9, 2)).await.unwrap());
    assert!(
        unfenced
            .append(&mut connection, &entry(9, 2))
            .await
            .unwrap()
    );
    let tokens: Vec<_> = fenced
        .read(&mut server.connection())
        .into_iter()
        .map(|entry| entry.token)
        .collect();
    assert_eq!(tokens, [10, 10, 9]);
}
