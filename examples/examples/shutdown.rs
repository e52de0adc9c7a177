//! A web service that shuts down gracefully on SIGTERM or Ctrl-C.
//!
//! ```text
//! cargo run -p lock-examples --example shutdown --features axum
//! ```
//!
//! It listens on a free port. Run `curl -X POST` with the printed address, which takes six seconds, and
//! press Ctrl-C meanwhile. The locks have a grace period of half a second. Then the request is answered
//! with 503, the locks are released, and the process ends.
//!
//! With `-- drain-first` after the command, the server drains first and the locks end after it, which
//! takes the sum of both times. Set `LOCK_URL=redis://127.0.0.1:6379` to take the locks on a real server.

use std::error::Error;
use std::future::{IntoFuture, pending};
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use lock_runtime::{LockClient, LockError, distributed_lock};
use tokio::net::TcpListener;

/// How long locked functions may continue after the signal. Must be shorter than the time until the
/// process is killed: 30 s by default in Kubernetes.
const GRACE: Duration = Duration::from_millis(500);

/// Works for longer than the grace period.
#[distributed_lock(key = "order:<id>", wait = "0s", client = locks, or_else = |error| later(&error))]
async fn ship(State(locks): State<LockClient>, Path(id): Path<u64>) -> Response {
    println!("packing {id}");
    tokio::time::sleep(Duration::from_secs(6)).await;
    format!("order {id} is on its way\n").into_response()
}

/// The answer to a request that was stopped, or that came after the signal.
fn later(error: &LockError) -> Response {
    println!("not shipped: {error}");
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

/// A background task. It never completes.
#[distributed_lock(key = "import", client = locks)]
async fn import(locks: &LockClient) -> Result<(), LockError> {
    println!("importing");
    pending().await
}

/// Completes at SIGTERM or Ctrl-C. Each call listens independently.
async fn termination() {
    let ctrl_c = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut sigterm = signal(SignalKind::terminate()).expect("signals can be listened to");
        tokio::select! {
            _ = sigterm.recv() => {}
            _ = ctrl_c => {}
        }
    }
    #[cfg(not(unix))]
    ctrl_c.await.expect("Ctrl-C can be listened to");
}

/// Shuts down the server and the locks at the same time. The server stops accepting requests and
/// waits for the requests in flight. Their locks end with the grace period at the latest, and so do
/// the requests.
async fn serve(listener: TcpListener, service: Router, locks: LockClient) -> io::Result<()> {
    let server = axum::serve(listener, service).with_graceful_shutdown(termination());
    let shutdown = async {
        termination().await;
        locks.shutdown().await;
        Ok(())
    };
    tokio::try_join!(server.into_future(), shutdown)?;
    Ok(())
}

/// The wrong way: the server waits for its requests however long they take, and the grace period
/// begins only after that. If the process is killed first, its locks stay taken until their ttls
/// expire.
async fn drain_first(listener: TcpListener, service: Router, locks: LockClient) -> io::Result<()> {
    let server = axum::serve(listener, service).with_graceful_shutdown(termination());
    server.await?;
    locks.shutdown().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    let locks = LockClient::builder()
        .url(url)
        .shutdown_grace(GRACE)
        .connect()
        .await?;
    let service = Router::new()
        .route("/orders/{id}/ship", post(ship))
        .with_state(locks.clone());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("http://{}/orders/42/ship", listener.local_addr()?);

    let importer = locks.clone();
    let importing = tokio::spawn(async move { import(&importer).await });
    if std::env::args().any(|arg| arg == "drain-first") {
        drain_first(listener, service, locks).await?;
    } else {
        serve(listener, service, locks).await?;
    }
    if let Err(error) = importing.await? {
        println!("not imported: {error}");
    }
    println!("down");
    Ok(())
}
