//! Revokes a lock: writes an audit line, sends the command, and writes another line.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use uuid::Builder;

use crate::backend::wire::inspection::RevokeReply;
use crate::background::random;
use crate::client::core::Core;
use crate::control::is_removed;
use crate::error::LockError;
use crate::key::{CommonRecord, LockKey};
use crate::lease::RevokedBy;
use crate::state::{
    AuditEntry, Holder, HolderRef, INTENDED, LockState, Receipt, Revocation, Revoked, bounded,
};

/// The longest text in the audit, in bytes. Keys may be as long, and labels may come from other programs.
const LONGEST: usize = 512;

impl Core {
    pub(super) fn audit_stream(&self) -> String {
        CommonRecord::Audit.name(&self.options.prefix)
    }
}

/// Takes a lock from its holder.
pub(super) async fn revoke(
    core: Arc<Core>,
    key: LockKey,
    seen: HolderRef,
    revocation: Revocation,
) -> Result<Revoked, LockError> {
    let names = core.names_of(&key)?;
    let (state, now) = core.backend.inspect(&key, &names).await?;
    let mut meant = holder(&state, seen);
    if is_removed!(token_of_a_revocation) {
        meant = state.holders.first().cloned();
    }
    let Some(holder) = meant else {
        return Ok(not_done(state));
    };
    let operation = operation(now)?;
    let by = RevokedBy {
        operation: operation.clone(),
        by: revocation.by().to_owned(),
        reason: revocation.reason().to_owned(),
    };
    let mut line = AuditEntry {
        operation: operation.clone(),
        // The server sets it.
        at: UNIX_EPOCH,
        by: by.by.clone(),
        user: bounded(core.backend.user(), LONGEST),
        action: "revoke".to_owned(),
        key: key.clone(),
        token: holder.token,
        label: bounded(&holder.label, LONGEST),
        reason: by.reason.clone(),
        outcome: INTENDED.to_owned(),
    };
    let stream = core.audit_stream();
    if revocation.is_audited() {
        let written = core.backend.append(&stream, &line).await;
        written.map_err(|error| error.with_detail_before("nothing was done"))?;
    }
    let reply = core.backend.revoke(&key, &names, seen, by).await;
    line.outcome = match &reply {
        Ok(RevokeReply::Freed(_)) => "freed".to_owned(),
        Ok(RevokeReply::HandedOn(_)) => "handed_off".to_owned(),
        Ok(RevokeReply::Changed) => "changed".to_owned(),
        Ok(RevokeReply::NotHeld) => "not_held".to_owned(),
        Err(error) => bounded(&format!("failed: {error}"), LONGEST),
    };
    let is_audited = revocation.is_audited() && core.backend.append(&stream, &line).await.is_ok();
    let (handed_off, nodes) = match reply? {
        RevokeReply::Freed(nodes) => (false, nodes),
        RevokeReply::HandedOn(nodes) => (true, nodes),
        RevokeReply::NotHeld => return Ok(Revoked::NotHeld),
        RevokeReply::Changed => {
            let (state, _) = core.backend.inspect(&key, &names).await?;
            return Ok(not_done(state));
        }
    };
    Ok(Revoked::Done(Receipt {
        operation,
        label: holder.label,
        handed_off,
        nodes,
        is_audited,
    }))
}

/// Returns the holder that `seen` identifies, if it still has the lock.
fn holder(state: &LockState, seen: HolderRef) -> Option<Holder> {
    state.holders.iter().find(|holder| holder.is(seen)).cloned()
}

fn not_done(state: LockState) -> Revoked {
    match state.is_held() {
        true => Revoked::Changed(Box::new(state)),
        false => Revoked::NotHeld,
    }
}

/// Returns the id of an operation at this time (µs): a version 7 UUID, so that ids sort by time. The time is the
/// server's, as in the audit.
fn operation(now: u64) -> Result<String, LockError> {
    let uuid = Builder::from_unix_timestamp_millis(now / 1_000, &random::bytes()?).into_uuid();
    Ok(uuid.hyphenated().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_in_the_order_of_their_times() {
        let ids: Vec<String> = (1..100)
            .map(|second| operation(second * 1_000_000).unwrap())
            .collect();
        assert!(ids.is_sorted());
        assert_eq!(&ids[0][14..15], "7", "{}", ids[0]);
        assert_eq!(ids[0].len(), 36);
    }
}
