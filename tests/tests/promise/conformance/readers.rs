//! Readers run together, and writers alone.

use std::sync::atomic::{AtomicI32, Ordering};

use harness::token_of;
use lock_runtime::LockClient;

use super::store::Store;
use super::tools::{KEY, LONG, at_once, crowd, hold, is_held, is_refused, ms};

pub(crate) async fn readers_hold_the_lock_together(store: Store) {
    let clients = [store.client(), store.client()];
    let mut readers = Vec::new();
    for reader in 0..6 {
        readers.push(at_once(clients[reader % 2].lock(KEY).read()).await);
    }
    let token = token_of(&readers[0]).await;
    assert!(
        readers
            .iter()
            .all(|reader| reader.fencing_token_blocking().unwrap() == token)
    );
    assert!(readers.iter().all(|reader| reader.hold_count() == 1));
    for reader in readers {
        assert!(reader.is_valid());
        assert!(is_held(&clients[0]).await, "there are readers left");
        reader.renew().await.expect("the share is held");
        reader.release().await.expect("the share is held");
    }
    assert!(!is_held(&clients[0]).await);
    assert!(store.is_empty().await);
}

pub(crate) async fn reader_and_writer_exclude_each_other(store: Store) {
    let (one, other) = (store.client(), store.client());
    for client in [&one, &other] {
        let lock = || client.lock(KEY);
        let reader = at_once(one.lock(KEY).read()).await;
        assert!(is_refused(lock().write()).await);
        assert!(is_refused(lock()).await);
        assert!(!is_refused(lock().read()).await);
        reader.release().await.unwrap();
        for writer in [one.lock(KEY).write(), one.lock(KEY)] {
            let writer = at_once(writer).await;
            assert!(is_refused(lock().read()).await);
            assert!(is_refused(lock().write()).await);
            assert!(is_refused(lock()).await);
            writer.release().await.unwrap();
        }
    }
    assert!(store.is_empty().await);
}

pub(crate) async fn reader_and_writer_are_never_inside_at_once(store: Store) {
    // Readers count upwards, a writer is -1.
    let inside = AtomicI32::new(0);
    let visit = async |client: LockClient, number| {
        let reads = number % 3 > 0;
        let lock = client.lock(KEY).wait(LONG);
        let lock = if reads { lock.read() } else { lock.write() };
        let body = async |_: &_| {
            let step = if reads { 1 } else { -1 };
            let before = inside.fetch_add(step, Ordering::SeqCst);
            let fits = if reads { before >= 0 } else { before == 0 };
            assert!(fits, "{before} were inside, reads: {reads}");
            tokio::task::yield_now().await;
            inside.fetch_sub(step, Ordering::SeqCst);
        };
        lock.run(body).await.expect("each caller gets the lock");
    };
    crowd(&store, visit).await;
    assert!(store.is_empty().await);
}

pub(crate) async fn tokens_rise_from_phase_to_phase(store: Store) {
    let clients = [store.client(), store.client()];
    let mut last = None;
    for round in 0..6 {
        let client = &clients[round % 2];
        let writer = hold(client).await;
        let before = token_of(&writer).await;
        assert!(Some(before) > last, "{before} came after {last:?}");
        writer.release().await.unwrap();
        let first = at_once(client.lock(KEY).read()).await;
        let second = at_once(clients[0].lock(KEY).permits(4)).await;
        // The phase continues without the reader that began it.
        let token = token_of(&first).await;
        first.release().await.unwrap();
        let third = at_once(clients[1].lock(KEY).read()).await;
        assert!(token > before, "{token} came after {before}");
        assert_eq!(
            [token_of(&second).await, token_of(&third).await],
            [token; 2]
        );
        second.release().await.unwrap();
        third.release().await.unwrap();
        let next = at_once(client.lock(KEY).read()).await;
        assert!(token_of(&next).await > token, "this is another phase");
        last = Some(token_of(&next).await);
        next.release().await.unwrap();
    }
}

pub(crate) async fn busy_error_of_a_writer_has_the_number_of_readers(store: Store) {
    let (one, other) = (store.client(), store.client());
    let mut readers = Vec::new();
    for (client, text) in [(&one, "1 reader, since "), (&other, "2 readers, since ")] {
        readers.push(at_once(client.lock(KEY).read()).await);
        for client in [&one, &other] {
            let writer = client.lock(KEY).write().wait(ms(50)).acquire().await;
            let error = writer.unwrap_err();
            assert!(error.is_busy(), "{error}");
            let holder = error.holder().expect("there is one");
            assert!(holder.starts_with(text), "{holder}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}

pub(crate) async fn busy_error_of_a_writer_has_the_rest_of_the_last_lease(store: Store) {
    let (one, other) = (store.client(), store.client());
    let (short, long) = (store.longest_ttl / 4, store.longest_ttl);
    let reader = |ttl| at_once(one.lock(KEY).read().ttl(ttl).renew(false));
    let readers = [reader(long).await, reader(short).await];
    for wait in [ms(0), ms(30)] {
        let writer = other.lock(KEY).write().wait(wait).acquire().await;
        let left = writer.unwrap_err().retry_after();
        let left = left.expect("each reader's lease has an end");
        assert!(short < left && left <= long, "{left:?}");
    }
    drop(readers);
}
