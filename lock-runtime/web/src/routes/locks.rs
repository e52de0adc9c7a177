//! Serves the held locks, page by page.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::IntoResponse;
use lock_runtime::inspect::{ListedLock, ListingPosition};
use serde::{Deserialize, Serialize};

use super::{query, some};
use crate::base::Base;
use crate::failure::Failure;
use crate::listing::{self, Part, Wanted};
use crate::pages;
use crate::site::Site;

/// The longest pattern, in bytes. A key has at most 512, and names are shorter.
const LONGEST_PATTERN: usize = 256;

/// How many `*` a pattern may have. Matching time is exponential in them, and the server's other clients wait: a pattern with many
/// blocks it for seconds.
const STARS: usize = 4;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    #[serde(rename = "match")]
    pattern: Option<String>,
    holder: Option<String>,
    waiting: Option<String>,
    from: Option<String>,
}

/// Parses the filters and the position of a query.
fn asked(uri: &Uri) -> Result<(Wanted, Option<ListingPosition>), Failure> {
    let asked: Asked = query(uri)?;
    let from = some(asked.from).map(|from| from.parse()).transpose();
    let from = from.map_err(|_| {
        Failure::bad_request(
            "`from` is not a position where a page ended. Begin with the first page.",
        )
    })?;
    let pattern = some(asked.pattern);
    if let Some(pattern) = &pattern {
        check(pattern)?;
    }
    let wanted = Wanted {
        pattern,
        holder: some(asked.holder),
        is_awaited: is_awaited(some(asked.waiting).as_deref())?,
    };
    Ok((wanted, from))
}

fn is_awaited(waiting: Option<&str>) -> Result<bool, Failure> {
    match waiting {
        None => Ok(false),
        Some("1") => Ok(true),
        Some(_) => Err(Failure::bad_request("`waiting` must be `1`, or absent.")),
    }
}

/// Refuses a pattern that may block the server.
fn check(pattern: &str) -> Result<(), Failure> {
    if pattern.len() > LONGEST_PATTERN {
        return Err(Failure::bad_request(format!(
            "`match` has more than {LONGEST_PATTERN} bytes."
        )));
    }
    // Counts escaped ones, too: only the server parses escapes.
    if pattern.bytes().filter(|&byte| byte == b'*').count() > STARS {
        return Err(Failure::bad_request(format!(
            "`match` has more than {STARS} `*`, which may block the server."
        )));
    }
    Ok(())
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

/// A page of a listing.
#[derive(Debug, Serialize)]
struct LocksReport {
    locks: Vec<ListedLock>,
    /// The value of `from` for the next page.
    next: Option<ListingPosition>,
}

pub(crate) async fn json(
    State(site): State<Arc<Site>>,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let (wanted, from) = asked(&uri)?;
    let Part { locks, next } = listing::read(&site.client, &wanted, from).await?;
    Ok(Json(LocksReport { locks, next }))
}
