//! The user as which a client logs in.

use harness::RedisServer;

use super::*;

pub(super) async fn user_of(client: &LockClient, server: &RedisServer) -> String {
    let guard = soon(hold(client)).await;
    let list: String = ask(
        &mut server.connection(),
        &["CLIENT", "LIST", "TYPE", "pubsub"],
    );
    guard.release().await.unwrap();
    let user = list
        .split_whitespace()
        .find_map(|word| word.strip_prefix("user="));
    user.expect("the client subscribes").to_owned()
}

#[tokio::test]
async fn user_and_password_may_hold_any_character() {
    let server = RedisServer::start();
    let rights = [
        "ACL",
        "SETUSER",
        "svc@shop",
        "on",
        ">p:/?#%+é",
        "~*",
        "&*",
        "+@all",
    ];
    let _: () = ask(&mut server.connection(), &rights);
    let url = |login: &str| server.url().replace("://", &format!("://{login}@"));
    let login = "svc%40shop:p%3A%2F%3F%23%25+%C3%A9";
    let client = LockClient::connect(&url(login)).await.unwrap();
    assert_eq!(user_of(&client, &server).await, "svc@shop");
    let error = LockClient::connect(&url("svc%40shop:wrong"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Rejected, "{error}");
}
