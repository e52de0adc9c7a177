//! A web service that answers 409 if the lock is busy, and names the holder.
//!
//! ```text
//! cargo run -p lock-examples --example web --features axum
//! ```
//!
//! It starts the service on a free port and sends it three requests.
//! Set `LOCK_URL=redis://127.0.0.1:6379` to take the locks on a real server.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// The service's own error. With one `From`, every locked function can return it.
struct ApiError(LockError);

impl From<LockError> for ApiError {
    fn from(error: LockError) -> ApiError {
        ApiError(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let ApiError(error) = self;
        // The remaining lease of the holder, or a second without one.
        let seconds = error.retry_after().map_or(1, |left| left.as_secs() + 1);
        let retry = [(RETRY_AFTER, seconds.to_string())];
        match error.kind() {
            // This is not a failure of the service: another request holds the lock.
            LockErrorKind::Busy => {
                let holder = error.holder().unwrap_or("another process");
                let text = format!("busy: held by {holder}");
                (StatusCode::CONFLICT, retry, text).into_response()
            }
            LockErrorKind::Unavailable | LockErrorKind::Shutdown => {
                (StatusCode::SERVICE_UNAVAILABLE, retry).into_response()
            }
            // The error's text belongs in the log, since it may name keys.
            _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

#[derive(Clone)]
struct Shop {
    locks: LockClient,
    /// Notifies `main` that an order is being packed.
    packing: mpsc::Sender<u64>,
}

/// The attribute works on a handler like on any other function. `max_hold` bounds the `Retry-After` of other requests.
#[distributed_lock(key = "order:<id>", wait = "0s", max_hold = "5s", client = shop.locks)]
async fn ship(State(shop): State<Shop>, Path(id): Path<u64>) -> Result<String, ApiError> {
    let _ = shop.packing.send(id).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(format!("order {id} is on its way"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    let locks = LockClient::builder()
        .url(url)
        .label("warehouse-1")
        .connect()
        .await?;
    let (packing, mut packs) = mpsc::channel(1);
    let service = Router::new()
        .route("/orders/{id}/ship", post(ship))
        .with_state(Shop { locks, packing });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    println!("The service listens on {address}.\n");
    tokio::spawn(async { axum::serve(listener, service).await });

    let first = tokio::spawn(ask(address, "/orders/42/ship"));
    packs.recv().await;
    // The first request is in its body now.
    println!(
        "POST /orders/42/ship, the second: {}",
        ask(address, "/orders/42/ship").await?
    );
    println!("POST /orders/42/ship, the first:  {}", first.await??);
    println!(
        "POST /orders/42/ship, the third:  {}",
        ask(address, "/orders/42/ship").await?
    );
    Ok(())
}

/// Sends a request, and returns the status, the body and `Retry-After` of the response.
async fn ask(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    let request = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).unwrap_or("no answer");
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    let mut headers = answer.lines().filter_map(|line| line.split_once(": "));
    let retry = headers.find(|(name, _)| name.eq_ignore_ascii_case(RETRY_AFTER.as_str()));
    let retry = retry.map_or_else(String::new, |(_, seconds)| {
        format!(", again in {seconds} s")
    });
    Ok(format!("{status} {body}{retry}"))
}
