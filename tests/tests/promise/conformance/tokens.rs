//! Fencing tokens: every caller that requests one has one, and the tokens rise in the order of the holders.

use harness::{in_line, revoke, token_of};
use lock_runtime::{FencingToken, LockClient, LockError, distributed_lock};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::store::Store;
use super::tools::{KEY, LONG, STEADY, becomes_free, hold, ms, on_a_thread};

/// The token that a client has for its only lock.
fn held_token(client: &LockClient) -> Option<FencingToken> {
    let held = client.held();
    assert_eq!(held.len(), 1, "{held:?}");
    held[0].token
}

pub(crate) async fn token_is_given_once_and_stays(store: Store) {
    let client = store.client();
    let guard = client.lock(KEY).wait(LONG).acquire().await.unwrap();
    assert_eq!(held_token(&client).is_none(), store.mints_when_asked);
    // Two requests at the same time.
    let (token, other) = tokio::join!(guard.fencing_token(), guard.fencing_token());
    let token = token.unwrap();
    assert_eq!(other.unwrap(), token);
    assert_eq!(held_token(&client), Some(token));
    guard.renew().await.unwrap();
    assert_eq!(token_of(&guard).await, token);
    assert_eq!(guard.fencing_token_blocking().unwrap(), token);
    guard.release().await.unwrap();

    let guard = client.lock(KEY).fenced().acquire().await.unwrap();
    let fenced = held_token(&client);
    assert!(fenced > Some(token), "{fenced:?} after {token}");
    assert_eq!(guard.fencing_token().await.ok(), fenced);
    guard.release().await.unwrap();
    assert!(store.is_empty().await);
}

/// How a visitor requests a token.
#[derive(Clone, Copy, Debug)]
enum Asks {
    Never,
    WithTheLock,
    Later,
}

/// Holds the lock once. Returns the token if the visitor requests one.
async fn visit(client: &LockClient, asks: Asks) -> Option<FencingToken> {
    let lock = client.lock(KEY).wait(LONG);
    let guard = match asks {
        Asks::WithTheLock => lock.fenced().acquire().await.unwrap(),
        Asks::Never | Asks::Later => lock.acquire().await.unwrap(),
    };
    let token = match asks {
        Asks::Never => None,
        Asks::WithTheLock | Asks::Later => Some(token_of(&guard).await),
    };
    guard.release().await.unwrap();
    token
}

pub(crate) async fn tokens_rise_among_holders_that_ask(store: Store) {
    let clients = [store.client(), store.client()];
    let mut last = None;
    let kinds = [Asks::WithTheLock, Asks::Later, Asks::Never];
    for round in 0..36 {
        // Every kind of visitor comes after every other kind, of the same client and of the other.
        let asks = kinds[(round + round / 9) % 3];
        if let Some(token) = visit(&clients[round / 3 % 2], asks).await {
            assert!(Some(token) > last, "{token} came after {last:?}");
            last = Some(token);
        }
    }
}

pub(crate) async fn callers_in_a_local_queue_have_a_token_if_they_ask(store: Store) {
    let client = store.client();
    let guard = hold(&client).await;
    let mut line = JoinSet::new();
    let kinds = [Asks::Never, Asks::Later, Asks::WithTheLock, Asks::Never];
    for (place, asks) in kinds.into_iter().cycle().take(20).enumerate() {
        let caller = client.clone();
        line.spawn(async move { (place, visit(&caller, asks).await) });
        in_line(&client, place + 1).await;
    }
    guard.release().await.unwrap();
    let mut tokens: Vec<_> = line.join_all().await;
    tokens.sort_by_key(|(place, _)| *place);
    let tokens: Vec<_> = tokens.into_iter().filter_map(|(_, token)| token).collect();
    assert_eq!(tokens.len(), 10);
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}

pub(crate) async fn nested_call_mints_the_token_of_the_outermost_call(store: Store) {
    #[distributed_lock(key = KEY, client = client, token = token)]
    async fn inner(client: &LockClient) -> Result<FencingToken, LockError> {
        Ok(token)
    }

    #[distributed_lock(key = KEY, client = client, guard = held)]
    async fn outer(client: &LockClient, mints: bool) -> Result<(), LockError> {
        assert_eq!(held_token(client).is_none(), mints);
        let token = inner(client).await?;
        assert_eq!(held.fencing_token().await?, token);
        let nested = client.lock(KEY).fenced().acquire().await?;
        assert_eq!(nested.fencing_token().await?, token);
        Ok(())
    }

    let client = store.client();
    outer(&client, store.mints_when_asked).await.unwrap();
}

pub(crate) async fn holder_that_has_lost_its_lock_gets_no_token(store: Store) {
    let (client, other, operator) = (store.client(), store.client(), store.operator());
    let lapsing = client.lock(KEY).ttl(ms(300)).renew(false);
    let late = lapsing.acquire().await.unwrap();
    timeout(LONG, late.lost()).await.expect("its lease ends");
    becomes_free(&other, LONG).await;
    let next = other
        .lock(KEY)
        .ttl(STEADY)
        .fenced()
        .acquire()
        .await
        .unwrap();
    let token = token_of(&next).await;
    match late.fencing_token().await {
        // It had a token from the start.
        Ok(late) => assert!(
            !store.mints_when_asked && late < token,
            "{late} after {token}"
        ),
        Err(error) => assert!(error.is_lost(), "{error}"),
    }
    next.renew().await.expect("nobody has taken the lock");
    next.release().await.unwrap();

    // The server has a new holder, and the old one does not know it yet.
    let guard = client.lock(KEY).ttl(STEADY).acquire().await.unwrap();
    let state = operator.inspect(KEY).await.unwrap();
    revoke(&operator, KEY, state.holders[0].reference.unwrap()).await;
    match guard.fencing_token().await {
        Ok(late) => assert!(!store.mints_when_asked && late > token, "{late}"),
        Err(error) => assert!(error.is_lost(), "{error}"),
    }
}

pub(crate) async fn thread_asks_for_a_token(store: Store) {
    let client = store.client();
    let tokens = on_a_thread(move || {
        let lock = || client.lock(KEY).wait(LONG);
        let later = lock().acquire_blocking().unwrap();
        let mut tokens = vec![later.fencing_token_blocking().unwrap()];
        assert_eq!(later.fencing_token_blocking().unwrap(), tokens[0]);
        later.release_blocking().unwrap();
        let fenced = lock().fenced().acquire_blocking().unwrap();
        tokens.push(fenced.fencing_token_blocking().unwrap());
        fenced.release_blocking().unwrap();
        let nested = lock().run_blocking(|outer| {
            let inner = lock().fenced().acquire_blocking().unwrap();
            let token = inner.fencing_token_blocking().unwrap();
            assert_eq!(outer.fencing_token_blocking().unwrap(), token);
            token
        });
        tokens.push(nested.unwrap());
        tokens
    })
    .await;
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}
