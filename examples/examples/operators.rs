//! A service with pages for its operators, who see its locks and can revoke them.
//!
//! ```text
//! cargo run -p lock-examples --example operators --features axum -- serve
//! ```
//!
//! Open the printed address, and log in as `ann` with the password `secret`. Without `serve`, it sends itself three requests
//! and ends. Set `LOCK_URL=redis://127.0.0.1:6379` to see the locks of a real server.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use lock_runtime::{LockClient, LockError, distributed_lock};
use lock_web::LockWeb;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// `ann` and `secret`, as browsers send them. A real service asks its sessions instead.
const ANN: &str = "Basic YW5uOnNlY3JldA==";

/// The authenticated sender of a request.
#[derive(Clone)]
struct User(String);

/// Requires a login: the pages themselves do not ask for a password.
async fn log_in(mut request: Request, next: Next) -> Response {
    match request.headers().get(AUTHORIZATION) {
        Some(sent) if sent == ANN => {
            request.extensions_mut().insert(User("ann".to_owned()));
            next.run(request).await
        }
        _ => {
            let asks = [(WWW_AUTHENTICATE, "Basic realm=\"operators\"")];
            (StatusCode::UNAUTHORIZED, asks).into_response()
        }
    }
}

fn service(client: LockClient) -> Router {
    let locks = LockWeb::new(client)
        // Every user may revoke here. Return `None` for users who may only view.
        .operator(|request| Some(request.extensions.get::<User>()?.0.clone()))
        .into_router();
    Router::new().nest_service("/locks", locks.layer(from_fn(log_in)))
}

/// A body that hangs until the test ends it, the usual reason to call an operator.
#[distributed_lock(key = "import", client = client)]
async fn import(
    client: &LockClient,
    begun: oneshot::Sender<()>,
    end: oneshot::Receiver<()>,
) -> Result<(), LockError> {
    let _ = begun.send(());
    let _ = end.await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    let builder = LockClient::builder().url(url).label("importer-1");
    let client = builder.connect().await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let service = service(client.clone());
    let server = tokio::spawn(async { axum::serve(listener, service).await });

    let ((begun, has_begun), (end, has_ended)) = (oneshot::channel(), oneshot::channel());
    let importing = tokio::spawn(async move { import(&client, begun, has_ended).await });
    has_begun.await?;
    if std::env::args().any(|argument| argument == "serve") {
        println!("The page is http://{address}/locks, for ann with the password secret.");
        server.await??;
    }
    println!("A stranger: {}", ask(address, "/locks", "").await?);
    println!("Ann, all locks: {}", ask(address, "/locks", ANN).await?);
    let lock = ask(address, "/locks/api/lock?key=import", ANN).await?;
    println!("Ann, one of them: {lock}");
    let _ = end.send(());
    Ok(importing.await??)
}

/// Sends a request, and returns the status and the state of the lock in the response.
async fn ask(address: SocketAddr, path: &str, login: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {login}\r\nConnection: close\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).unwrap_or("no answer");
    let says = match (answer.contains("import"), answer.contains("importer-1")) {
        (true, true) => "`import` is held by importer-1",
        _ => "no locks",
    };
    Ok(format!("{status}, {says}"))
}
