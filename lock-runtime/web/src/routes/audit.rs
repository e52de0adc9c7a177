//! Serves the audit of operators.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::IntoResponse;
use lock_runtime::inspect::AuditEntry;
use lock_runtime::{LockClient, LockError};
use serde::{Deserialize, Serialize};

use super::{query, some};
use crate::base::Base;
use crate::failure::Failure;
use crate::pages;
use crate::site::Site;

/// How many of the newest entries are shown. An operation has two.
const SHOWN: usize = 200;

/// The audit, the newest entry first.
#[derive(Debug, Serialize)]
pub(crate) struct AuditReport {
    pub(crate) entries: Vec<AuditEntry>,
    /// Whether older entries are left out.
    pub(crate) more: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    key: Option<String>,
}

/// Reads the newest entries. Servers keep about the last 10 000, which are read in pages.
async fn read(client: &LockClient, key: Option<&str>) -> Result<AuditReport, LockError> {
    let mut audit = client.audit();
    if let Some(key) = key {
        audit = audit.key(key);
    }
    // By time, since each node of a quorum has entries of its own. The number orders entries with the same time.
    let mut newest: BTreeMap<(SystemTime, usize), AuditEntry> = BTreeMap::new();
    let mut read = 0;
    while let Some(page) = audit.next_page().await? {
        for entry in page {
            newest.insert((entry.at, read), entry);
            read += 1;
            if newest.len() > SHOWN {
                newest.pop_first();
            }
        }
    }
    Ok(AuditReport {
        entries: newest.into_values().rev().collect(),
        more: read > SHOWN,
    })
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    base: Base,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let Asked { key } = query(&uri)?;
    let key = some(key);
    let report = read(&site.client, key.as_deref()).await?;
    Ok(pages::audit::page(&base, key.as_deref(), &report))
}

pub(crate) async fn json(
    State(site): State<Arc<Site>>,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let Asked { key } = query(&uri)?;
    Ok(Json(read(&site.client, some(key).as_deref()).await?))
}
