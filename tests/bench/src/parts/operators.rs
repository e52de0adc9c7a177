//! What it costs to look at many locks: `lockctl`, and the server's time.

use std::fs;
use std::io::{self, BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use harness::RedisServer;
use redis::Connection;

use super::Setting;
use crate::findings::{Findings, Goal, Value};
use crate::meter::Meter;
use crate::number::{Count, Short};
use crate::program::Program;
use crate::runtimes::Flavour;

/// What commands of a listing may take from the other clients of a server.
const LONG: Duration = Duration::from_millis(1);

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    list(findings, setting.effort.held);
    watch(
        findings,
        setting.effort.crowd as usize,
        setting.effort.watch,
    );
}

/// Locks of a service and their fences.
fn fill(server: &RedisServer, count: usize) {
    const BATCH: usize = 1_000;
    let mut connection = server.connection();
    for batch in (0..count).step_by(BATCH) {
        let mut pipe = redis::pipe();
        for number in batch..count.min(batch + BATCH) {
            let (name, token) = (
                format!("lock:order:{number}"),
                1_700_000_000_000_000 + 16 * number,
            );
            let record = format!("{number:022} {token} api-7 (pid 4121) ship_order");
            let mut set = |name: &str, value: &str| {
                pipe.cmd("SET")
                    .arg(name)
                    .arg(value)
                    .arg("PX")
                    .arg(3_600_000);
                pipe.ignore();
            };
            set(&name, &record);
            set(&format!("{{{name}}}:f"), &token.to_string());
        }
        let _: () = pipe.query(&mut connection).expect("it has memory for them");
    }
}

fn list(findings: &mut Findings, count: usize) {
    let server = RedisServer::start();
    fill(&server, count);
    let mut long = LongCommands::begin(&server);
    let (began, mut tool) = (Instant::now(), Tool::start(&server, &["list"]));
    tool.skip(1);
    let first = began.elapsed();
    let mut memory = tool.most_memory();
    // With lines left, it has not ended, unless they are few enough for the pipe.
    let rest = count / 10;
    tool.skip(count - 1 - rest);
    memory = tool.most_memory().or(memory);
    tool.skip(rest);
    let last = began.elapsed();

    let count = Count(count);
    findings.figure(
        &format!("lockctl lists {count} locks, first line after, ms"),
        Value::new(Goal::AtMost(100.0), first.as_secs_f64() * 1e3)
            .of(format_args!("the last after {}", Short(last))),
        "–",
    );
    findings.figure(
        &format!("lockctl lists {count} locks, most memory, MB"),
        Value::new(Goal::AtMost(60.0), memory.expect("it ran") / 1e6),
        "–",
    );
    let mut meter = Meter::new(&server);
    let scans = meter.calls(&["scan"]).max(1);
    let each = meter.time(&["scan"]) / u32::try_from(scans).expect("they are few");
    findings.figure(
        &format!(
            "lockctl lists {count} locks, commands above {}",
            Short(LONG)
        ),
        Value::new(Goal::AtMost(0.0), long.count() as f64)
            .of(format_args!("SCAN takes {}", Short(each))),
        0,
    );
}

fn watch(findings: &mut Findings, count: usize, time: Duration) {
    let server = RedisServer::start();
    fill(&server, count);
    let part = Terminal::start(&server, "watch --interval 1s").map(|mut terminal| {
        terminal.wait_for(&format!("{count} locks"));
        let (began, before) = (Instant::now(), time_on_a_core(terminal.inside));
        Flavour::CurrentThread.run(async move { tokio::time::sleep(time).await });
        let spent = time_on_a_core(terminal.inside) - before;
        spent.as_secs_f64() / began.elapsed().as_secs_f64() * 100.0
    });
    let goal = Goal::AtMost(1.0);
    findings.figure(
        &format!(
            "lockctl watches {} locks in a terminal, its part of a core, %",
            Count(count)
        ),
        match part {
            Some(part) => Value::new(goal, part),
            None => Value::none(goal, "`script` is needed"),
        },
        "–",
    );
}

/// `lockctl`, while it runs.
struct Tool {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Tool {
    fn start(server: &RedisServer, args: &[&str]) -> Tool {
        let mut command = Program::LOCKCTL.command();
        command.env("LOCK_URL", server.url()).args(args);
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut process = started.expect("it was built");
        let output = process.stdout.take().expect("it is a pipe");
        let lines = BufReader::new(output).lines();
        Tool { process, lines }
    }

    fn skip(&mut self, lines: usize) {
        let read = self.lines.by_ref().take(lines);
        let read = read.filter(|line| line.is_ok()).count();
        assert_eq!(read, lines, "lockctl printed less");
    }

    /// The most memory that it has had so far, in bytes; `None` if it has ended.
    fn most_memory(&self) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let most = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kilobytes: f64 = most.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kilobytes * 1024.0)
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// `lockctl` in a terminal.
struct Terminal {
    /// The program that makes the terminal.
    script: Child,
    /// The process of `lockctl`.
    inside: u32,
    screen: Option<ChildStdout>,
}

impl Terminal {
    /// `None` where no terminal can be made.
    fn start(server: &RedisServer, args: &str) -> Option<Terminal> {
        let program = Program::LOCKCTL.path();
        let line = format!("stty rows 50 cols 150; exec '{}' {args}", program.display());
        let mut script = Command::new("script");
        script.args(["--quiet", "--command", &line, "/dev/null"]);
        script.env("LOCK_URL", server.url()).env("TERM", "xterm");
        // Without an input it would end.
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = script.spawn().ok()?;
        let screen = script.stdout.take();
        Some(Terminal {
            inside: script.id(),
            script,
            screen,
        })
    }

    /// Reads until the screen has this text, which `lockctl` shows once it runs.
    fn wait_for(&mut self, text: &str) {
        let (mut shown, mut chunk) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&shown).contains(text) {
            let screen = self.screen.as_mut().expect("it is a pipe");
            let count = screen.read(&mut chunk).expect("it can be read");
            assert!(
                count > 0,
                "lockctl ended: {}",
                String::from_utf8_lossy(&shown)
            );
            shown.extend_from_slice(&chunk[..count]);
        }
        let mut screen = self.screen.take().expect("it is a pipe");
        // What is drawn later is read too: a full pipe would stop the view, and it would cost nothing.
        thread::spawn(move || drop(io::copy(&mut screen, &mut io::sink())));
        let script = self.script.id();
        let children = fs::read_to_string(format!("/proc/{script}/task/{script}/children"));
        let inside = children.expect("this is Linux");
        self.inside = inside.trim().parse().expect("it has one child");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Its program ends with the terminal.
        drop(self.script.kill());
        drop(self.script.wait());
    }
}

/// The CPU time of a process so far.
fn time_on_a_core(process: u32) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let tasks = tasks.expect("it runs").filter_map(Result::ok);
    // The first number is the time on a core. A thread that ends meanwhile has no such file.
    let nanos = tasks.filter_map(|task| {
        let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// The commands that took a server long, counted by its slow log.
struct LongCommands(Connection);

impl LongCommands {
    fn begin(server: &RedisServer) -> LongCommands {
        server.config_set("slowlog-log-slower-than", &LONG.as_micros().to_string());
        let mut connection = server.connection();
        let _: () = redis::cmd("SLOWLOG")
            .arg("RESET")
            .query(&mut connection)
            .expect("every server has it");
        LongCommands(connection)
    }

    fn count(&mut self) -> usize {
        let count = redis::cmd("SLOWLOG").arg("LEN").query(&mut self.0);
        count.expect("it is a number")
    }
}
