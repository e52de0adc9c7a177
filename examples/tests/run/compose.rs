//! The compose files of `examples/servers`, without containers: the commands of their services start servers here, and
//! the URL of each file leads to them, with its user.

use std::fs;
use std::path::Path;
use std::time::Duration;

use lock_runtime::LockClient;
use saphyr::{LoadableYamlNode, Yaml};

use crate::server::Server;

/// The port of each service in its container, and of its URL.
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

    /// The options of a service's server.
    fn options(&self, service: &str) -> Vec<String> {
        let documents = Yaml::load_from_str(&self.text).expect("the file is YAML");
        let command = documents[0]["services"][service]["command"].as_str();
        let mut words = command.expect("a command").split_whitespace();
        assert_eq!(words.next(), Some("valkey-server"));
        words.map(str::to_owned).collect()
    }

    /// The URL that the file tells the reader to use, for another port.
    fn url(&self, server: &Server) -> String {
        let (_, url) = self.text.split_once("LOCK_URL=").expect("a URL");
        let url = url.split_whitespace().next().expect("a URL");
        url.trim_matches('\'')
            .replace(PORT, &server.port().to_string())
    }
}

/// Starts a server in an empty folder of its own.
fn start(name: &str, mut options: Vec<String>) -> Server {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder of an earlier run can be removed");
    }
    fs::create_dir_all(&folder).expect("a folder can be made");
    let folder = folder.to_str().expect("the path is text");
    options.extend(["--dir".to_owned(), folder.to_owned()]);
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

#[test]
fn primary_grants_locks_that_its_replica_has() {
    let compose = Compose::read("replica.yml");
    let primary = start("primary", compose.options("primary"));
    let url = compose.url(&primary);
    let mut options = compose.options("replica");
    for option in &mut options {
        match option.as_str() {
            "primary" => *option = "127.0.0.1".to_owned(),
            PORT => *option = primary.port().to_string(),
            _ => {}
        }
    }
    let _replica = start("replica", options);
    locks(&url).expect("the users have their rights");
}
