//! A real browser, driven by the WebDriver protocol.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::{LONG, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The size of a window, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

pub(crate) const PHONE: Size = Size {
    name: "phone",
    width: 390,
    height: 844,
};

pub(crate) const DESKTOP: Size = Size {
    name: "desktop",
    width: 1280,
    height: 900,
};

/// A browser without a window. It ends on drop.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    pub(crate) fn start(size: Size, is_dark: bool) -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("install chromium-driver: tests/need chromedriver:chromium-driver");
        let out = BufReader::new(driver.stdout.take().expect("it is piped"));
        let port = out.lines().map_while(Result::ok).find_map(|line| {
            line.split("successfully on port ")
                .nth(1)?
                .trim_end_matches('.')
                .parse()
                .ok()
        });
        let profile = TempDir::new().expect("a folder can be made");
        let mut browser = Browser {
            driver,
            port: port.expect("it prints its port"),
            session: String::new(),
            _profile: profile,
        };
        let mut arguments = vec![
            "--headless".to_owned(),
            // In containers the browser runs as root; it only loads pages of this test.
            "--no-sandbox".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--user-data-dir={}", browser._profile.path().display()),
            format!("--window-size={},{}", size.width, size.height),
        ];
        if is_dark {
            arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        // A browser's window has a minimum width; an emulated device has none.
        let metrics = json!({ "width": size.width, "height": size.height, "pixelRatio": 1 });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {
                "args": arguments,
                "mobileEmulation": { "deviceMetrics": metrics },
            },
        } } });
        let session = browser.ask("POST", "/session", Some(wanted));
        browser.session = session["sessionId"].as_str().expect("an id").to_owned();
        browser
    }

    pub(crate) fn open(&self, address: &str) {
        self.command("url", json!({ "url": address }));
    }

    /// Runs a script of the test in the page, and returns its result.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("execute/sync", json!({ "script": script, "args": [] }))
    }

    /// The text of the page, as it is shown.
    pub(crate) fn text(&self) -> String {
        let text = self.run("return document.body.innerText");
        text.as_str().expect("a page has a body").to_owned()
    }

    /// Waits until a page with this text is loaded, since a click returns before its page is loaded. Returns the page's
    /// text.
    #[track_caller]
    pub(crate) fn loaded(&self, text: &str) -> String {
        const SHOWN: &str = "return document.readyState == 'complete' && document.body.innerText";
        let path = format!("/session/{}/execute/sync", self.session);
        let mut shown = String::new();
        wait_until(text, LONG, || {
            let script = json!({ "script": SHOWN, "args": [] });
            // The old page may be unloaded meanwhile.
            let answer = self.exchange("POST", &path, Some(script));
            let (_, value) = answer.expect("the driver answers");
            shown = value.as_str().unwrap_or_default().to_owned();
            shown.contains(text)
        });
        shown
    }

    pub(crate) fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.command(&format!("element/{element}/click"), json!({}));
    }

    pub(crate) fn write(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.command(&format!("element/{element}/value"), json!({ "text": text }));
    }

    /// Saves a screenshot if `LOCK_SCREENSHOTS` names a folder.
    pub(crate) fn keep_picture(&self, name: &str) {
        if let Some(folder) = env::var_os("LOCK_SCREENSHOTS") {
            let picture = self.ask(
                "GET",
                &format!("/session/{}/screenshot", self.session),
                None,
            );
            let picture = BASE64_STANDARD.decode(picture.as_str().expect("a text"));
            let picture = picture.expect("it is encoded");
            let file = Path::new(&folder).join(format!("{name}.png"));
            fs::write(file, picture).expect("the folder can be written");
        }
    }

    fn element(&self, selector: &str) -> String {
        let found = json!({ "using": "css selector", "value": selector });
        let found = self.command("element", found);
        let ids = found.as_object().expect("an element");
        let id = ids.values().next().and_then(Value::as_str);
        id.expect("an element has an id").to_owned()
    }

    fn command(&self, command: &str, arguments: Value) -> Value {
        let path = format!("/session/{}/{command}", self.session);
        self.ask("POST", &path, Some(arguments))
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let (status, value) = self
            .exchange(method, path, body)
            .expect("the driver answers");
        assert_eq!(status, 200, "{method} {path}: {value}");
        value
    }

    fn exchange(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> std::io::Result<(u16, Value)> {
        let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = BufReader::new(socket);
        let (mut line, mut status, mut length) = (String::new(), 0, 0);
        while answer.read_line(&mut line)? > 2 {
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest[..3].parse().expect("a status");
            } else if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().expect("a length");
            }
            line.clear();
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body)?;
        Ok((status, body["value"].clone()))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser is the driver's child, and would outlive it.
        let _ = self.exchange("DELETE", &format!("/session/{}", self.session), None);
        // It may have ended.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
