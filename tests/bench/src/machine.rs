//! The machine of the measurements.

use std::fs;

use harness::RedisServer;

use crate::meter::Meter;

/// One line without a host name: cores, system and server.
pub(crate) fn machine() -> String {
    let version = Meter::new(&RedisServer::start()).version();
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let system = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let fields = processor.lines().filter_map(|line| line.split_once(':'));
    let named = |name: &'static str| {
        fields
            .clone()
            .filter(move |(field, _)| field.trim() == name)
    };
    let cores = named("processor").count();
    let model = named("model name").next();
    let model = model.map_or("an unknown processor", |(_, model)| model.trim());
    let kernel: Vec<&str> = system.trim().split('.').take(2).collect();
    let kernel = kernel.join(".");
    format!("{cores} cores of {model}, Linux {kernel}, {version} on the same machine")
}

/// The load average of the last minute. Figures of a busy machine are unreliable, and the output
/// must show that.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}
