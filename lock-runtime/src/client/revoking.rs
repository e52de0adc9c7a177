//! Revokes a lock: writes an audit entry, sends the command, and writes another entry.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use uuid::{Builder, Uuid};

use crate::backend::wire::inspection::RevokeReply;
use crate::background::random;
use crate::client::core::Core;
use crate::control::is_removed;
use crate::error::LockError;
use crate::key::{CommonRecord, LockKey};
use crate::lease::RevokedBy;
use crate::state::{
    AuditAction, AuditEntry, AuditOutcome, Holder, HolderRef, LockState, Receipt, Revocation,
    Revoked, bounded,
};

/// The longest text in the audit, in bytes. Keys may be as long, and labels may come from other programs.
const LONGEST: usize = 512;

/// Precedes the reason why a revocation has no line in the audit. A server that is full refuses the line, and would carry out
/// the revocation.
const UNAUDITED: &str = "nothing was done, since it could not be written to the audit first; `--no-audit` of \
                         `lockctl revoke` does without";

impl Core {
    pub(super) fn audit_stream(&self) -> String {
        CommonRecord::Audit.name(&self.options.prefix)
    }
}

/// Takes a lock from its holder.
pub(super) async fn revoke(
    core: Arc<Core>,
    key: LockKey,
    reference: HolderRef,
    revocation: Revocation,
) -> Result<Revoked, LockError> {
    let names = core.names_of(&key)?;
    let (state, now) = core.backend.inspect(&key, &names).await?;
    let mut meant = holder(&state, reference);
    if is_removed!(token_of_a_revocation) {
        meant = state.holders.first().cloned();
    }
    let Some(holder) = meant else {
        return Ok(not_done(state));
    };
    let label = state.label_of(&holder).to_owned();
    let operation = operation(now)?;
    let by = RevokedBy {
        operation,
        by: revocation.by().to_owned(),
        reason: revocation.reason().to_owned(),
    };
    let mut entry = AuditEntry {
        // The server sets it.
        at: UNIX_EPOCH,
        operation: Some(operation),
        by: by.by.clone(),
        user: bounded(&core.backend.user().await, LONGEST),
        action: AuditAction::Revoke,
        key: key.clone(),
        token: holder.token,
        label: bounded(&label, LONGEST),
        reason: by.reason.clone(),
        outcome: AuditOutcome::Intended,
    };
    let stream = core.audit_stream();
    if revocation.is_audited() {
        let written = core.backend.append(&stream, &entry).await;
        written.map_err(|error| error.with_detail_before(UNAUDITED))?;
    }
    let reply = core.backend.revoke(&key, &names, reference, by).await;
    entry.outcome = match &reply {
        Ok(RevokeReply::Freed(_)) => AuditOutcome::Freed,
        Ok(RevokeReply::HandedOff(_)) => AuditOutcome::HandedOff,
        Ok(RevokeReply::Changed) => AuditOutcome::Changed,
        Ok(RevokeReply::NotHeld) => AuditOutcome::NotHeld,
        Err(error) => AuditOutcome::Failed(bounded(&error.to_string(), LONGEST)),
    };
    let audited = revocation.is_audited() && core.backend.append(&stream, &entry).await.is_ok();
    let (handed_off, nodes) = match reply? {
        RevokeReply::Freed(nodes) => (false, nodes),
        RevokeReply::HandedOff(nodes) => (true, nodes),
        RevokeReply::NotHeld => return Ok(Revoked::NotHeld(key)),
        RevokeReply::Changed => {
            let (state, _) = core.backend.inspect(&key, &names).await?;
            return Ok(not_done(state));
        }
    };
    Ok(Revoked::Done(Receipt {
        key,
        operation,
        label,
        handed_off,
        nodes,
        audited,
    }))
}

/// Returns the holder that `reference` identifies, if it still has the lock.
fn holder(state: &LockState, reference: HolderRef) -> Option<Holder> {
    state
        .holders
        .iter()
        .find(|holder| holder.is(reference))
        .cloned()
}

fn not_done(state: LockState) -> Revoked {
    if state.is_held() {
        Revoked::Changed(Box::new(state))
    } else {
        Revoked::NotHeld(state.key)
    }
}

/// Returns the id of an operation at this time (µs): a version 7 UUID, so that ids sort by time. The time is the
/// server's, as in the audit.
fn operation(now: u64) -> Result<Uuid, LockError> {
    Ok(Builder::from_unix_timestamp_millis(now / 1_000, &random::bytes()?).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_in_the_order_of_their_times() {
        let ids: Vec<Uuid> = (1..100)
            .map(|second| operation(second * 1_000_000).unwrap())
            .collect();
        assert!(ids.is_sorted());
        assert_eq!(ids[0].get_version_num(), 7, "{}", ids[0]);
    }
}
