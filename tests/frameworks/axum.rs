//! Handlers of axum.

use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, debug_handler};
use lock_runtime::{LockError, distributed_lock};
use tower::ServiceExt as _;

use crate::{HELD, elsewhere, locks, state};

struct Failure(LockError);

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        Failure(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::CONFLICT, self.0.to_string()).into_response()
    }
}

#[distributed_lock(key = "axum/result/<id>")]
async fn result(Path(id): Path<u64>) -> Result<impl IntoResponse, Failure> {
    tokio::task::yield_now().await;
    Ok((StatusCode::OK, state(&format!("axum/result/{id}"))))
}

#[distributed_lock(
    key = "axum/response/<id>",
    or_else = |error| Failure(error).into_response()
)]
async fn response(State(()): State<()>, Path(id): Path<u64>, body: String) -> Response {
    if !body.is_empty() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    state(&format!("axum/response/{id}")).into_response()
}

#[distributed_lock(key = "axum/above/<id>")]
#[debug_handler]
async fn above_debug_handler(Path(id): Path<u64>) -> Result<&'static str, Failure> {
    tokio::task::yield_now().await;
    Ok(state(&format!("axum/above/{id}")))
}

#[debug_handler]
#[distributed_lock(key = "axum/below/<id>")]
async fn below_debug_handler(Path(id): Path<u64>) -> Result<&'static str, Failure> {
    tokio::task::yield_now().await;
    Ok(state(&format!("axum/below/{id}")))
}

async fn ask(router: &Router, key: &str) -> (StatusCode, String) {
    let request = Request::get(format!("/{key}"));
    let request = request.body(Body::empty()).expect("it is a request");
    let Ok(response) = router.clone().oneshot(request).await;
    let status = response.status();
    let body = to_bytes(response.into_body(), 1024).await;
    let body = body.expect("the body is short").to_vec();
    (status, String::from_utf8(body).expect("it is text"))
}

#[tokio::test]
async fn handlers_answer_under_their_lock() {
    locks();
    let router = Router::new()
        .route("/axum/result/{id}", get(result))
        .route("/axum/response/{id}", get(response))
        .route("/axum/above/{id}", get(above_debug_handler))
        .route("/axum/below/{id}", get(below_debug_handler))
        .with_state(());
    for key in ["result", "response", "above", "below"] {
        let key = format!("axum/{key}/42");
        assert_eq!(ask(&router, &key).await, (StatusCode::OK, HELD.into()));
        assert_eq!(state(&key), "free");

        let _taken = elsewhere(&key);
        let (status, reason) = ask(&router, &key).await;
        assert_eq!(status, StatusCode::CONFLICT);
        assert!(
            reason.starts_with(&format!("lock `{key}` is busy")),
            "{reason}"
        );
    }
}
