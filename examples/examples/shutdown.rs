//! A web service that leaves in good order when it is told to end, by SIGTERM or Ctrl-C.
//!
//! ```text
//! cargo run -p lock-examples --example shutdown --features axum
//! ```
//!
//! It listens on a free port. `curl -X POST` the address that it prints, which takes six seconds, and
//! press Ctrl-C meanwhile: half a second later, the grace of its locks, the process is gone, the request
//! was answered with 503, and no lock is left. With `-- drain-first` behind the command it does one after
//! the other, and takes both times.
//! `LOCK_URL=redis://127.0.0.1:6379` before the command takes the locks on a real server.

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

/// How long locked functions may go on after the process was told to end. Less than whoever tells it
/// waits before it kills the process: Kubernetes gives it 30 s, if not told otherwise.
const GRACE: Duration = Duration::from_millis(500);

/// Takes longer than the grace.
#[distributed_lock(key = "order:<id>", wait = "0s", client = locks, or_else = |error| later(&error))]
async fn ship(State(locks): State<LockClient>, Path(id): Path<u64>) -> Response {
    println!("packing {id}");
    tokio::time::sleep(Duration::from_secs(6)).await;
    format!("order {id} is on its way\n").into_response()
}

/// The answer to a request that was stopped, or came too late.
fn later(error: &LockError) -> Response {
    println!("not shipped: {error}");
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

/// What a service does besides its requests: never done, and no request waits for it.
#[distributed_lock(key = "import", client = locks)]
async fn import(locks: &LockClient) -> Result<(), LockError> {
    println!("importing");
    pending().await
}

/// Completes when the process is told to end. Each call listens for itself.
async fn told_to_end() {
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

/// Both at the same time: the server takes no more requests and waits for those that it has, and
/// their locks end with the grace at the latest. That ends the requests.
async fn serve(listener: TcpListener, service: Router, locks: LockClient) -> io::Result<()> {
    let server = axum::serve(listener, service).with_graceful_shutdown(told_to_end());
    let shutdown = async {
        told_to_end().await;
        locks.shutdown().await;
        Ok(())
    };
    tokio::try_join!(server.into_future(), shutdown)?;
    Ok(())
}

/// What not to do: the server waits for its requests as long as they take, and the grace begins
/// after that. Where the process is killed before, its locks are left to their ttls.
async fn drain_first(listener: TcpListener, service: Router, locks: LockClient) -> io::Result<()> {
    let server = axum::serve(listener, service).with_graceful_shutdown(told_to_end());
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
