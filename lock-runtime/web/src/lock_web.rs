//! The router and its options.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::request::Parts;
use axum::middleware;
use axum::routing::{get, post};
use lock_runtime::LockClient;

use crate::operator::NameOperator;
use crate::site::Site;
use crate::{responses, routes};

/// The longest request body, in bytes: a reason and a key, percent-encoded.
const LONGEST_BODY: usize = 16 * 1024;

/// Returns a router that shows the locks of a client and changes nothing: [`LockWeb`] without options.
///
/// # Examples
///
/// ```
/// use axum::Router;
/// use lock_runtime::LockClient;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let client = LockClient::memory();
/// let app: Router = Router::new().nest_service("/locks", lock_web::router(client));
/// # let _ = app; }
/// ```
pub fn router(client: LockClient) -> Router {
    LockWeb::new(client).into_router()
}

/// Web pages that show the locks of a client.
#[must_use = "it is a router after `into_router`"]
pub struct LockWeb {
    client: LockClient,
    name_operator: Option<Box<NameOperator>>,
}

impl LockWeb {
    /// Creates pages that show the locks of this client, and change nothing.
    ///
    /// The client's user needs the permissions of a
    /// [viewer](lock_runtime::docs::security#viewers-and-operators).
    pub fn new(client: LockClient) -> LockWeb {
        LockWeb {
            client,
            name_operator: None,
        }
    }

    /// Lets operators revoke locks.
    ///
    /// For each request, `name` returns its sender, such as `ann@example.com`, or `None` for a user who may only view. The former
    /// holder and the audit get the name, so take it from your authentication, and not from a claim in the request. `name` is
    /// called inside the runtime: it must not block, and if it panics, so does the request.
    ///
    /// An operator types the key and a reason. Nothing is done if the lock has another holder than the page showed, if the audit
    /// cannot be written, or if the request comes from another site's page. See [`revoke`](LockClient::revoke) for the effect of a
    /// revocation. The client's user needs an operator's permissions.
    ///
    /// Behind a proxy, `Host` must be the host that browsers see, unless all of them send `Sec-Fetch-Site`, which they do with
    /// HTTPS.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::Router;
    /// use lock_runtime::LockClient;
    /// use lock_web::LockWeb;
    ///
    /// /// The extension that your authentication adds to a request.
    /// #[derive(Clone)]
    /// struct User {
    ///     email: String,
    ///     is_operator: bool,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let client = LockClient::memory();
    /// let locks = LockWeb::new(client)
    ///     .operator(|request| {
    ///         let user = request.extensions.get::<User>()?;
    ///         user.is_operator.then(|| user.email.clone())
    ///     })
    ///     .into_router();
    /// let app: Router = Router::new().nest_service("/locks", locks);
    /// # let _ = app; }
    /// ```
    pub fn operator(
        mut self,
        name: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static,
    ) -> LockWeb {
        self.name_operator = Some(Box::new(name));
        self
    }

    /// Returns the router. It includes its state, so nest it into another router after that one's `with_state`.
    pub fn into_router(self) -> Router {
        let site = Arc::new(Site {
            client: self.client,
            name_operator: self.name_operator,
        });
        Router::new()
            .route("/", get(routes::locks::page))
            // The same, under a name for relative links wherever the router is nested.
            .route("/list", get(routes::locks::page))
            .route("/lock", get(routes::lock::page))
            .route("/process", get(routes::process::page))
            .route("/audit", get(routes::audit::page))
            .route("/revoke", post(routes::revoke::page))
            .route("/style.css", get(responses::style))
            .route("/api/locks", get(routes::locks::json))
            .route("/api/lock", get(routes::lock::json))
            .route("/api/runs", get(routes::runs::json))
            .route("/api/process", get(routes::process::json))
            .route("/api/audit", get(routes::audit::json))
            .fallback(routes::other)
            .method_not_allowed_fallback(routes::other_method)
            .layer(DefaultBodyLimit::max(LONGEST_BODY))
            .layer(middleware::from_fn_with_state(
                site.clone(),
                responses::finish,
            ))
            .with_state(site)
    }
}

impl fmt::Debug for LockWeb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockWeb")
            .field("may_revoke", &self.name_operator.is_some())
            .finish_non_exhaustive()
    }
}
