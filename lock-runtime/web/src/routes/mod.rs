//! What is done for each address.

pub(crate) mod audit;
pub(crate) mod lock;
pub(crate) mod locks;
pub(crate) mod process;
pub(crate) mod revoke;

use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// The query of an address that is about one lock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfKey {
    pub(crate) key: String,
}

/// The query of an address that has none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// What the query of an address asks for. A field that the address does not have is refused: a search without it would show
/// other locks than those that were asked for.
fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Failure> {
    let query = Query::try_from_uri(uri);
    let query = query.map_err(|error| Failure::bad_request(error.body_text()))?;
    Ok(query.0)
}

/// A field that a form sends although nothing was typed into it.
fn some(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

pub(crate) async fn other() -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        "There is no such page",
        "The address leads nowhere.",
    )
}

pub(crate) async fn other_method() -> Failure {
    read_only()
}

/// Another site's page would not see the answer, but its visitors' browsers would keep the servers busy.
pub(crate) fn load_by_another_site() -> Failure {
    Failure::forbidden("A page of another site asks for it.")
}

/// Only the address of revocations has other methods than GET, and only where operators are named.
pub(crate) fn read_only() -> Failure {
    Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "This is not allowed",
        "This address has no such method.",
    )
}
