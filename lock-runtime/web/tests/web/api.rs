//! JSON.

use axum::http::StatusCode;
use harness::{LONG, RedisServer, ask, client};
use lock_runtime::inspect::{Revocation, Revoked};

use crate::{get, holder, queued, service};

#[tokio::test]
async fn json_has_what_the_pages_show() {
    let server = RedisServer::start();
    let (holder, guard) = holder(&server, "api-7", "order:42").await;
    let waiter = client(server.url());
    let waiting = tokio::spawn(waiter.lock("order:42").wait(LONG).acquire());
    queued(&waiter, "order:42", 1).await;
    let service = service(lock_web::router(holder.clone()));
    let token = guard.fencing_token().await.unwrap().get();

    let answer = get(&service, "/locks/api/locks?match=order:*").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["content-type"], "application/json");
    let json = answer.json();
    assert_eq!(json["next"], serde_json::Value::Null);
    assert_eq!(json["locks"].as_array().unwrap().len(), 1);
    let line = &json["locks"][0];
    assert_eq!(line["key"], "order:42");
    assert_eq!(
        (&line["token"], &line["waiter_count"]),
        (&token.into(), &1.into())
    );
    assert_eq!(
        (&line["kind"], &line["holder_count"]),
        (&"exclusive".into(), &1.into())
    );
    assert!(line["remaining_ms"].as_u64().unwrap() > 0, "{line}");
    assert!(line["age_ms"].is_u64(), "{line}");

    let json = get(&service, "/locks/api/lock?key=order:42").await.json();
    assert_eq!(
        (&json["held"], &json["last_token"]),
        (&true.into(), &token.into())
    );
    assert_eq!(json["holders"][0]["reference"], token.to_string());
    assert!(json["waiters"][0]["waiting_ms"].is_u64(), "{json}");
    assert_eq!(json["holders"][0]["record"], serde_json::Value::Null);
    let json = get(&service, "/locks/api/lock?key=other").await.json();
    assert_eq!(json["held"], false);

    ask::<()>(&mut server.connection(), &["SET", "lock:legacy", "me"]);
    let json = get(&service, "/locks/api/lock?key=legacy").await.json();
    let holder = &json["holders"][0];
    let hash = holder["record"].as_str().expect("it has no token");
    assert_eq!(holder["reference"], format!("record:{hash}"));

    let json = get(&service, "/locks/api/process").await.json();
    assert_eq!(json["held"][0]["keys"], serde_json::json!(["order:42"]));
    assert_eq!(
        (&json["held"][0]["token"], &json["more"]),
        (&token.into(), &0.into())
    );
    waiting.abort();
}

#[tokio::test]
async fn audit_is_shown_from_its_newest_line_on() {
    let server = RedisServer::start();
    let operator = client(server.url());
    for key in ["import", "export"] {
        let (_client, guard) = holder(&server, "api-7", key).await;
        let revocation = Revocation::new("ann@ops-1", "stuck <import>");
        let revoked = operator
            .revoke(key, guard.fencing_token().await.unwrap(), revocation)
            .await;
        assert!(matches!(revoked, Ok(Revoked::Done(_))), "{revoked:?}");
    }
    let service = service(lock_web::router(operator));
    let outcomes = |json: &serde_json::Value| -> Vec<(String, String)> {
        let lines = json["entries"].as_array().unwrap().iter();
        let text = |line: &serde_json::Value, field| line[field].as_str().unwrap().to_owned();
        lines
            .map(|line| (text(line, "key"), text(line, "outcome")))
            .collect()
    };
    let owned = |(key, outcome): (&str, &str)| (key.to_owned(), outcome.to_owned());
    let json = get(&service, "/locks/api/audit").await.json();
    assert_eq!(
        outcomes(&json),
        [
            ("export", "freed"),
            ("export", "intended"),
            ("import", "freed"),
            ("import", "intended")
        ]
        .map(owned)
    );
    assert_eq!(json["more"], false);
    let json = get(&service, "/locks/api/audit?key=import").await.json();
    assert_eq!(
        outcomes(&json),
        [("import", "freed"), ("import", "intended")].map(owned)
    );
    assert_eq!(
        (&json["entries"][0]["by"], &json["entries"][0]["action"]),
        (&"ann@ops-1".into(), &"revoke".into())
    );

    let page = get(&service, "/locks/audit?key=export").await;
    page.has("ann@ops-1");
    page.has("stuck &lt;import&gt;");
    page.has("export");
    page.has_not(">import<");
}

#[tokio::test]
async fn audit_is_bounded() {
    let server = RedisServer::start();
    let script = "for i = 1, 1000 do
        redis.call('XADD', KEYS[1], i .. '-1', 'operation', i, 'by', 'ann', 'user', 'ops', 'action', 'revoke',
            'key', 'order:' .. i, 'token', i, 'label', 'x', 'reason', 'y', 'outcome', 'freed')
    end";
    harness::ask::<()>(
        &mut server.connection(),
        &["EVAL", script, "1", "{lock:}:audit"],
    );
    let service = service(lock_web::router(client(server.url())));
    let json = get(&service, "/locks/api/audit").await.json();
    let lines = json["entries"].as_array().unwrap();
    assert_eq!((lines.len(), &json["more"]), (200, &true.into()));
    assert_eq!(
        (&lines[0]["key"], &lines[199]["key"]),
        (&"order:1000".into(), &"order:801".into())
    );
}
