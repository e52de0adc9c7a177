//! Handlers of rocket.

use lock_runtime::{LockError, distributed_lock};
use rocket::http::Status;
use rocket::local::asynchronous::Client;
use rocket::{Responder, get, routes};

use crate::{HELD, elsewhere, locks, state};

#[derive(Responder)]
#[response(status = 409)]
struct Failure(String);

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        Failure(error.to_string())
    }
}

#[get("/rocket/below/<id>")]
#[distributed_lock(key = "rocket/below/<id>")]
async fn below(id: u64) -> Result<&'static str, Failure> {
    tokio::task::yield_now().await;
    Ok(state(&format!("rocket/below/{id}")))
}

#[distributed_lock(key = "rocket/above/<id>")]
#[get("/rocket/above/<id>")]
async fn above(id: u64) -> Result<&'static str, Failure> {
    tokio::task::yield_now().await;
    Ok(state(&format!("rocket/above/{id}")))
}

#[get("/rocket/blocking/<id>")]
#[distributed_lock(key = "rocket/blocking/<id>")]
fn blocking(id: u64) -> Result<String, Failure> {
    Ok(state(&format!("rocket/blocking/{id}")).to_owned())
}

#[tokio::test]
async fn handlers_answer_under_their_lock() {
    locks();
    let rocket = rocket::custom(rocket::Config {
        log_level: rocket::config::LogLevel::Off,
        ..rocket::Config::debug_default()
    });
    let rocket = rocket.mount("/", routes![below, above, blocking]);
    let client = Client::untracked(rocket).await.expect("it starts");
    for key in ["below", "above", "blocking"] {
        let key = format!("rocket/{key}/42");
        let answer = client.get(format!("/{key}")).dispatch().await;
        assert_eq!(answer.into_string().await.as_deref(), Some(HELD));
        assert_eq!(state(&key), "free");

        let _taken = elsewhere(&key);
        let answer = client.get(format!("/{key}")).dispatch().await;
        assert_eq!(answer.status(), Status::Conflict);
        let reason = answer.into_string().await.expect("there is a reason");
        assert!(
            reason.starts_with(&format!("lock `{key}` is busy")),
            "{reason}"
        );
    }
}
