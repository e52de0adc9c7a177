//! Handles each address.

pub(crate) mod audit;
pub(crate) mod lock;
pub(crate) mod locks;
pub(crate) mod process;
pub(crate) mod revoke;
pub(crate) mod runs;

use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// The query of an address for one lock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfKey {
    pub(crate) key: String,
}

/// The query of an address without fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Parses a query. Refuses an unknown field: without it, a search would show other locks than the user asked for.
fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Failure> {
    let query = Query::try_from_uri(uri);
    let query = query.map_err(|error| Failure::bad_request(error.body_text()))?;
    Ok(query.0)
}

/// A form field that is sent although it is empty.
fn some(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

pub(crate) async fn other() -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        "There is no such page",
        "This address does not exist.",
    )
}

pub(crate) async fn other_method() -> Failure {
    read_only()
}

/// Another site's page would not see the response, but its visitors' browsers would load the servers.
pub(crate) fn load_by_another_site() -> Failure {
    Failure::forbidden("The request comes from another site's page.")
}

/// Only revocations have a method other than GET, and only if operators are named.
pub(crate) fn read_only() -> Failure {
    Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "Not allowed",
        "This address does not support the method.",
    )
}
