//! The proxy's faults, each seen from both sides.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use harness::{Mode, PATIENCE, Proxy, RedisServer, ask, server_and_proxy, wait_until};
use redis::{Connection, RedisResult};

const SHORT: Duration = Duration::from_millis(100);

fn start() -> (RedisServer, Proxy, Connection) {
    let (server, proxy) = server_and_proxy();
    let connection = connect(&proxy).unwrap();
    (server, proxy, connection)
}

fn connect(proxy: &Proxy) -> RedisResult<Connection> {
    let connection = redis::Client::open(proxy.url())?.get_connection_with_timeout(PATIENCE)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    Ok(connection)
}

fn incr(connection: &mut Connection) -> RedisResult<i64> {
    redis::cmd("INCR").arg("n").query(connection)
}

/// The counter on the server, read past the proxy.
fn counter(server: &RedisServer) -> i64 {
    let n: Option<i64> = ask(&mut server.connection(), &["GET", "n"]);
    n.unwrap_or(0)
}

#[test]
fn a_cut_request_is_not_applied() {
    let (server, proxy, mut connection) = start();
    proxy.cut_next_request("INCR");
    redis::cmd("PING").exec(&mut connection).unwrap();
    incr(&mut connection).unwrap_err();
    assert_eq!((counter(&server), proxy.cuts()), (0, 1));
    // Once only.
    assert_eq!(incr(&mut connect(&proxy).unwrap()).unwrap(), 1);
}

#[test]
fn a_cut_reply_is_applied() {
    let (server, proxy, mut connection) = start();
    for n in 1..=20 {
        proxy.cut_next_reply("INCR");
        redis::cmd("PING").exec(&mut connection).unwrap();
        incr(&mut connection).unwrap_err();
        assert_eq!((counter(&server), proxy.cuts()), (n, n as usize));
        connection = connect(&proxy).unwrap();
    }
    assert_eq!(incr(&mut connection).unwrap(), 21);
}

#[test]
fn a_held_request_arrives_after_its_sender_is_gone() {
    let (server, proxy, mut connection) = start();
    proxy.requests(Mode::Hold);
    connection.set_read_timeout(Some(SHORT)).unwrap();
    incr(&mut connection).unwrap_err();
    drop(connection);
    assert_eq!(counter(&server), 0);
    proxy.heal();
    wait_until("late request", PATIENCE, || counter(&server) == 1);
}

#[test]
fn killing_the_connections_loses_held_requests() {
    let (server, proxy, mut connection) = start();
    proxy.black_hole();
    connection.set_read_timeout(Some(SHORT)).unwrap();
    incr(&mut connection).unwrap_err();
    proxy.kill_connections();
    proxy.heal();
    // The server has seen the end of the connection, so no request is on its way.
    wait_until("closed connection", PATIENCE, || clients(&server) == 1);
    assert_eq!(counter(&server), 0);
    incr(&mut connection).unwrap_err();
    assert_eq!(incr(&mut connect(&proxy).unwrap()).unwrap(), 1);
}

#[test]
fn a_half_open_connection_takes_requests_and_answers_nothing() {
    let (server, proxy, mut connection) = start();
    incr(&mut connection).unwrap();
    proxy.half_open();
    wait_until("closed connection", PATIENCE, || clients(&server) == 1);
    connection.set_read_timeout(Some(SHORT)).unwrap();
    let error = incr(&mut connection).unwrap_err();
    assert!(error.is_timeout(), "it got an answer: {error}");
    assert_eq!(counter(&server), 1);
    assert_eq!(incr(&mut connect(&proxy).unwrap()).unwrap(), 2);
}

/// The number of the server's clients, including the asking one.
fn clients(server: &RedisServer) -> usize {
    let list: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    list.lines().count()
}

/// A peer of a bus: its first bytes hold its id where a node of a cluster puts it.
fn peer(proxy: &Proxy, letter: u8) -> TcpStream {
    let mut peer = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
    peer.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(echoed(&mut peer, &[&[0; 40][..], &[letter; 40]].concat()));
    peer
}

/// Returns whether bytes come back.
fn echoed(peer: &mut TcpStream, bytes: &[u8]) -> bool {
    peer.write_all(bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    peer.read_exact(&mut back).is_ok() && back == bytes
}

#[test]
fn links_of_one_node_are_held_until_the_proxy_is_healed() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let proxy = Proxy::start(listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for link in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || io::copy(&mut &link, &mut &link));
        }
    });
    let (mut held, mut other) = (peer(&proxy, b'a'), peer(&proxy, b'b'));
    proxy.hold_node(&"a".repeat(40));
    assert!(echoed(&mut other, b"passes"));
    held.set_read_timeout(Some(SHORT)).unwrap();
    assert!(!echoed(&mut held, b"later"));
    proxy.heal();
    held.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut back = [0; 5];
    held.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"later");
}
