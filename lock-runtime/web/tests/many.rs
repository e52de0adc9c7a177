//! Many locks, and few locks among many other keys. A binary of its own, since the memory of the process is measured.

use std::fs;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use harness::{RedisServer, ask, client};
use redis::Connection;
use serde_json::Value;
use tower::ServiceExt;

const LOCKS: usize = 100_000;

/// How much the process may grow from the first pages to the last (kB). The states of all locks take five times as
/// much.
const GROWTH: u64 = 8 * 1024;

/// Writes locks and their fences, as if other clients held them.
fn write_locks(connection: &mut Connection, count: usize) {
    let script = "for i = ARGV[1], ARGV[2] do
        local owner = string.format('%022d', i)
        redis.call('SET', 'lock:order:' .. i, owner .. ' 0000000000000016 api-7 (pid 4121) ship', 'PX', 600000)
        redis.call('SET', '{lock:order:' .. i .. '}:f', '0000000000000016')
    end";
    write(connection, script, count);
}

/// Writes keys that are not locks.
fn write_others(connection: &mut Connection, count: usize) {
    let script = "for i = ARGV[1], ARGV[2] do redis.call('SET', 'other:' .. i, 'x') end";
    write(connection, script, count);
}

fn write(connection: &mut Connection, script: &str, count: usize) {
    const BATCH: usize = 10_000;
    for first in (0..count).step_by(BATCH) {
        let (first, last) = (first.to_string(), (first + BATCH).min(count) - 1);
        ask::<()>(
            connection,
            &["EVAL", script, "0", &first, &last.to_string()],
        );
    }
}

/// How often the server has run a command; all commands for an empty name.
fn calls(connection: &mut Connection, command: &str) -> usize {
    let stats: String = ask(connection, &["INFO", "commandstats"]);
    let begin = format!("cmdstat_{command}");
    let lines = stats.lines().filter(|line| line.starts_with(&begin));
    let calls = lines.filter_map(|line| line.split_once("calls=")?.1.split(',').next());
    calls
        .map(|calls| calls.parse::<usize>().expect("a number"))
        .sum()
}

async fn body(service: &Router, address: &str) -> Vec<u8> {
    let request = Request::get(address).body(Body::empty()).unwrap();
    let response = service.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{address}");
    to_bytes(response.into_body(), usize::MAX)
        .await
        .unwrap()
        .to_vec()
}

/// The address of the next page.
fn next(part: &Value) -> Option<String> {
    let from: String = form_urlencoded::byte_serialize(part["next"].as_str()?.as_bytes()).collect();
    Some(format!("/api/locks?from={from}"))
}

/// The peak memory of this process (kB).
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel reports it");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|most| most.trim().split(' ').next()?.parse().ok());
    most.expect("a number")
}

#[tokio::test]
async fn every_lock_is_on_a_page_and_each_page_reads_few() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    write_locks(connection, LOCKS);
    let service = lock_web::router(client(server.url()));
    let (mut is_shown, mut address) = (vec![false; LOCKS], Some("/api/locks".to_owned()));
    let (mut parts, mut memory) = (0, 0);
    while let Some(asked) = address {
        let before = calls(connection, "");
        let part: Value = serde_json::from_slice(&body(&service, &asked).await).unwrap();
        let commands = calls(connection, "") - before;
        let locks = part["locks"].as_array().unwrap();
        // Four for each of 100 to 300 locks.
        assert!(commands <= 2_000, "{commands} commands for {asked}");
        assert!(locks.len() <= 400, "{} locks on a page", locks.len());
        for lock in locks {
            let key = lock["key"].as_str().unwrap();
            let number: usize = key.strip_prefix("order:").unwrap().parse().unwrap();
            is_shown[number] = true;
        }
        if parts % 100 == 0 {
            let page = body(&service, &asked.replace("/api/locks", "/")).await;
            assert!(page.len() < 400_000, "{} bytes of a page", page.len());
        }
        address = next(&part);
        parts += 1;
        if parts == 20 {
            memory = most_memory();
        }
    }
    let missing = is_shown.iter().filter(|shown| !**shown).count();
    assert_eq!(missing, 0, "locks that are on no page");
    assert!(parts >= LOCKS / 400, "{parts} parts");
    let growth = most_memory() - memory;
    println!("{parts} parts, {growth} kB");
    assert!(growth <= GROWTH, "{growth} kB more after all pages");
}

#[tokio::test]
async fn few_locks_among_many_keys_are_found_in_bounded_steps() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    write_others(connection, 100_000);
    write_locks(connection, 3);
    let service = lock_web::router(client(server.url()));
    let (mut keys, mut parts) = (Vec::new(), 0);
    let mut address = Some("/api/locks".to_owned());
    while let Some(asked) = address {
        let before = calls(connection, "scan");
        let part: Value = serde_json::from_slice(&body(&service, &asked).await).unwrap();
        let looks = calls(connection, "scan") - before;
        assert!(looks <= 100, "{looks} scans for {asked}");
        let locks = part["locks"].as_array().unwrap().iter();
        keys.extend(locks.map(|lock| lock["key"].as_str().unwrap().to_owned()));
        address = next(&part);
        parts += 1;
    }
    keys.sort();
    assert_eq!(keys, ["order:0", "order:1", "order:2"]);
    assert!(parts >= 4, "{parts} parts");
}

#[tokio::test]
async fn filtered_locks_are_read_in_bounded_steps() {
    let server = RedisServer::start();
    let connection = &mut server.connection();
    write_locks(connection, 10_000);
    let service = lock_web::router(client(server.url()));
    let before = calls(connection, "pttl");
    let part: Value =
        serde_json::from_slice(&body(&service, "/api/locks?holder=ann").await).unwrap();
    let looked = calls(connection, "pttl") - before;
    assert!(looked <= 2_400, "{looked} locks");
    assert!(part["locks"].as_array().unwrap().is_empty());
    assert!(part["next"].is_string(), "{part}");
    let page = body(&service, "/?holder=ann").await;
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("There are more keys to read."), "{page}");
    assert!(page.contains("Next page"), "{page}");
}
