//! The page of a request that is not answered.

use axum::response::Html;
use maud::html;

use crate::base::Base;
use crate::failure::Failure;
use crate::plain::Plain;

pub(crate) fn page(base: &Base, failure: &Failure) -> Html<String> {
    let content = html! {
        h1 { (failure.title) }
        p.notice role="alert" { (Plain(&failure.detail)) }
        @if failure.status.is_server_error() {
            p { "Nothing is known of the locks until it answers. Load the page again to ask once more." }
        }
    };
    super::page(base, None, failure.title, &content)
}
