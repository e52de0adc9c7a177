//! Handlers of actix-web. Its route attributes turn the function into a type, so
//! `#[distributed_lock]` goes below. It also works above, since the route attribute passes it on to
//! the inner function.

use actix_web::http::StatusCode;
use actix_web::{App, HttpResponse, ResponseError, get, test, web};
use lock_runtime::{LockError, distributed_lock};

use crate::{HELD, elsewhere, locks, state};

#[derive(Debug)]
struct Failure(LockError);

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        Failure(error)
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        StatusCode::CONFLICT
    }
}

#[get("/actix/below/{id}")]
#[distributed_lock(key = "actix/below/<*id>")]
async fn below(id: web::Path<u64>) -> Result<&'static str, Failure> {
    tokio::task::yield_now().await;
    Ok(state(&format!("actix/below/{id}")))
}

#[distributed_lock(key = "actix/above/<*id>")]
#[get("/actix/above/{id}")]
async fn above(id: web::Path<u64>) -> Result<&'static str, Failure> {
    tokio::task::yield_now().await;
    Ok(state(&format!("actix/above/{id}")))
}

#[distributed_lock(key = "actix/plain/<*id>", or_else = |error| Failure(error).error_response())]
async fn plain(id: web::Path<u64>) -> HttpResponse {
    HttpResponse::Ok().body(state(&format!("actix/plain/{id}")))
}

#[actix_web::test]
async fn handlers_answer_under_their_lock() {
    locks();
    let app = App::new()
        .service(below)
        .service(above)
        .route("/actix/plain/{id}", web::get().to(plain));
    let app = test::init_service(app).await;
    for key in ["below", "above", "plain"] {
        let key = format!("actix/{key}/42");
        let ask = || {
            test::TestRequest::get()
                .uri(&format!("/{key}"))
                .to_request()
        };
        let answer = test::call_and_read_body(&app, ask()).await;
        assert_eq!(answer, HELD);
        assert_eq!(state(&key), "free");

        let _taken = elsewhere(&key);
        let answer = test::call_service(&app, ask()).await;
        assert_eq!(answer.status(), StatusCode::CONFLICT);
        let reason = test::read_body(answer).await;
        let busy = format!("lock `{key}` is busy");
        assert!(reason.starts_with(busy.as_bytes()), "{reason:?}");
    }
}
