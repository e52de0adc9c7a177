//! The base of relative links, wherever the router is nested.

use std::convert::Infallible;
use std::fmt;

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;

/// The prefix of a link to a path of the router: `./`, `../`, or `./locks/` on `/locks` itself. Browsers resolve it wherever the
/// router is nested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base(String);

impl Base {
    /// The base for a page, by its path in the browser and in the router.
    fn new(original: &str, inner: &str) -> Base {
        if inner.len() > 1 {
            return match inner.matches('/').count() {
                0 | 1 => Base("./".to_owned()),
                depth => Base("../".repeat(depth - 1)),
            };
        }
        // Relative to `/locks`, a link begins with its last segment.
        match original.rsplit('/').next() {
            None | Some("") => Base("./".to_owned()),
            Some(last) => Base(format!("./{last}/")),
        }
    }

    pub(crate) fn of(request: &Parts) -> Base {
        let inner = request.uri.path();
        match request.extensions.get::<OriginalUri>() {
            Some(OriginalUri(original)) => Base::new(original.path(), inner),
            None => Base::new(inner, inner),
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<S: Sync> FromRequestParts<S> for Base {
    type Rejection = Infallible;

    async fn from_request_parts(request: &mut Parts, _: &S) -> Result<Base, Infallible> {
        Ok(Base::of(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_begin_at_the_routers_root() {
        for (original, inner, base) in [
            ("/", "/", "./"),
            ("/locks", "/", "./locks/"),
            ("/locks/", "/", "./"),
            ("/ops/a:b", "/", "./a:b/"),
            ("/locks/lock", "/lock", "./"),
            ("/ops/locks/api/lock", "/api/lock", "../"),
            ("/lock", "/lock", "./"),
        ] {
            assert_eq!(Base::new(original, inner).to_string(), base, "{original}");
        }
    }
}
