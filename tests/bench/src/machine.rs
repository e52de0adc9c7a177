//! The machine of the measurements.

use std::fs;

use harness::RedisServer;

use crate::meter::Meter;
use crate::runtimes::cores;

/// One line without a host name: cores, system and server.
pub(crate) fn machine() -> String {
    let server = RedisServer::start();
    let version = Meter::new(&server).version();
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = match cores() {
        1 => "one core".to_owned(),
        cores => format!("{cores} cores"),
    };
    format!(
        "{cores} of {}, {}, {version} on the same machine",
        model(&processor),
        kernel(&system)
    )
}

/// The number of threads that wanted a core in the last minute. Figures of a busy machine are
/// unreliable, and the output must show that.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let minute = load.split(' ').next().filter(|minute| !minute.is_empty());
    minute.unwrap_or("unknown").to_owned()
}

/// The processor's model name.
fn model(cpuinfo: &str) -> &str {
    let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let model = fields.find(|(name, _)| name.trim() == "model name");
    model.map_or("an unknown processor", |(_, model)| model.trim())
}

/// The kernel's version, without the suffix of a distribution.
fn kernel(release: &str) -> String {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let version = release
        .trim()
        .split(|c| !digits(c))
        .next()
        .unwrap_or_default();
    let two: Vec<&str> = version.split('.').take(2).collect();
    if two[0].is_empty() {
        return "an unknown system".to_owned();
    }
    format!("Linux {}", two.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_told_by_two_numbers() {
        assert_eq!(kernel("6.8.0-49-generic\n"), "Linux 6.8");
        assert_eq!(kernel("6.18"), "Linux 6.18");
        assert_eq!(kernel(""), "an unknown system");
    }

    #[test]
    fn a_processor_is_told_by_its_name() {
        let cpuinfo = "vendor_id\t: X\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        assert_eq!(model(cpuinfo), "AMD EPYC");
        assert_eq!(model(""), "an unknown processor");
    }
}
