//! Serves the locks that this process holds.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::IntoResponse;
use lock_runtime::LockClient;
use lock_runtime::inspect::LocalHold;
use serde::Serialize;

use super::{Nothing, query};
use crate::base::Base;
use crate::failure::Failure;
use crate::pages;
use crate::site::Site;

/// How many locks are shown, those held longest first.
const SHOWN: usize = 200;

/// The locks that this process holds, the oldest first.
#[derive(Debug, Serialize)]
pub(crate) struct ProcessReport {
    pub(crate) held: Vec<LocalHold>,
    /// The number of further locks.
    pub(crate) more: usize,
}

impl ProcessReport {
    fn of(client: &LockClient) -> ProcessReport {
        let mut held = client.held();
        held.sort_by_key(|held| std::cmp::Reverse(held.age));
        let more = held.len().saturating_sub(SHOWN);
        held.truncate(SHOWN);
        ProcessReport { held, more }
    }
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    base: Base,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let Nothing {} = query(&uri)?;
    let report = ProcessReport::of(&site.client);
    Ok(pages::process::page(&base, &report))
}

pub(crate) async fn json(
    State(site): State<Arc<Site>>,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let Nothing {} = query(&uri)?;
    Ok(Json(ProcessReport::of(&site.client)))
}
