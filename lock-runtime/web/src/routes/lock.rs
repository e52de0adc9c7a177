//! Serves one lock.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::http::request::Parts;
use axum::response::IntoResponse;

use super::runs::Recorded;
use super::{OfKey, query};
use crate::base::Base;
use crate::failure::Failure;
use crate::pages;
use crate::site::Site;

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    base: Base,
    request: Parts,
) -> Result<impl IntoResponse, Failure> {
    let OfKey { key } = query(&request.uri)?;
    let lock = site.client.inspect(key.as_str()).await?;
    let recorded = Recorded::of(&site.client, &key).await;
    let operator = site.operator(&request);
    let page = pages::lock::page(&base, &lock, &recorded, operator.as_deref(), None);
    Ok(page)
}

pub(crate) async fn json(
    State(site): State<Arc<Site>>,
    uri: Uri,
) -> Result<impl IntoResponse, Failure> {
    let OfKey { key } = query(&uri)?;
    Ok(Json(site.client.inspect(key).await?))
}
