//! A real terminal.

use harness::{LONG, RedisServer, wait_until};
use tempfile::TempDir;

use crate::obedient;

/// A terminal in its own tmux server, which ends when this is dropped.
pub(super) struct Terminal {
    folder: TempDir,
}

impl Terminal {
    /// Starts lockctl in a terminal of this size.
    pub(super) fn start(server: &RedisServer, arguments: &[&str]) -> Terminal {
        let program = env!("CARGO_BIN_EXE_lockctl");
        Terminal::of(server, &[&[program], arguments].concat())
    }

    /// Starts a program in it, with the locks of this server.
    pub(super) fn of(server: &RedisServer, command: &[&str]) -> Terminal {
        let folder = TempDir::new().unwrap();
        let terminal = Terminal { folder };
        let url = format!("LOCK_URL={}", server.url());
        let new = [
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "20",
            "-e",
            &url,
            "--",
        ];
        terminal.tmux(&[&new[..], command].concat());
        terminal
    }

    pub(super) fn tmux(&self, arguments: &[&str]) -> String {
        let socket = self.folder.path().join("socket");
        let mut command = obedient("tmux");
        command
            .arg("-f")
            .arg("/dev/null")
            .arg("-S")
            .arg(socket)
            .args(arguments);
        let output = command
            .output()
            .expect("tmux is installed: tests/need tmux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(super) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    pub(super) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    #[track_caller]
    pub(super) fn shows(&self, text: &str) {
        let mut screen = String::new();
        let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until(text, LONG, || {
                screen = self.screen();
                screen.contains(text)
            });
        }));
        assert!(shown.is_ok(), "no `{text}` in\n{screen}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
