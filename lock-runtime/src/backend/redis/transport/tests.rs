//! Tests a transport against a scripted peer.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, mpsc};
use std::thread::{self, JoinHandle, spawn};
use std::time::Duration;

use tokio::io::Interest;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::super::decoder;
use super::super::encoder::{self, Argument};
use super::io::{IDLE, ReadBy};
use super::*;

const MESSAGE: &[u8] = b">3\r\n+message\r\n$1\r\nc\r\n$4\r\ntext\r\n";

/// Creates a transport and its peer.
fn connected(on_event: OnTransportEvent) -> (Arc<Transport>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_nonblocking(true).unwrap();
    let background = Background::get().unwrap();
    let transport = Transport::start(Socket::Tcp(stream), None, background, false, on_event);
    (transport.unwrap(), listener.accept().unwrap().0)
}

fn ignore_events() -> OnTransportEvent {
    Box::new(|_| {})
}

/// Creates a handler of messages that sends the id of its thread for each.
fn report_messages() -> (OnTransportEvent, mpsc::Receiver<thread::ThreadId>) {
    let (sender, handled_by) = mpsc::channel();
    let on_event = move |event: TransportEvent<'_>| {
        if let TransportEvent::Message {
            payload: b"text", ..
        } = event
        {
            sender.send(thread::current().id()).unwrap();
        }
    };
    (Box::new(on_event), handled_by)
}

/// Blocks the background until the returned value is dropped, or for 20 s.
fn block_background(transport: &Transport) -> mpsc::Sender<()> {
    let (is_blocked, blocked) = mpsc::channel();
    let (unblock, unblocked) = mpsc::channel();
    transport.background.spawn(async move {
        is_blocked.send(()).unwrap();
        let _ = unblocked.recv_timeout(Duration::from_secs(20));
    });
    blocked.recv().unwrap();
    unblock
}

fn current_thread_runtime() -> tokio::runtime::Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn ping(text: &str) -> impl Fn(&mut Vec<u8>) + Sync {
    move |output| encoder::write(output, &[Argument::Text("PING"), Argument::Text(text)])
}

/// Writes far more than fits into the buffers of two sockets.
fn large_ping(output: &mut Vec<u8>) {
    ping(&"x".repeat(16 << 20))(output);
}

/// Answers each PING with its text, after a message, until the connection ends.
fn echo(mut peer: TcpStream) -> JoinHandle<()> {
    spawn(move || {
        let (mut input, mut chunk) = (Vec::new(), vec![0; 65_536]);
        while let Ok(count @ 1..) = peer.read(&mut chunk) {
            input.extend_from_slice(&chunk[..count]);
            let mut output = Vec::new();
            while let Ok(Some((command, length))) = decoder::decode(&input) {
                input.drain(..length);
                let Value::Array(arguments) = command else {
                    panic!("not a command")
                };
                let [_, Value::BulkString(text)] = &arguments[..] else {
                    panic!("not a PING with a text")
                };
                output.extend_from_slice(MESSAGE);
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

/// Sends 200 numbers, one at a time. After each number it sends two commands together.
async fn send_numbers(transport: Arc<Transport>, first: u64) {
    for number in first..first + 200 {
        let text = number.to_string();
        let two_pings = |output: &mut Vec<u8>| {
            ping("a")(output);
            ping("b")(output);
        };
        let one = transport.send(&ping(&text));
        let two = transport.send_all(2, &two_pings);
        let bulk = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        assert_eq!(one.await.unwrap().unwrap(), bulk(&text));
        assert_eq!(two.await.unwrap().unwrap(), [bulk("a"), bulk("b")]);
    }
}

#[test]
fn each_sender_gets_its_answers_on_any_thread_or_runtime() {
    let (on_event, handled_by) = report_messages();
    let (transport, peer) = connected(on_event);
    let peer = echo(peer);
    let mut senders = Vec::new();
    for round in 0..2 {
        let first = move |kind: u64| kind * 10_000 + round * 1_000;
        let [on_thread, on_one, on_two] = [(); 3].map(|()| transport.clone());
        senders.push(spawn(move || block_on(send_numbers(on_thread, first(1)))));
        senders.push(spawn(move || {
            current_thread_runtime().block_on(send_numbers(on_one, first(2)));
        }));
        senders.push(spawn(move || {
            let mut builder = Builder::new_multi_thread();
            let runtime = builder.worker_threads(2).enable_all().build().unwrap();
            let tasks: Vec<_> = (0..4)
                .map(|task| runtime.spawn(send_numbers(on_two.clone(), first(3) + task * 200)))
                .collect();
            for task in tasks {
                runtime.block_on(task).unwrap();
            }
        }));
        let in_background = send_numbers(transport.clone(), first(4));
        let in_background = transport.background.spawn(in_background).unwrap();
        senders.push(spawn(move || block_on(in_background).unwrap()));
    }
    for sender in senders {
        sender.join().unwrap();
    }
    transport.close("the test has ended");
    peer.join().unwrap();
    assert_eq!(handled_by.try_iter().count(), 2 * 7 * 200 * 3);
}

#[test]
fn command_larger_than_the_buffers_is_written_once_there_is_room() {
    for is_in_runtime in [false, true] {
        let (transport, peer) = connected(ignore_events());
        // This runtime is never polled.
        let runtime = current_thread_runtime();
        let entered = is_in_runtime.then(|| runtime.enter());
        let (large, small) = (transport.send(&large_ping), transport.send(&ping("x")));
        drop(entered);
        assert!(transport.lock().is_full());
        let peer = answer_both(peer);
        assert_eq!(block_on(large).unwrap().unwrap(), Value::Int(1));
        assert_eq!(block_on(small).unwrap().unwrap(), Value::Int(2));
        transport.close("the test has ended");
        peer.join().unwrap();
    }
}

/// Answers the two commands once both have arrived.
fn answer_both(mut peer: TcpStream) -> JoinHandle<()> {
    spawn(move || {
        let (mut input, mut last_command) = (Vec::new(), Vec::new());
        ping("x")(&mut last_command);
        let mut chunk = vec![0; 1 << 20];
        while !input.ends_with(&last_command) {
            let count = peer.read(&mut chunk).unwrap();
            input.extend_from_slice(&chunk[..count]);
            assert!(count > 0, "the connection has ended");
        }
        peer.write_all(b":1\r\n:2\r\n").unwrap();
        let _ = peer.read(&mut chunk);
    })
}

#[test]
fn command_of_which_no_byte_was_written_is_unsent() {
    let (transport, peer) = connected(ignore_events());
    let (large, small) = (transport.send(&large_ping), transport.send(&ping("x")));
    drop(peer);
    assert!(!block_on(large).unwrap().unwrap_err().unsent);
    assert!(block_on(small).unwrap().unwrap_err().unsent);
    let late = transport.send(&ping("x"));
    assert!(block_on(late).unwrap().unwrap_err().unsent);
}

/// No reader notices the end of the connection before the command is sent.
#[test]
fn idle_connection_that_the_server_has_closed_is_not_written() {
    let (transport, peer) = connected(ignore_events());
    let unblock = block_background(&transport);
    drop(peer);
    let started = Instant::now();
    while started.elapsed() < 10 * IDLE {
        thread::yield_now();
    }
    let answer = transport.send(&ping("x"));
    drop(unblock);
    assert!(block_on(answer).unwrap().unwrap_err().unsent);
}

#[test]
fn connection_with_an_answer_to_no_command_ends() {
    for garbage in ["+OK\r\n", "HTTP/1.1 400 Bad Request\r\n"] {
        let (sender, broken) = mpsc::channel();
        let on_event = move |event: TransportEvent<'_>| {
            if let TransportEvent::Broken(_) = event {
                sender.send(()).unwrap();
            }
        };
        let (transport, mut peer) = connected(Box::new(on_event));
        peer.write_all(garbage.as_bytes()).unwrap();
        broken.recv().unwrap();
        assert!(transport.lock().is_closed());
    }
}

#[test]
fn panicking_event_handler_loses_no_answer() {
    let panics = |event: TransportEvent<'_>| {
        if let TransportEvent::Message { .. } = event {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    };
    let (transport, peer) = connected(Box::new(panics));
    let peer = echo(peer);
    block_on(send_numbers(transport.clone(), 0));
    transport.close("the test has ended");
    peer.join().unwrap();
}

/// Sends a command from this thread, and blocks until it is answered.
fn send_blocking(transport: &Arc<Transport>) {
    block_on(async {
        let answer = transport.send(&ping("x")).await.unwrap().unwrap();
        assert_eq!(answer, Value::BulkString(b"x".to_vec()));
    });
}

#[test]
fn blocked_thread_reads_its_answer() {
    for is_in_runtime in [false, true] {
        let (transport, peer) = connected(ignore_events());
        let peer = echo(peer);
        let runtime = current_thread_runtime();
        let unblock = block_background(&transport);
        let entered = is_in_runtime.then(|| runtime.enter());
        for _ in 0..100 {
            send_blocking(&transport);
        }
        drop(entered);
        assert_eq!(transport.background_interest(), None);
        drop(unblock);
        transport.close("the test has ended");
        peer.join().unwrap();
    }
}

#[test]
fn blocked_thread_handles_messages() {
    let (sender, handled_by) = mpsc::channel();
    let (handled, is_handled) = oneshot::channel();
    let handled = Mutex::new(Some(handled));
    let on_event = move |event: TransportEvent<'_>| {
        if let TransportEvent::Message {
            payload: b"text", ..
        } = event
        {
            sender.send(thread::current().id()).unwrap();
            let handled = handled.lock().unwrap().take().unwrap();
            handled.send(()).unwrap();
        }
    };
    let (transport, mut peer) = connected(Box::new(on_event));
    let (waits, is_waiting) = mpsc::channel();
    let unblock = block_background(&transport);
    let peer = spawn(move || {
        let mut chunk = [0; 1024];
        assert!(peer.read(&mut chunk).unwrap() > 0);
        peer.write_all(b":1\r\n").unwrap();
        is_waiting.recv().unwrap();
        peer.write_all(MESSAGE).unwrap();
        peer
    });
    block_on(async {
        transport.send(&ping("x")).await.unwrap().unwrap();
        waits.send(()).unwrap();
        is_handled.await.unwrap();
    });
    drop(unblock);
    assert_eq!(handled_by.recv().unwrap(), thread::current().id());
    transport.close("the test has ended");
    drop(peer.join().unwrap());
}

/// Starts a thread that blocks on the connection and reads, until the sender of `end` is used.
fn reading_thread(transport: &Arc<Transport>, end: oneshot::Receiver<()>) -> JoinHandle<()> {
    let (waits, is_waiting) = mpsc::channel();
    let reader = {
        let transport = transport.clone();
        spawn(move || {
            block_on(async {
                transport.send(&ping("x")).await.unwrap().unwrap();
                waits.send(()).unwrap();
                end.await.unwrap();
            });
        })
    };
    is_waiting.recv().unwrap();
    await_thread_reader(transport);
    reader
}

fn await_thread_reader(transport: &Transport) {
    while !transport.lock().thread_readers.has_reader() {
        thread::yield_now();
    }
}

#[test]
fn reading_thread_is_woken_by_another_thread() {
    let (transport, peer) = connected(ignore_events());
    let peer = echo(peer);
    let (end, is_ended) = oneshot::channel();
    let reader = reading_thread(&transport, is_ended);
    end.send(()).unwrap();
    reader.join().unwrap();
    transport.close("the test has ended");
    peer.join().unwrap();
}

#[test]
fn background_reads_for_the_threads_that_are_left() {
    let (transport, peer) = connected(ignore_events());
    let peer = echo(peer);
    let (end, is_ended) = oneshot::channel();
    let reader = reading_thread(&transport, is_ended);
    // The background reads for both threads, since the first one was reading when this one sent.
    send_blocking(&transport);
    assert!(transport.background_interest().is_some());
    transport.lock().background_reads = false;
    // This thread leaves while the first one is still blocked.
    block_on(async {
        assert!(blocked_thread::note_sender(&transport));
    });
    assert!(transport.background_interest().is_some());
    end.send(()).unwrap();
    reader.join().unwrap();
    transport.close("the test has ended");
    peer.join().unwrap();
}

#[test]
fn reading_thread_is_woken_when_the_connection_is_closed() {
    let (transport, mut peer) = connected(ignore_events());
    let reader = {
        let transport = transport.clone();
        spawn(move || {
            let answer = block_on(async { transport.send(&ping("x")).await });
            answer.unwrap().unwrap_err()
        })
    };
    let mut chunk = [0; 1024];
    assert!(peer.read(&mut chunk).unwrap() > 0);
    await_thread_reader(&transport);
    transport.close("the test has ended");
    assert!(!reader.join().unwrap().unsent);
    assert!(transport.start_thread_reader().is_none());
}

#[test]
fn background_reads_an_answer_that_its_thread_does_not_await() {
    let (transport, peer) = connected(ignore_events());
    block_on(async { drop(transport.send(&ping("x"))) });
    assert!(transport.background_interest().is_some());
    transport.close("the test has ended");
    drop(peer);
}

#[test]
fn background_reads_once_a_thread_was_unable_to_wait_for_the_socket() {
    let (transport, peer) = connected(ignore_events());
    let peer = echo(peer);
    send_blocking(&transport);
    assert!(transport.start_thread_reader().is_some());
    transport.stop_thread_reader(false);
    send_blocking(&transport);
    assert!(transport.background_interest().is_some());
    assert!(transport.start_thread_reader().is_none());
    transport.close("the test has ended");
    peer.join().unwrap();
}

#[test]
fn thread_reads_messages_that_arrived_while_no_reader_was_at_work() {
    let (on_event, handled_by) = report_messages();
    let (transport, mut peer) = connected(on_event);
    let unblock = block_background(&transport);
    peer.write_all(MESSAGE).unwrap();
    let thread = loop {
        transport.read_messages();
        if let Ok(thread) = handled_by.try_recv() {
            break thread;
        }
    };
    assert_eq!(thread, thread::current().id());
    drop(unblock);
    transport.close("the test has ended");
}

#[test]
fn background_keeps_reading_messages_unless_a_runtime_reads() {
    let (transport, peer) = connected(ignore_events());
    let peer = echo(peer);
    // Keeps the background from taking over, in case this thread is slow.
    let unblock = block_background(&transport);
    send_blocking(&transport);
    assert!(transport.background_interest().is_none());
    transport.keep_reading_messages();
    assert!(transport.background_interest().is_some());
    let runtime = current_thread_runtime();
    let answer = runtime.block_on(async { transport.send(&ping("x")).await });
    assert!(answer.unwrap().is_ok());
    transport.lock().background_reads = false;
    transport.keep_reading_messages();
    assert!(transport.background_interest().is_none());
    drop(unblock);
    transport.close("the test has ended");
    peer.join().unwrap();
}

#[test]
fn background_waits_for_room_for_the_readers() {
    let (transport, peer) = connected(ignore_events());
    let runtime = current_thread_runtime();
    let entered = runtime.enter();
    let _answers = (transport.send(&ping("x")), transport.send(&large_ping));
    drop(entered);
    // The background may already have taken over, if this thread was slow.
    transport.lock().background_reads = false;
    transport.flush(ReadBy::BlockedThread);
    let interest = transport.background_interest();
    assert!(interest.is_some_and(Interest::is_writable));
    transport.close("the test has ended");
    drop(peer);
}

/// Sends a command that waits for the next one. Returns its answer, once there is one.
fn send_with_next(transport: &Arc<Transport>, text: &str) -> oneshot::Receiver<Value> {
    let (answered, answer) = oneshot::channel();
    let on_answer = move |answer: Result<Value, ConnectionLost>| {
        if let Ok(answer) = answer {
            drop(answered.send(answer));
        }
    };
    transport.send_unawaited(SendOrder::WithNext, &ping(text), Box::new(on_answer));
    answer
}

#[test]
fn command_that_waits_for_the_next_one_is_written_with_it() {
    let (transport, mut peer) = connected(ignore_events());
    let _unblock = block_background(&transport);
    current_thread_runtime().block_on(async {
        let _first = send_with_next(&transport, "end");
        let _second = transport.send(&ping("release"));
        let mut bytes = [0; 1_024];
        let count = peer.read(&mut bytes).unwrap();
        let written = String::from_utf8_lossy(&bytes[..count]).into_owned();
        assert!(
            written.contains("end") && written.contains("release"),
            "{written}"
        );
    });
}

#[test]
fn background_leaves_a_command_that_waits_for_the_next_one() {
    let (transport, mut peer) = connected(ignore_events());
    let _unblock = block_background(&transport);
    current_thread_runtime().block_on(async {
        // Nothing was sent for a while.
        transport.lock().background_reads = true;
        let _first = send_with_next(&transport, "end");
        // What the background does once it is notified.
        transport.flush_unless_held_back();
        peer.set_nonblocking(true).unwrap();
        let written = peer.read(&mut [0; 1_024]);
        assert!(written.is_err(), "{written:?}");
    });
}

#[test]
fn command_that_waits_for_the_next_one_is_written_although_its_runtime_stops() {
    let (transport, mut peer) = connected(ignore_events());
    // The background has begun to read by the time that it can be blocked.
    drop(block_background(&transport));
    let runtime = current_thread_runtime();
    let entered = runtime.enter();
    transport.lock().background_reads = true;
    let _answer = send_with_next(&transport, "end");
    drop(entered);
    peer.set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let count = peer.read(&mut [0; 1_024]).unwrap();
    assert!(count > 0, "the peer is connected");
}

#[test]
fn command_that_waits_for_the_next_one_is_written_if_none_follows() {
    let (transport, peer) = connected(ignore_events());
    let echo = echo(peer);
    let answer = Value::BulkString(b"end".to_vec());
    {
        let _unblock = block_background(&transport);
        let in_a_runtime = async { send_with_next(&transport, "end").await };
        let in_a_runtime = current_thread_runtime().block_on(in_a_runtime);
        assert_eq!(in_a_runtime.unwrap(), answer);
    }
    let on_a_thread = send_with_next(&transport, "end").blocking_recv();
    assert_eq!(on_a_thread.unwrap(), answer);
    transport.close("the test is over");
    echo.join().unwrap();
}
