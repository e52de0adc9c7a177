//! A lock that an operator revoked: the event, the metric and the audit name the same operation.

use harness::{RedisQuorum, RedisServer};
use lock_runtime::distributed_lock;
use lock_runtime::inspect::{Revocation, Revoked};

use super::meter::sum;
use super::{LockClient, LockError, client};
use crate::journal::told;

/// The next renewal is due only in seconds, so the message ends the hold.
#[distributed_lock(key = "revoked:<id>", ttl = "50s", client = locks, token = _token)]
async fn revoked(locks: &LockClient, id: u8, body: impl AsyncFnOnce()) -> Result<(), LockError> {
    body().await;
    std::future::pending().await
}

fn losses(reason: &str) -> f64 {
    let labels = format!("{{template=revoked:<id>,reason={reason}}}");
    sum(&format!("distributed_lock_losses_total{labels}"))
}

/// Asserts how revocation `number` is reported. The holder and the operator have a client each.
async fn revocation_is_told(locks: &LockClient, operator: &LockClient, number: u8) {
    let key = format!("revoked:{number}");
    let mut revoking = None;
    let body = async || {
        let state = operator.inspect(key.as_str()).await.unwrap();
        let seen = state.holders[0].reference.expect("it can be revoked");
        let why = Revocation::new("ann@ops-1", "stuck import");
        // In a task of its own: the body is dropped as soon as the message arrives.
        let (operator, key) = (operator.clone(), key.clone());
        revoking = Some(tokio::spawn(async move {
            operator.revoke(key.as_str(), seen, why).await
        }));
    };
    let error = revoked(locks, number, body).await.unwrap_err();
    assert!(error.is_lost(), "{error}");
    let done = revoking.expect("the body ran").await.unwrap().unwrap();
    assert!(matches!(done, Revoked::Done(_)), "{done:?}");

    let audit = operator.audit().next_page().await.unwrap().unwrap();
    let outcomes: Vec<_> = audit.iter().map(|entry| entry.outcome.as_str()).collect();
    assert_eq!(outcomes, ["intended", "freed"]);
    let operation = audit[0].operation.expect("a UUID");
    assert_eq!(audit[1].operation, Some(operation));

    let times = usize::from(number);
    let lost = told("lock_lost", "revoked:<id>");
    assert_eq!(lost.len(), times, "once for each lock: {lost:?}");
    let lost = &lost[times - 1];
    let reason = format!("revoked by ann@ops-1: stuck import (operation {operation})");
    assert_eq!(lost.field("reason"), reason);
    assert_eq!(lost.parent, Some("lock_hold"));
    assert!(error.to_string().contains(&reason), "{error}");
    let hold = &told("lock_hold", "revoked:<id>")[times - 1];
    assert_eq!(hold.field("outcome"), "lost");
    assert_eq!(hold.number("token"), lost.number("token"));

    assert_eq!(losses("revoked"), f64::from(number));
    assert_eq!((losses("expired"), losses("not_ours")), (0.0, 0.0));
}

#[tokio::test]
async fn event_metric_and_audit_of_a_revocation_name_one_operation() {
    crate::record();
    let (server, quorum) = (RedisServer::start(), RedisQuorum::start());
    for (number, url) in (1..).zip([server.url(), quorum.url()]) {
        let (locks, operator) = (client(url.as_str()), client(url));
        revocation_is_told(&locks, &operator, number).await;
    }
}
