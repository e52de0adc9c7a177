//! `lockctl doctor` on servers that are unfit in less common ways.

use std::fs;
use std::time::Duration;

use harness::{
    Authority, LONG, RedisCluster, RedisServer, TlsServer, ask, client, sentinel_of, sentinel_url,
    wait_until, write_file,
};
use redis::Value as Reply;
use tempfile::TempDir;

use crate::doctor::{complains_of, fit, told};
use crate::many::calls;
use crate::{Running, done, lockctl, text};

#[tokio::test]
async fn fence_that_is_ahead_of_the_clock_fails_although_no_lock_is_held() {
    let server = RedisServer::builder().durable().own_clock().start();
    server.forward(Duration::from_secs(3600));
    let lock = client(server.admin_url()).lock("import").fenced();
    let guard = lock.acquire().await;
    guard.unwrap().release().await.unwrap();
    server.back(Duration::from_secs(3600));
    complains_of(&server, "tokens", "fail");
}

#[test]
fn slot_without_a_node_fails_although_the_cluster_reports_ok() {
    let cluster = RedisCluster::with(3, 0);
    for number in 0..3 {
        let set = ["CONFIG", "SET", "cluster-require-full-coverage", "no"];
        cluster.ask::<()>(number, &set);
    }
    let verdict = || {
        let (said, code) = told(&cluster.nodes[0], &cluster.url());
        let slots: Vec<_> = said
            .iter()
            .filter(|finding| finding["check"] == "slots" && finding["verdict"] == "fail")
            .collect();
        (slots.len(), code)
    };
    assert_eq!(verdict().0, 0);
    let slot = cluster.slot("lock:none").to_string();
    let owner = cluster.first_owner("lock:none");
    cluster.ask::<()>(owner, &["CLUSTER", "DELSLOTS", &slot]);
    let state: String = cluster.ask(owner, &["CLUSTER", "INFO"]);
    assert!(state.contains("cluster_state:ok"), "{state}");
    let (slots, code) = verdict();
    assert!(slots >= 1);
    assert_eq!(code, Some(1));
}

#[test]
fn few_locks_among_many_keys_are_not_searched_for() {
    let server = fit();
    let connection = &mut server.connection();
    let fill = "for number = 1, 50000 do redis.call('SET', 'user:' .. number, 'x') end";
    ask::<()>(connection, &["EVAL", fill, "0"]);
    let output = lockctl(&server, &["doctor", "--sample", "10"])
        .env("LOCK_URL", server.admin_url())
        .output()
        .unwrap();
    let said = text(&output.stdout);
    assert!(
        said.contains("0 examined, among a part of the keys"),
        "{said}"
    );
    // It scans a thousand keys for locks, and a thousand for fences.
    let pages = calls(connection, "scan");
    assert!(pages <= 10, "{pages} pages");
}

#[test]
fn lock_of_redisson_is_distinguished_from_other_keys() {
    let server = fit();
    let url = server.admin_url();
    let mut holding = Running::start({
        let arguments = ["hold", "lock:import", "--for", "10m", "--reason", "test"];
        let mut command = lockctl(&server, &arguments);
        command
            .args(["--record", "redisson", "--prefix", ""])
            .env("LOCK_URL", &url);
        command
    });
    holding.lines().next().expect("it is held");
    complains_of(&server, "redisson", "warn");
    ask::<i64>(
        &mut server.connection(),
        &["HSET", "lock:user", "name", "Ann"],
    );
    let (said, code) = told(&server, &url);
    let verdict = |check: &str| {
        let found = said.iter().find(|finding| finding["check"] == check);
        found.map(|finding| finding["verdict"].clone())
    };
    assert_eq!(verdict("redisson"), Some("warn".into()));
    assert_eq!((verdict("type"), code), (Some("fail".into()), Some(1)));
}

#[test]
fn evicted_keys_are_warned_about() {
    let server = fit();
    let connection = &mut server.connection();
    server.config_set("maxmemory-policy", "allkeys-lru");
    server.config_set("maxmemory", "1");
    let _: redis::RedisResult<()> = redis::cmd("SET").arg("user:1").arg("x").query(connection);
    server.config_set("maxmemory", "0");
    ask::<()>(connection, &["SET", "user:2", "x"]);
    server.config_set("maxmemory", "1");
    let _: redis::RedisResult<()> = redis::cmd("SET").arg("user:3").arg("x").query(connection);
    server.config_set("maxmemory", "0");
    server.config_set("maxmemory-policy", "noeviction");
    complains_of(&server, "memory", "warn");
}

#[test]
fn server_that_cannot_write_its_data_fails() {
    let server = fit();
    let connection = &mut server.connection();
    let folder: Vec<String> = ask(connection, &["CONFIG", "GET", "dir"]);
    // A file cannot replace a folder.
    fs::create_dir_all(format!("{}/dump.rdb/in-the-way", folder[1])).unwrap();
    let _: redis::RedisResult<Reply> = redis::cmd("SAVE").query(connection);
    let _: redis::RedisResult<Reply> = redis::cmd("BGSAVE").query(connection);
    wait_until("failed save", LONG, || {
        let info: String = ask(connection, &["INFO", "persistence"]);
        info.contains("rdb_last_bgsave_status:err")
    });
    complains_of(&server, "disk", "fail");
}

#[test]
fn slow_scripts_are_warned_about() {
    let server = fit();
    let connection = &mut server.connection();
    let slow = "local sum = 0; for number = 1, 5000000 do sum = sum + number end; return sum";
    let id: String = ask(connection, &["SCRIPT", "LOAD", slow]);
    ask::<i64>(connection, &["EVALSHA", &id, "0"]);
    complains_of(&server, "scripts", "warn");
}

#[test]
fn url_that_leads_to_sentinels_by_mistake_fails() {
    let server = fit();
    let sentinel = sentinel_of(&server, 1);
    let wrong_name = format!("{}-2", sentinel_url(&[&sentinel]));
    for url in [sentinel.url(), wrong_name] {
        let (said, code) = told(&server, &url);
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0]["check"], "reachable");
        assert_eq!(said[0]["verdict"], "fail");
        assert!(
            said[0]["reason"].as_str().unwrap().contains("entinel"),
            "{said:?}"
        );
        assert!(matches!(code, Some(3 | 4)), "{code:?}");
    }
}

#[test]
fn files_of_certificates_lead_to_a_server_with_tls() {
    let authority = Authority::new();
    let server = TlsServer::start(&authority);
    server.ask_for_certificates(true);
    let folder = TempDir::new().unwrap();
    let identity = authority.local();
    let file = |name: &str, text: &str| {
        let path = write_file(folder.path(), name, text);
        path.into_os_string().into_string().unwrap()
    };
    let ca = file("ca.pem", &authority.pem());
    let certificate = file("certificate.pem", &identity.certificate);
    let key = file("key.pem", &identity.key);
    let list = |more: &[&str]| {
        let url = server.url();
        let output = done(server.plain(), &[&["list", "--url", &url], more].concat());
        (output.status.code(), text(&output.stderr))
    };
    let all = [
        "--ca-file",
        &ca,
        "--cert-file",
        &certificate,
        "--key-file",
        &key,
    ];
    assert_eq!(list(&all), (Some(0), String::new()));
    // Without one of the files.
    assert_ne!(list(&all[2..]).0, Some(0));
    assert_ne!(list(&all[..2]).0, Some(0));
    assert_eq!(list(&all[..4]).0, Some(2));
}
