//! The user as which a client logs in.

use harness::{RedisServer, eventually, failed, patient};

use super::*;

pub(super) async fn user_of(client: &LockClient, server: &RedisServer) -> String {
    let guard = soon(hold(client)).await;
    let list = ["CLIENT", "LIST", "TYPE", "pubsub"];
    let list: String = ask(&mut server.connection(), &list);
    guard.release().await.unwrap();
    let mut words = list.split_whitespace();
    let user = words.find_map(|word| word.strip_prefix("user="));
    user.expect("the client subscribes").to_owned()
}

#[tokio::test]
async fn user_and_password_may_hold_any_character() {
    let server = RedisServer::start();
    server.user("svc@shop", "p:/?#%+é", &["~*", "&*", "+@all"]);
    let url = |login: &str| server.url().replace("://", &format!("://{login}@"));
    let login = "svc%40shop:p%3A%2F%3F%23%25+%C3%A9";
    let client = patient(url(login)).connect().await.unwrap();
    assert_eq!(user_of(&client, &server).await, "svc@shop");
    let refused = patient(url("svc%40shop:wrong")).connect().await;
    failed(refused, LockErrorKind::Rejected);
}

#[tokio::test]
async fn user_without_a_password_logs_in() {
    let server = RedisServer::start();
    server.user("open", "", &["nopass", "~*", "&*", "+@all"]);
    let client = patient(server.url().replace("://", "://open@"))
        .connect()
        .await;
    assert_eq!(user_of(&client.unwrap(), &server).await, "open");
}

/// The names of all clients with locks.
fn names(server: &RedisServer) -> Vec<String> {
    let list = ["CLIENT", "LIST", "TYPE", "pubsub"];
    let list: String = ask(&mut server.connection(), &list);
    let words = list.split_whitespace();
    let names = words.filter_map(|word| word.strip_prefix("name="));
    names.map(str::to_owned).collect()
}

#[tokio::test]
async fn client_list_shows_the_label_without_white_space() {
    let server = RedisServer::start();
    server.user("app", "s3cret", &["~*", "&*", "+@all"]);
    let with_login = server.url().replace("://", "://app:s3cret@");
    for url in [server.url(), with_login] {
        for (builder, name) in [
            (patient(&url).label("check out@pod-7"), "check-out@pod-7"),
            (patient(&url).label("käse@pod-7"), "k-se@pod-7"),
            (patient(&url).without_label(), ""),
        ] {
            let client = builder.connect().await.unwrap();
            assert_eq!(names(&server), [name]);
            client.shutdown().await;
            drop(client);
            eventually("end of the connection", LONG, async || {
                names(&server).is_empty()
            })
            .await;
        }
    }
}
