//! A real `redis-server`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use tempfile::TempDir;

use crate::acl;
use crate::clock::Clock;
use crate::monitor::Monitor;
use crate::scene::{ask, figure};
use crate::wait::{PATIENCE, wait_until};
use crate::{port, process, stalls};

/// A Redis or Valkey server of one test, on a free loopback port and in its own folder.
///
/// The program is `LOCK_REDIS_SERVER` or else `redis-server` from the path. It is killed on drop.
#[derive(Debug)]
pub struct RedisServer {
    child: Child,
    port: u16,
    folder: TempDir,
    options: Builder,
}

#[derive(Debug, Default)]
pub struct Builder {
    args: Vec<String>,
    sentinel: bool,
    clock: Option<Clock>,
    /// Files that are in the server's folder before it starts: names and contents.
    files: Vec<(&'static str, String)>,
    /// Rights in addition to the [least](crate::RIGHTS).
    rights: Vec<&'static str>,
}

impl Builder {
    /// Adds one configuration directive, as on the command line: `("maxmemory", "1mb")`.
    pub fn config(mut self, name: &str, value: &str) -> Self {
        self.args.extend([format!("--{name}"), value.to_owned()]);
        self
    }

    /// Removes a command, as some hosted services do.
    pub fn without(mut self, command: &str) -> Self {
        let words = ["--rename-command", command, ""];
        self.args.extend(words.map(str::to_owned));
        self
    }

    /// Makes the server a Sentinel without any masters.
    pub fn sentinel(mut self) -> Self {
        self.sentinel = true;
        self
    }

    /// Writes every command to disk before it is answered, so that a restart loses nothing.
    pub fn durable(self) -> Self {
        self.config("appendonly", "yes")
            .config("appendfsync", "always")
    }

    /// Gives the server a [clock](RedisServer::clock) that the test steps.
    pub fn own_clock(mut self) -> Self {
        self.clock = Some(Clock::new());
        self
    }

    /// Gives clients without a name additional rights, beyond the [least](crate::RIGHTS).
    pub fn rights(mut self, rights: &[&'static str]) -> Self {
        self.rights.extend(rights);
        self
    }

    /// Adds a file to the server's folder.
    pub fn file(mut self, name: &'static str, content: &str) -> Self {
        self.files.push((name, content.to_owned()));
        self
    }

    fn folder(&self) -> TempDir {
        let folder = tempfile::Builder::new()
            .prefix("lock-tests-")
            .tempdir()
            .expect("a temporary folder can be made");
        for (name, content) in &self.files {
            fs::write(folder.path().join(name), content).expect("the folder can be written");
        }
        folder
    }

    /// Starts the server on this port and waits until it answers.
    pub(crate) fn start_on(self, port: u16) -> RedisServer {
        self.start_on_one_of([port])
    }

    /// Starts the server and waits until it answers.
    pub fn start(self) -> RedisServer {
        stalls::watch();
        // Another process may bind the port first: then try another one.
        self.start_on_one_of((0..10).map(|_| port::free()))
    }

    fn start_on_one_of(self, ports: impl IntoIterator<Item = u16>) -> RedisServer {
        let folder = self.folder();
        for port in ports {
            let mut child = spawn(port, &folder, &self);
            if answers(&mut child, port, Loading::IsNotReady) {
                return RedisServer {
                    child,
                    port,
                    folder,
                    options: self,
                };
            }
        }
        panic!("redis-server does not start: {}", log(&folder));
    }
}

impl RedisServer {
    /// A server that keeps nothing on disk.
    pub fn start() -> Self {
        Self::builder().start()
    }

    pub fn builder() -> Builder {
        Builder::default()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address for clients. With `LOCK_TEST_USER=least`, they have the [least
    /// rights](crate::RIGHTS) there.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The address with all permissions, for connections of the harness.
    pub fn admin_url(&self) -> String {
        admin_url(self.port)
    }

    /// Whether the server answers. A stopped server takes until the timeout.
    pub fn is_up(&self) -> bool {
        self.client().get_connection_with_timeout(PATIENCE).is_ok()
    }

    /// A plain redis-rs connection that blocks.
    pub fn connection(&self) -> redis::Connection {
        self.client()
            .get_connection()
            .expect("the server accepts connections")
    }

    /// A plain redis-rs connection for async tests, with the same timeouts.
    pub async fn async_connection(&self) -> MultiplexedConnection {
        let patient = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        self.client()
            .get_multiplexed_async_connection_with_config(&patient)
            .await
            .expect("the server accepts connections")
    }

    /// Starts a replica, whose clients have the same rights, and waits until it has all data.
    pub fn replica(&self) -> RedisServer {
        let mut builder = Self::builder().rights(&self.options.rights);
        // Redis 6.2 does not accept two words in one argument.
        let words = ["--replicaof", "127.0.0.1", &self.port.to_string()];
        builder.args.extend(words.map(str::to_owned));
        let replica = builder.start();
        let mut connection = replica.connection();
        wait_until("replication", PATIENCE, || {
            let info: String = ask(&mut connection, &["INFO", "replication"]);
            info.contains("master_link_status:up")
        });
        replica
    }

    /// Waits until a replica has all writes so far.
    pub fn wait_for_replica(&self, replica: &RedisServer) {
        let written = |connection: &mut redis::Connection| figure(connection, "master_repl_offset");
        let own = written(&mut self.connection());
        let mut connection = replica.connection();
        wait_until("replication", PATIENCE, || written(&mut connection) >= own);
    }

    /// Records the commands that arrive from now on.
    pub fn monitor(&self) -> Monitor {
        Monitor::start(self.port)
    }

    /// Gives clients without a name these rights in addition to the [least](crate::RIGHTS), until
    /// the next restart. It changes nothing unless `LOCK_TEST_USER` is `least`.
    pub fn allow(&self, rights: &[&str]) {
        let words = [&["ACL", "SETUSER", "default"], rights].concat();
        let _: () = ask(&mut self.connection(), &words);
    }

    /// Creates a user with this password and these rights, or changes one. Returns the URL for its clients.
    pub fn user(&self, name: &str, password: &str, rights: &[&str]) -> String {
        let password_rule = format!(">{password}");
        let user = ["ACL", "SETUSER", name, "reset", "on", &password_rule];
        let _: () = ask(&mut self.connection(), &[&user, rights].concat());
        let login = format!("://{name}:{password}@");
        self.url().replace("://", &login)
    }

    /// Changes a setting of the running server.
    pub fn config_set(&self, name: &str, value: &str) {
        let _: () = ask(&mut self.connection(), &["CONFIG", "SET", name, value]);
    }

    /// Steps the server's [own clock](Builder::own_clock) forward.
    pub fn forward(&self, by: Duration) {
        self.clock().forward(by);
        self.see_clock();
    }

    /// Steps the server's [own clock](Builder::own_clock) back.
    pub fn back(&self, by: Duration) {
        self.clock().back(by);
        self.see_clock();
    }

    /// Stops the server's [own clock](Builder::own_clock): from now on it moves only when the test
    /// steps it. (Valkey 9.1 advances it by up to a millisecond after each read.)
    pub fn stop_clock(&self) {
        self.clock().stop();
        self.see_clock();
    }

    /// The clock that the server uses.
    pub fn clock(&self) -> &Clock {
        let clock = self.options.clock.as_ref();
        clock.expect("the server was given a clock of its own")
    }

    /// Kills the server (SIGKILL) without a replacement.
    pub fn kill9(&mut self) {
        process::kill9(&mut self.child);
    }

    /// Kills the server and restarts it on the same port with its data on disk: everything if it is
    /// [durable](Builder::durable), nothing otherwise.
    pub fn restart(&mut self) {
        self.respawn();
        self.ready(Loading::IsNotReady);
    }

    /// Like [`restart`](Self::restart), but returns as soon as the server answers at all, perhaps
    /// with `LOADING`.
    pub fn restart_loading(&mut self) {
        self.respawn();
        self.ready(Loading::IsReady);
    }

    /// Kills the server and restarts it on the same port with nothing on disk.
    pub fn restart_empty(&mut self) {
        self.kill9();
        for file in fs::read_dir(self.folder.path()).expect("the folder is there") {
            let path = file.expect("the folder can be read").path();
            let removed = if path.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
            removed.expect("the server's files can be removed");
        }
        self.restart();
    }

    /// Freezes the server (SIGSTOP): its sockets stay open, but answer nothing.
    pub fn pause(&self) {
        process::stop(&self.child);
    }

    /// Ends a [`pause`](Self::pause).
    pub fn resume(&self) {
        process::cont(&self.child);
    }

    /// Waits until the server has read its clock: not every server does so for every command.
    fn see_clock(&self) {
        const COUNTED_ON: i64 = 2_000;
        let mut connection = self.connection();
        wait_until("read of the clock", PATIENCE, || {
            let before = self.clock().now() - COUNTED_ON;
            let (seconds, micros): (i64, i64) = ask(&mut connection, &["TIME"]);
            let after = self.clock().now() + COUNTED_ON;
            (before..=after).contains(&(seconds * 1_000_000 + micros))
        });
    }

    fn client(&self) -> redis::Client {
        redis::Client::open(self.admin_url()).expect("the URL is well formed")
    }

    fn respawn(&mut self) {
        self.kill9();
        self.child = spawn(self.port, &self.folder, &self.options);
    }

    fn ready(&mut self, loading: Loading) {
        let up = answers(&mut self.child, self.port, loading);
        assert!(
            up,
            "redis-server does not start again: {}",
            log(&self.folder)
        );
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        process::kill9(&mut self.child);
        port::release(self.port);
    }
}

fn spawn(port: u16, folder: &TempDir, options: &Builder) -> Child {
    let program =
        env::var_os("LOCK_REDIS_SERVER").unwrap_or_else(|| OsString::from("redis-server"));
    let mut server = Command::new(&program);
    if let Some(clock) = &options.clock {
        clock.rule(&mut server);
    }
    if options.sentinel {
        // The server writes its state to this file.
        let file = folder.path().join("sentinel.conf");
        fs::write(&file, "").expect("the folder can be written");
        server.arg(file).arg("--sentinel");
    }
    server
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no", "--logfile", "server.log"])
        .arg("--dir")
        .arg(folder.path())
        // Any server may become a replica, which begins without a pause of five seconds.
        .args(["--masteruser", acl::NAME, "--masterauth", acl::PASSWORD])
        .args(["--repl-diskless-sync-delay", "0"])
        .args(acl::arguments(options.sentinel, &options.rights))
        .args(&options.args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("{program:?} cannot be started ({error}): install redis-server, or name one in LOCK_REDIS_SERVER")
        })
}

/// Whether a server that is still loading its data counts as ready.
#[derive(Clone, Copy, PartialEq)]
enum Loading {
    IsReady,
    IsNotReady,
}

/// Waits until `child` itself answers on `port` (true), or ends (false).
fn answers(child: &mut Child, port: u16, loading: Loading) -> bool {
    let client = redis::Client::open(admin_url(port)).expect("the URL is well formed");
    let mut up = false;
    wait_until("answer of redis-server", PATIENCE, || {
        if child
            .try_wait()
            .expect("the state of a child can be read")
            .is_some()
        {
            return true;
        }
        let Ok(mut connection) = client.get_connection_with_timeout(PATIENCE) else {
            return false;
        };
        // The pid distinguishes this server from another one that bound the port first.
        let info: Result<String, _> = redis::cmd("INFO").arg("server").query(&mut connection);
        let ours = info.is_ok_and(|info| info.contains(&format!("process_id:{}\r", child.id())));
        let ping = redis::cmd("PING").exec(&mut connection);
        up = ours && (ping.is_ok() || loading == Loading::IsReady);
        up
    });
    up
}

fn admin_url(port: u16) -> String {
    format!("redis://{}:{}@127.0.0.1:{port}", acl::NAME, acl::PASSWORD)
}

fn log(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("server.log")).unwrap_or_else(|error| error.to_string())
}
