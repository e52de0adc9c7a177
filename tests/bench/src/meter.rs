//! The statistics of a server.

use std::time::Duration;

use harness::RedisServer;
use redis::Connection;

/// The connection that asks.
pub(crate) struct Meter(Connection);

impl Meter {
    pub(crate) fn new(server: &RedisServer) -> Meter {
        Meter(server.connection())
    }

    /// The number of calls of these commands, by clients or inside scripts.
    pub(crate) fn calls(&mut self, names: &[&str]) -> u64 {
        let info = self.info("commandstats");
        names.iter().map(|name| stat(&info, name, "calls")).sum()
    }

    /// The time that the server has spent in these commands.
    pub(crate) fn time(&mut self, names: &[&str]) -> Duration {
        let info = self.info("commandstats");
        let micros = names.iter().map(|name| stat(&info, name, "usec")).sum();
        Duration::from_micros(micros)
    }

    /// The memory of a record, in bytes.
    pub(crate) fn memory(&mut self, record: &str) -> f64 {
        let mut usage = redis::cmd("MEMORY");
        let answer = usage.arg("USAGE").arg(record).arg("SAMPLES").arg(0);
        answer.query(&mut self.0).expect("the record is there")
    }

    /// Its CPU time.
    pub(crate) fn cpu(&mut self) -> Duration {
        cpu(&self.info("cpu"))
    }

    /// Its name and version.
    pub(crate) fn version(&mut self) -> String {
        version(&self.info("server"))
    }

    fn info(&mut self, section: &str) -> String {
        let mut info = redis::cmd("INFO");
        let answer = info.arg(section).query(&mut self.0);
        answer.expect("the server answers")
    }
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    let found = fields.find(|(field, _)| *field == name);
    found.map(|(_, value)| value)
}

/// A statistic of a command; 0 if it was never run.
fn stat(info: &str, command: &str, name: &str) -> u64 {
    let Some(stats) = field(info, &format!("cmdstat_{command}")) else {
        return 0;
    };
    let mut stats = stats.split(',').filter_map(|stat| stat.split_once('='));
    let found = stats.find(|(stat, _)| *stat == name);
    found
        .and_then(|(_, value)| value.parse().ok())
        .expect("every command has it, as a number")
}

/// System and user time.
fn cpu(info: &str) -> Duration {
    let parts = ["used_cpu_sys", "used_cpu_user"].map(|name| {
        let seconds = field(info, name).and_then(|seconds| seconds.parse().ok());
        Duration::from_secs_f64(seconds.expect("every server counts them"))
    });
    parts.iter().sum()
}

/// Valkey reports a compatible Redis version, and its own version in another field.
fn version(info: &str) -> String {
    let named = |name, version| field(info, version).map(|version| format!("{name} {version}"));
    named("Valkey", "valkey_version")
        .or_else(|| named("Redis", "redis_version"))
        .unwrap_or_else(|| "a server without a version".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_of_this_command_and_cpu_time_is_the_servers() {
        let stats = "# Commandstats\r\ncmdstat_evalsha:calls=12,usec=40,usec_per_call=3.3\r\n\
                     cmdstat_evalsha_ro:calls=5,usec=1\r\n";
        assert_eq!(stat(stats, "evalsha", "usec"), 40);
        assert_eq!(stat(stats, "eval", "calls"), 0);
        let info = "# CPU\r\nused_cpu_sys:0.250000\r\nused_cpu_user:1.5\r\n\
                    used_cpu_sys_children:7.0\r\nused_cpu_user_children:7.0\r\n";
        assert_eq!(cpu(info), Duration::from_millis(1_750));
    }
}
