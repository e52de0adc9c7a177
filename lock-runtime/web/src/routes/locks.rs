//! The locks that are held, part by part.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::IntoResponse;
use lock_runtime::inspect::ListingPosition;
use serde::{Deserialize, Serialize};

use super::{query, some};
use crate::base::Base;
use crate::failure::Failure;
use crate::listing::{self, Part, Wanted};
use crate::pages;
use crate::report::LockLine;
use crate::site::Site;

#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(rename = "match")]
    pattern: Option<String>,
    holder: Option<String>,
    waiting: Option<String>,
    from: Option<String>,
}

/// What a query asks for, and from where on.
fn asked(uri: &Uri) -> Result<(Wanted, Option<ListingPosition>), Failure> {
    let asked: Asked = query(uri)?;
    let from = some(asked.from).map(|from| from.parse()).transpose();
    let from = from.map_err(|_| {
        Failure::bad_request("`from` is not where a page ended. Begin with the first page.")
    })?;
    let wanted = Wanted {
        pattern: some(asked.pattern),
        holder: some(asked.holder),
        is_awaited: some(asked.waiting).is_some(),
    };
    Ok((wanted, from))
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    base: Base,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let (wanted, from) = asked(&uri)?;
    let is_first = from.is_none();
    let part = listing::read(&site.client, &wanted, from).await?;
    Ok(pages::locks::page(&base, &wanted, is_first, &part))
}

/// A part of a listing.
#[derive(Debug, Serialize)]
struct LocksReport {
    locks: Vec<LockLine>,
    /// What `from` is for the next part.
    next: Option<String>,
}

pub(crate) async fn json(
    State(site): State<Arc<Site>>,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let (wanted, from) = asked(&uri)?;
    let Part { lines, next } = listing::read(&site.client, &wanted, from).await?;
    Ok(Json(LocksReport {
        locks: lines,
        next: next.map(|next| next.to_string()),
    }))
}
