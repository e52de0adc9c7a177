//! The server's life: data kept and lost, pauses, the recording.

use std::time::Duration;

use harness::RedisServer;

fn set(server: &RedisServer) {
    redis::cmd("SET")
        .arg("key")
        .arg("value")
        .exec(&mut server.connection())
        .unwrap();
}

fn get(server: &RedisServer) -> Option<String> {
    redis::cmd("GET")
        .arg("key")
        .query(&mut server.connection())
        .unwrap()
}

#[test]
fn a_durable_server_keeps_its_data() {
    let mut server = RedisServer::builder().durable().start();
    let port = server.port();
    set(&server);
    server.restart();
    assert_eq!(
        (server.port(), get(&server).as_deref()),
        (port, Some("value"))
    );
    server.restart_empty();
    assert_eq!(get(&server), None);
}

#[test]
fn a_server_without_persistence_loses_its_data() {
    let mut server = RedisServer::start();
    set(&server);
    server.restart();
    assert_eq!(get(&server), None);
}

#[test]
fn a_server_that_loads_says_so() {
    let mut server = RedisServer::builder()
        .config("loading-process-events-interval-bytes", "1024")
        // µs per key.
        .config("key-load-delay", "500")
        .start();
    let fill = "for n = 1, 2000 do redis.call('SET', n, n) end";
    redis::cmd("EVAL")
        .arg(fill)
        .arg(0)
        .exec(&mut server.connection())
        .unwrap();
    redis::cmd("SAVE").exec(&mut server.connection()).unwrap();
    server.restart_loading();
    let error = redis::cmd("GET")
        .arg("1")
        .exec(&mut server.connection())
        .unwrap_err();
    assert_eq!(error.code(), Some("LOADING"), "{error}");
}

#[test]
fn a_paused_server_is_silent_and_goes_on() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    server.pause();
    connection
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    redis::cmd("PING").exec(&mut connection).unwrap_err();
    server.resume();
    set(&server);
    assert_eq!(get(&server).as_deref(), Some("value"));
}

#[test]
fn a_killed_server_refuses_connections() {
    let mut server = RedisServer::start();
    server.kill9();
    let client = redis::Client::open(server.url()).unwrap();
    assert!(client.get_connection().is_err());
    server.restart();
    assert_eq!(get(&server), None);
}

#[test]
fn the_recording_has_what_clients_send_and_not_what_scripts_do() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let mut monitor = server.monitor();
    set(&server);
    redis::cmd("EVAL")
        .arg("redis.call('GET', 'key')")
        .arg(0)
        .exec(&mut connection)
        .unwrap();
    let names: Vec<_> = monitor
        .take()
        .into_iter()
        .map(|command| command.name)
        .collect();
    // The first commands of a harness connection.
    let opening = ["AUTH", "CLIENT"];
    let own: Vec<_> = names
        .iter()
        .filter(|name| !opening.contains(&name.as_str()))
        .collect();
    assert_eq!(own, ["SET", "EVAL"]);
    assert_eq!(monitor.take(), []);
}

#[test]
fn settings_change() {
    let server = RedisServer::builder()
        .config("maxmemory-policy", "noeviction")
        .start();
    server.config_set("maxmemory", "1");
    let set = redis::cmd("SET")
        .arg("key")
        .arg("value")
        .exec(&mut server.connection());
    assert_eq!(set.unwrap_err().code(), Some("OOM"));
}
