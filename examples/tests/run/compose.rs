//! Tests the compose files of `examples/servers` without containers: runs the commands of their services, and connects with
//! the URL and the user of each file.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use lock_runtime::LockClient;
use saphyr::{LoadableYamlNode, Yaml};

use crate::server::{Server, free_port, pause};

/// The port of each service in its container, and in its URL.
const PORT: &str = "6379";

struct Compose {
    text: String,
}

impl Compose {
    fn read(name: &str) -> Compose {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers");
        let text = fs::read_to_string(folder.join(name)).expect("the file is there");
        Compose { text }
    }

    /// Replaces the ports in the file with free ones. No port may be a substring of a later one.
    fn with_ports<const N: usize>(name: &str, named: [u16; N]) -> (Compose, [u16; N]) {
        let mut compose = Compose::read(name);
        // In two steps, since a free port may equal one in the file.
        let place = |number: usize| format!("<{}>", "x".repeat(number));
        for (number, named) in named.iter().enumerate() {
            compose.text = compose.text.replace(&named.to_string(), &place(number));
        }
        let ports = named.map(|_| free_port());
        for (number, port) in ports.iter().enumerate() {
            compose.text = compose.text.replace(&place(number), &port.to_string());
        }
        (compose, ports)
    }

    /// The options of a service's server.
    fn options(&self, service: &str) -> Vec<String> {
        let documents = Yaml::load_from_str(&self.text).expect("the file is YAML");
        let command = &documents[0]["services"][service]["command"];
        words_of(command.as_str().expect("a command"))
    }

    /// The options of the servers of identical services.
    fn common_options(&self, name: &str) -> Vec<String> {
        let documents = Yaml::load_from_str(&self.text).expect("the file is YAML");
        words_of(documents[0][name]["command"].as_str().expect("a command"))
    }

    /// Starts the program of a service in its own empty folder. The program writes its
    /// configuration at the first start.
    fn start_configured(&self, service: &str, port: u16, options: &[&str]) -> Server {
        let script = self.script(service);
        let (_, rest) = script.split_once("<<'END'\n").expect("a configuration");
        let (configuration, _) = rest.split_once("END\n").expect("its end");
        let folder = folder(service);
        let file = format!("{folder}/service.conf");
        fs::write(&file, configuration).expect("the folder can be written");
        let arguments = [&[file.as_str()], options, &["--dir", &folder]].concat();
        Server::at(port, arguments)
    }

    /// The shell script that a service runs.
    fn script(&self, service: &str) -> String {
        let documents = Yaml::load_from_str(&self.text).expect("the file is YAML");
        let command = &documents[0]["services"][service]["command"];
        assert_eq!(command[0].as_str(), Some("sh"));
        command[2].as_str().expect("a script").to_owned()
    }

    /// Starts a service's server in its own empty folder.
    fn start(&self, service: &str, port: u16) -> Server {
        let mut options = self.options(service);
        options.extend(["--dir".to_owned(), folder(service)]);
        Server::at(port, options)
    }

    /// The URL in the file's instructions.
    fn named_url(&self) -> &str {
        let (_, url) = self.text.split_once("LOCK_URL=").expect("a URL");
        let url = url.split_whitespace().next().expect("a URL");
        url.trim_matches('\'')
    }

    /// The same for another port.
    fn url(&self, server: &Server) -> String {
        let port = server.url().replace("redis://127.0.0.1:", "");
        self.named_url().replace(PORT, &port)
    }
}

/// Runs `redis-cli`, and returns what it prints.
fn cli(arguments: &[impl AsRef<OsStr>]) -> String {
    let done = Command::new("redis-cli").args(arguments).output();
    let done = done.expect("redis-cli is installed with redis-server");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Waits until a condition holds.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "no {what}");
        pause();
    }
}

/// The answers of a server to commands.
fn ask(server: &Server, arguments: &[&str]) -> String {
    let port = server.url().replace("redis://127.0.0.1:", "");
    cli(&[&["-p", &port], arguments].concat())
}

/// An empty folder.
fn folder(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder of an earlier run can be removed");
    }
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder.to_str().expect("the path is text").to_owned()
}

/// The options in a server's command.
fn words_of(command: &str) -> Vec<String> {
    let mut words = command.split_whitespace().map(unquoted);
    assert_eq!(words.next().as_deref(), Some("valkey-server"));
    words.collect()
}

/// Parses a word like compose. Returns none at a character with a meaning in a shell, which ends
/// the command.
fn unquoted(word: &str) -> String {
    let quoted = word
        .strip_prefix('\'')
        .and_then(|word| word.strip_suffix('\''));
    let has_meaning = word.contains([';', '&', '|', '<', '>']);
    assert!(quoted.is_some() || !has_meaning, "{word} is not quoted");
    quoted.unwrap_or(word).to_owned()
}

/// Starts a server in its own empty folder.
fn start(name: &str, mut options: Vec<String>) -> Server {
    options.extend(["--dir".to_owned(), folder(name)]);
    Server::with(&options)
}

fn locks(url: &str) -> Result<(), lock_runtime::LockError> {
    let client = LockClient::builder().url(url).build()?;
    let lock = client.lock("order:42").wait(Duration::from_secs(60));
    let guard = lock.acquire_blocking()?;
    guard.release_blocking()?;
    Ok(())
}

#[test]
fn one_server_grants_locks_to_its_user() {
    let compose = Compose::read("one-server.yml");
    let server = start("one-server", compose.options("server"));
    locks(&compose.url(&server)).expect("the user has its rights");
    let without_name = compose.url(&server).replace("service:change-me@", "");
    locks(&without_name).expect_err("the default user has no right to a lock");
}

/// With the certificate from the file's instructions.
#[cfg(feature = "tls")]
#[test]
fn server_over_tls_grants_locks_to_clients_that_trust_it() {
    const NAMED: &str = "examples/servers/tls/";
    let (mut compose, [port]) = Compose::with_ports("tls.yml", [6379]);
    let certificates = format!("{}/", folder("certificates"));
    let (_, command) = compose.text.split_once("openssl ").expect("a command");
    let command = command
        .lines()
        .next()
        .expect("a line")
        .replace(NAMED, &certificates);
    let made = Command::new("openssl").args(command.split(' ')).output();
    let made = made.expect("openssl is installed");
    assert!(made.status.success(), "{made:?}");
    compose.text = compose.text.replace(" /tls/", &format!(" {certificates}"));
    let _server = compose.start("server", port);

    let url = compose.named_url();
    let quickstart = |trusted: Option<&str>| {
        let mut program = Command::new(crate::program("quickstart"));
        program.env("LOCK_URL", url).env_remove("SSL_CERT_FILE");
        if let Some(file) = trusted {
            program.env("SSL_CERT_FILE", format!("{certificates}{file}"));
        }
        program.output().expect("the example starts")
    };
    let (_, file) = compose.text.split_once("SSL_CERT_FILE=").expect("a file");
    let file = file
        .split(' ')
        .next()
        .and_then(|path| path.strip_prefix(NAMED));
    let trusting = quickstart(Some(file.expect("a file of the folder")));
    assert!(trusting.status.success(), "{trusting:?}");
    let other = quickstart(None);
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(
        !other.status.success() && said.contains("certificate"),
        "{other:?}"
    );
}

#[test]
fn primary_grants_locks_that_its_replica_has() {
    let compose = Compose::read("replica.yml");
    let primary = start("primary", compose.options("primary"));
    let url = compose.url(&primary);
    let mut options = compose.options("replica");
    for option in &mut options {
        match option.as_str() {
            "primary" => *option = "127.0.0.1".to_owned(),
            PORT => *option = primary.url().replace("redis://127.0.0.1:", ""),
            _ => {}
        }
    }
    let _replica = start("replica", options);
    locks(&url).expect("the users have their rights");
}

#[test]
fn sentinels_lead_to_the_primary() {
    let (compose, ports) = Compose::with_ports("sentinel.yml", [26379, 26380, 26381, 6379, 6380]);
    let primary = compose.start_configured("server-1", ports[3], &[]);
    let _replica = compose.start_configured("server-2", ports[4], &[]);
    let sentinels: Vec<Server> = (1..4)
        .map(|number| {
            let service = format!("sentinel-{number}");
            compose.start_configured(&service, ports[number - 1], &["--sentinel"])
        })
        .collect();
    locks(compose.named_url()).expect("the users have their rights");
    // Sentinels find each other and the replica with the rights of their users, and promote the replica.
    let question = [
        "--user",
        "service",
        "--pass",
        "change-me",
        "SENTINEL",
        "MASTER",
        "locks",
    ];
    wait_until("quorum of sentinels", || {
        let known = sentinels.iter().map(|sentinel| ask(sentinel, &question));
        let knows =
            |known: &str, name: &str, number: &str| known.contains(&format!("{name}\n{number}\n"));
        known.into_iter().all(|known| {
            knows(&known, "num-other-sentinels", "2") && knows(&known, "num-slaves", "1")
        })
    });
    drop(primary);
    locks(compose.named_url()).expect("the replica is the primary now");
}

#[test]
fn quorum_grants_locks_while_a_node_is_away() {
    let (compose, ports) = Compose::with_ports("quorum.yml", [6380, 6381]);
    let nodes: Vec<Server> = (1..=3)
        .map(|number| {
            start(
                &format!("quorum-{number}"),
                compose.common_options("x-node"),
            )
        })
        .collect();
    let mut url = compose.named_url().to_owned();
    let named = [PORT.to_owned(), ports[0].to_string(), ports[1].to_string()];
    for (named, node) in named.iter().zip(&nodes) {
        let address = node.url().replace("redis://", "");
        url = url.replace(&format!("127.0.0.1:{named}"), &address);
    }
    // New nodes have no vote for a restart delay: a minute with the file's URL.
    const DELAY: Duration = Duration::from_secs(1);
    let url = format!("{url}?restart_delay={}s", DELAY.as_secs());
    let client = LockClient::builder().url(url).ttl(DELAY).build();
    let client = client.expect("the URL names a quorum");
    let cycle = || {
        let lock = client.lock("order:42").wait(Duration::from_secs(60));
        let guard = lock.acquire_blocking()?;
        guard.release_blocking()
    };
    cycle().expect("the user has its rights");
    let mut nodes = nodes.into_iter();
    drop(nodes.next());
    cycle().expect("two of three are a majority");
    drop(nodes.next());
    let alone = client.lock("order:42").try_acquire_blocking();
    let error = alone.expect_err("one of three is no majority");
    assert!(
        error.to_string().contains("1 of 3 nodes answered"),
        "{error}"
    );
}

#[test]
fn cluster_is_formed_and_grants_locks() {
    let (compose, ports) = Compose::with_ports("cluster.yml", [7001, 7002, 7003, 7004, 7005, 7006]);
    let nodes: Vec<Server> = ports
        .iter()
        .zip(1..)
        .map(|(&port, number)| compose.start(&format!("node-{number}"), port))
        .collect();
    let script = compose.script("cluster");
    let (_, create) = script.split_once("valkey-cli ").expect("a command");
    let create: Vec<&str> = create.lines().next().expect("a line").split(' ').collect();
    let said = cli(&create);
    let admin = ["--user", "admin", "--pass", "change-me-three"];
    wait_until("cluster", || {
        let state = ask(&nodes[0], &[&admin[..], &["CLUSTER", "INFO"]].concat());
        state.contains("cluster_state:ok")
    });
    locks(compose.named_url()).unwrap_or_else(|error| panic!("{error}\n{said}"));
    wait_until("replicas with their data", || {
        nodes.iter().all(|node| {
            let info = ask(node, &[&admin[..], &["INFO", "replication"]].concat());
            info.contains("connected_slaves:1") || info.contains("master_link_status:up")
        })
    });
}
