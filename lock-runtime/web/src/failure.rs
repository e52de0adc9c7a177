//! Why a request is not answered.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lock_runtime::{LockError, LockErrorKind};

/// Why a request is not answered. [`finish`](crate::responses::finish) renders its page, for all addresses.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) title: &'static str,
    /// May contain text from other programs.
    pub(crate) detail: String,
    /// The key of the lock that the page links back to.
    pub(crate) lock: Option<String>,
    /// The revocation may have been carried out anyway.
    pub(crate) may_be_revoked: bool,
}

impl Failure {
    pub(crate) fn new(
        status: StatusCode,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Failure {
        Failure {
            status,
            title,
            detail: detail.into(),
            lock: None,
            may_be_revoked: false,
        }
    }

    /// The failure of a revocation, which may have been carried out anyway.
    pub(crate) fn of_revocation(error: LockError) -> Failure {
        let failure = Failure::from(error);
        Failure {
            // A key that no lock can have is refused before anything is sent.
            may_be_revoked: !failure.status.is_client_error(),
            ..failure
        }
    }

    pub(crate) fn about(self, key: String) -> Failure {
        let lock = Some(key);
        Failure { lock, ..self }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "Bad request", detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Failure {
        Failure::new(StatusCode::FORBIDDEN, "Not allowed", detail)
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        let (status, title) = match error.kind() {
            LockErrorKind::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The lock server cannot be reached",
            ),
            LockErrorKind::Shutdown => (
                StatusCode::SERVICE_UNAVAILABLE,
                "This process is shutting down",
            ),
            LockErrorKind::InvalidKey => (StatusCode::BAD_REQUEST, "No lock can have this key"),
            LockErrorKind::Rejected => (
                StatusCode::BAD_GATEWAY,
                "The lock server refuses the request",
            ),
            _ => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The locks cannot be shown",
            ),
        };
        Failure::new(status, title, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
