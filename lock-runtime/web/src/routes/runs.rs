//! Serves the runs of one lock.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::IntoResponse;
use lock_runtime::inspect::Run;
use lock_runtime::{LockClient, LockErrorKind};
use serde::Serialize;

use super::{OfKey, query};
use crate::failure::Failure;
use crate::site::Site;

/// The runs that a lock's page shows. The page is about the lock, so it is there without them.
pub(crate) enum Recorded {
    Runs(Vec<Run>),
    /// They cannot be read, for this reason.
    Unreadable(String),
}

impl Recorded {
    pub(crate) async fn of(client: &LockClient, key: &str) -> Recorded {
        match client.runs(key).await {
            Ok(runs) => Recorded::Runs(runs),
            // A quorum has none.
            Err(error) if error.kind() == LockErrorKind::InvalidOptions => {
                Recorded::Runs(Vec::new())
            }
            Err(error) => Recorded::Unreadable(error.to_string()),
        }
    }

    pub(crate) fn has_runs(&self) -> bool {
        matches!(self, Recorded::Runs(runs) if !runs.is_empty())
    }
}

#[derive(Serialize)]
struct Runs {
    runs: Vec<Run>,
}

pub(crate) async fn json(
    State(site): State<Arc<Site>>,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let OfKey { key } = query(&uri)?;
    let runs = site.client.runs(key).await?;
    Ok(Json(Runs { runs }))
}
