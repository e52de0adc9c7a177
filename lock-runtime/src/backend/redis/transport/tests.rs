//! Against a peer that answers when it is told to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle, spawn};

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::super::blocking::block_on;
use super::super::codec;
use super::super::command::{self, Argument};
use super::*;

/// A transport and its peer.
fn connected(on_event: OnEvent) -> (Arc<Transport>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_nonblocking(true).unwrap();
    let background = Background::get().unwrap();
    let transport = Transport::start(Socket::Tcp(stream), None, background, false, on_event);
    (transport.unwrap(), listener.accept().unwrap().0)
}

fn deaf() -> OnEvent {
    Box::new(|_| {})
}

fn ping(text: &str) -> impl FnOnce(&mut Vec<u8>) {
    move |output| command::write(output, &[Argument::Text("PING"), Argument::Text(text)])
}

/// Far more than two sockets take.
fn large(output: &mut Vec<u8>) {
    ping(&"x".repeat(16 << 20))(output);
}

/// Answers each PING with what it says, after a message, until the connection ends.
fn echo(mut peer: TcpStream) -> JoinHandle<()> {
    spawn(move || {
        let (mut input, mut chunk) = (Vec::new(), vec![0; 65_536]);
        while let Ok(count @ 1..) = peer.read(&mut chunk) {
            input.extend_from_slice(&chunk[..count]);
            let mut output = Vec::new();
            while let Ok(Some((command, length))) = codec::decode(&input) {
                input.drain(..length);
                let Value::Array(words) = command else {
                    panic!("not a command")
                };
                let [_, Value::BulkString(text)] = &words[..] else {
                    panic!("not a PING with a text")
                };
                output.extend_from_slice(b">3\r\n+message\r\n$1\r\nc\r\n$4\r\ntext\r\n");
                output.extend_from_slice(format!("${}\r\n", text.len()).as_bytes());
                output.extend_from_slice(text);
                output.extend_from_slice(b"\r\n");
            }
            if peer.write_all(&output).is_err() {
                return;
            }
        }
    })
}

async fn echoes(transport: Arc<Transport>, first: u64) {
    for number in first..first + 200 {
        let text = number.to_string();
        let others = |output: &mut Vec<u8>| {
            ping("a")(output);
            ping("b")(output);
        };
        let (one, many) = (transport.send(ping(&text)), transport.send_all(2, others));
        let bulk = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        assert_eq!(one.await.unwrap().unwrap(), bulk(&text));
        let many = many.await.unwrap().unwrap();
        assert_eq!(many, [bulk("a"), bulk("b")]);
    }
}

#[test]
fn answers_go_to_those_who_asked_wherever_they_are() {
    let (messages, heard) = mpsc::channel();
    let on_event = move |event: Event<'_>| {
        if let Event::Message(b"text") = event {
            messages.send(()).unwrap();
        }
    };
    let (transport, peer) = connected(Box::new(on_event));
    let peer = echo(peer);
    let mut senders = Vec::new();
    for round in 0..2 {
        let first = move |kind: u64| kind * 10_000 + round * 1_000;
        let (one, other, third) = (transport.clone(), transport.clone(), transport.clone());
        senders.push(spawn(move || block_on(echoes(one, first(1)))));
        senders.push(spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(echoes(other, first(2)));
        }));
        senders.push(spawn(move || {
            let mut builder = Builder::new_multi_thread();
            let runtime = builder.worker_threads(2).enable_all().build().unwrap();
            let there: Vec<_> = (0..4)
                .map(|task| runtime.spawn(echoes(third.clone(), first(3) + task * 200)))
                .collect();
            for task in there {
                runtime.block_on(task).unwrap();
            }
        }));
        let background = transport
            .background
            .spawn(echoes(transport.clone(), first(4)));
        senders.push(spawn(move || block_on(background.unwrap()).unwrap()));
    }
    for sender in senders {
        sender.join().unwrap();
    }
    transport.close("it is over");
    peer.join().unwrap();
    assert_eq!(heard.try_iter().count(), 2 * 7 * 200 * 3);
}

#[test]
fn what_does_not_fit_is_written_when_there_is_room() {
    for is_inside in [false, true] {
        let (transport, peer) = connected(deaf());
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let inside = is_inside.then(|| runtime.enter());
        let (one, other) = (transport.send(large), transport.send(ping("x")));
        drop(inside);
        assert!(transport.io().pipe.is_full());
        let peer = answer_after(peer);
        // Nobody polls the runtime.
        assert_eq!(block_on(one).unwrap().unwrap(), Value::Int(1));
        assert_eq!(block_on(other).unwrap().unwrap(), Value::Int(2));
        transport.close("it is over");
        peer.join().unwrap();
    }
}

/// Gives two answers once all has come.
fn answer_after(mut peer: TcpStream) -> JoinHandle<()> {
    spawn(move || {
        let mut all = Vec::new();
        let mut end = Vec::new();
        ping("x")(&mut end);
        let mut chunk = vec![0; 1 << 20];
        while !all.ends_with(&end) {
            let count = peer.read(&mut chunk).unwrap();
            all.extend_from_slice(&chunk[..count]);
            assert!(count > 0, "it has ended");
        }
        peer.write_all(b":1\r\n:2\r\n").unwrap();
        let _ = peer.read(&mut chunk);
    })
}

#[test]
fn a_command_of_which_nothing_was_written_is_known_to_be_unsent() {
    let (transport, peer) = connected(deaf());
    let (one, other) = (transport.send(large), transport.send(ping("x")));
    drop(peer);
    assert!(!block_on(one).unwrap().unwrap_err().unsent);
    assert!(block_on(other).unwrap().unwrap_err().unsent);
    let late = transport.send(ping("x"));
    assert!(block_on(late).unwrap().unwrap_err().unsent);
}

/// The background does not look, and neither does anybody else before something is sent.
#[test]
fn an_idle_connection_whose_server_is_gone_is_not_written_to() {
    let (transport, peer) = connected(deaf());
    let (go_on, told) = mpsc::channel::<()>();
    let (blocks, blocked) = mpsc::channel();
    transport.background.spawn(async move {
        blocks.send(()).unwrap();
        let _ = told.recv();
    });
    blocked.recv().unwrap();
    drop(peer);
    let started = Instant::now();
    while started.elapsed() < 10 * IDLE {
        thread::yield_now();
    }
    let answer = transport.send(ping("x"));
    drop(go_on);
    assert!(block_on(answer).unwrap().unwrap_err().unsent);
}

#[test]
fn a_connection_ends_that_says_what_it_was_not_asked() {
    for garbage in ["+OK\r\n", "HTTP/1.1 400 Bad Request\r\n"] {
        let (ended, end) = mpsc::channel();
        let on_event = move |event: Event<'_>| {
            if let Event::End = event {
                ended.send(()).unwrap();
            }
        };
        let (transport, mut peer) = connected(Box::new(on_event));
        peer.write_all(garbage.as_bytes()).unwrap();
        end.recv().unwrap();
        assert!(transport.io().ended.is_some());
    }
}

#[test]
fn a_listener_that_panics_takes_no_answer_with_it() {
    let panics = |event: Event<'_>| {
        if let Event::Message(_) = event {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    };
    let (transport, peer) = connected(Box::new(panics));
    let peer = echo(peer);
    block_on(echoes(transport.clone(), 0));
    transport.close("it is over");
    peer.join().unwrap();
}

/// Asks, and waits for the answer in this thread.
fn pong(transport: &Arc<Transport>) {
    block_on(async {
        let pong = transport.send(ping("x")).await.unwrap().unwrap();
        assert_eq!(pong, Value::BulkString(b"x".to_vec()));
    });
}

#[test]
fn a_thread_that_blocks_reads_its_answer_itself() {
    for is_inside in [false, true] {
        let (transport, peer) = connected(deaf());
        let peer = echo(peer);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let inside = is_inside.then(|| runtime.enter());
        for _ in 0..100 {
            pong(&transport);
        }
        drop(inside);
        assert_eq!(transport.background_reads(), None);
        transport.close("it is over");
        peer.join().unwrap();
    }
}

#[test]
fn a_thread_that_blocks_hears_of_messages_itself() {
    let (told, hears) = mpsc::channel();
    let (go_on, goes_on) = oneshot::channel();
    let go_on = Mutex::new(Some(go_on));
    let on_event = move |event: Event<'_>| {
        if let Event::Message(b"second") = event {
            told.send(thread::current().id()).unwrap();
            go_on.lock().unwrap().take().unwrap().send(()).unwrap();
        }
    };
    let (transport, mut peer) = connected(Box::new(on_event));
    let (waits, is_waiting) = mpsc::channel();
    // The background does not look, unless this fails.
    let (blocks, blocked) = mpsc::channel();
    let (relieve, relieved) = mpsc::channel::<()>();
    transport.background.spawn(async move {
        blocks.send(()).unwrap();
        let _ = relieved.recv_timeout(Duration::from_secs(20));
    });
    blocked.recv().unwrap();
    let peer = spawn(move || {
        let mut chunk = [0; 1024];
        assert!(peer.read(&mut chunk).unwrap() > 0);
        peer.write_all(b":1\r\n").unwrap();
        is_waiting.recv().unwrap();
        let message = b">3\r\n+message\r\n$1\r\nc\r\n$6\r\nsecond\r\n";
        peer.write_all(message).unwrap();
        peer
    });
    block_on(async {
        transport.send(ping("x")).await.unwrap().unwrap();
        waits.send(()).unwrap();
        goes_on.await.unwrap();
    });
    drop(relieve);
    assert_eq!(hears.recv().unwrap(), thread::current().id());
    transport.close("it is over");
    drop(peer.join().unwrap());
}

/// A thread that reads, and has nothing to wait for but this.
fn reads_until(transport: &Arc<Transport>, goes_on: oneshot::Receiver<()>) -> JoinHandle<()> {
    let (waits, is_waiting) = mpsc::channel();
    let reader = {
        let transport = transport.clone();
        spawn(move || {
            block_on(async {
                transport.send(ping("x")).await.unwrap().unwrap();
                waits.send(()).unwrap();
                goes_on.await.unwrap();
            });
        })
    };
    is_waiting.recv().unwrap();
    while !transport.io().threads.are_led() {
        thread::yield_now();
    }
    reader
}

#[test]
fn a_thread_that_reads_is_woken_by_others() {
    let (transport, peer) = connected(deaf());
    let peer = echo(peer);
    let (go_on, goes_on) = oneshot::channel();
    let reader = reads_until(&transport, goes_on);
    go_on.send(()).unwrap();
    reader.join().unwrap();
    transport.close("it is over");
    peer.join().unwrap();
}

#[test]
fn a_thread_that_ceases_to_read_leaves_that_to_the_background() {
    let (transport, peer) = connected(deaf());
    let peer = echo(peer);
    let (go_on, goes_on) = oneshot::channel();
    let other = reads_until(&transport, goes_on);
    // This one finds that the other one reads, and the background reads for both.
    pong(&transport);
    assert!(transport.background_reads().is_some());
    // What is left to one of the two is the background's again once the other one goes.
    transport.io().background_reads = false;
    block_on(async {
        assert!(super::super::blocking::sends_on(&transport));
    });
    assert!(transport.background_reads().is_some());
    go_on.send(()).unwrap();
    other.join().unwrap();
    transport.close("it is over");
    peer.join().unwrap();
}

#[test]
fn a_thread_that_reads_is_told_of_the_end() {
    let (transport, mut peer) = connected(deaf());
    let reader = {
        let transport = transport.clone();
        spawn(move || {
            let answer = block_on(async { transport.send(ping("x")).await });
            answer.unwrap().unwrap_err()
        })
    };
    let mut chunk = [0; 1024];
    assert!(peer.read(&mut chunk).unwrap() > 0);
    while !transport.io().threads.are_led() {
        thread::yield_now();
    }
    transport.close("it is over");
    assert!(!reader.join().unwrap().unsent);
    assert!(transport.lead().is_none());
}

#[test]
fn what_a_thread_does_not_wait_for_is_left_to_the_background() {
    let (transport, peer) = connected(deaf());
    block_on(async { drop(transport.send(ping("x"))) });
    assert!(transport.background_reads().is_some());
    transport.close("it is over");
    drop(peer);
}

#[test]
fn where_threads_cannot_wait_for_the_socket_none_tries_again() {
    let (transport, peer) = connected(deaf());
    let peer = echo(peer);
    pong(&transport);
    assert!(transport.lead().is_some());
    transport.stop_leading(false);
    pong(&transport);
    assert!(transport.background_reads().is_some());
    assert!(transport.lead().is_none());
    transport.close("it is over");
    peer.join().unwrap();
}

/// Nobody reads: the background was told to leave that to others.
#[test]
fn a_thread_that_was_busy_hears_of_what_has_come_meanwhile() {
    let (told, hears) = mpsc::channel();
    let on_event = move |event: Event<'_>| {
        if let Event::Message(b"second") = event {
            told.send(thread::current().id()).unwrap();
        }
    };
    let (transport, mut peer) = connected(Box::new(on_event));
    let (blocks, blocked) = mpsc::channel();
    let (go_on, told_to) = mpsc::channel::<()>();
    transport.background.spawn(async move {
        blocks.send(()).unwrap();
        let _ = told_to.recv();
    });
    blocked.recv().unwrap();
    let message = b">3\r\n+message\r\n$1\r\nc\r\n$6\r\nsecond\r\n";
    peer.write_all(message).unwrap();
    let heard_by = loop {
        transport.read_messages();
        if let Ok(thread) = hears.try_recv() {
            break thread;
        }
    };
    assert_eq!(heard_by, thread::current().id());
    drop(go_on);
    transport.close("it is over");
}

#[test]
fn messages_are_read_for_a_thread_that_has_gone() {
    let (transport, peer) = connected(deaf());
    let peer = echo(peer);
    pong(&transport);
    assert!(transport.background_reads().is_none());
    transport.keep_reading_messages();
    assert!(transport.background_reads().is_some());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(async { transport.send(ping("x")).await });
    assert!(answer.unwrap().is_ok());
    // The runtime reads.
    transport.io().background_reads = false;
    transport.keep_reading_messages();
    assert!(transport.background_reads().is_none());
    transport.close("it is over");
    peer.join().unwrap();
}

#[test]
fn those_who_read_leave_waiting_for_room_to_the_background() {
    let (transport, peer) = connected(deaf());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let inside = runtime.enter();
    let _answers = (transport.send(ping("x")), transport.send(large));
    drop(inside);
    // Where this thread was kept waiting, the background has looked, and reads.
    transport.io().background_reads = false;
    transport.flush(Reads::Thread);
    assert_eq!(transport.background_reads(), Some(true));
    transport.close("it is over");
    drop(peer);
}
