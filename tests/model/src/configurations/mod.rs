//! The configurations that are explored, one file for each source of trouble. Each configuration
//! lists the scenarios that it covers.

/// Configurations: the scenarios that each covers, the function that makes its base, and the fields
/// in which it differs from the base.
macro_rules! configurations {
    ($($about:literal: $make:ident($($argument:expr),+) $({ $($field:ident: $value:expr),+ })?;)+) => {
        vec![$(Configuration {
            about: $about,
            $($($field: $value,)+)?
            ..$make($($argument),+)
        }),+]
    };
}

mod callers;
mod moves;
mod network;
mod outsiders;
mod processes;
mod releases;
mod reserve;
mod retained;
mod server;
mod several;
mod shares;
mod takes;
mod turns;
mod walks;

use crate::configuration::{Class, Configuration};
use crate::faults::{Budget, Fault};

pub fn all() -> Vec<Configuration> {
    [
        callers::all(),
        processes::all(),
        network::all(),
        server::all(),
        moves::all(),
        outsiders::all(),
        turns::all(),
        releases::all(),
        retained::all(),
        shares::all(),
        reserve::all(),
        takes::all(),
        several::all(),
    ]
    .concat()
}

pub use walks::all as walks;

/// The configuration of that name.
pub fn named(name: &str) -> Configuration {
    let mut all = all().into_iter().chain(walks());
    let found = all.find(|configuration| configuration.name == name);
    found.unwrap_or_else(|| panic!("no configuration has the name {name}"))
}

/// A configuration with the shortest times, for those with many states.
fn short(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        claim: 1,
        live: 2,
        delay: 0,
        ..configuration(name, calls, faults)
    }
}

/// Clients that make these numbers of calls, under these numbers of faults. Times are small numbers
/// in the proportions of the real ones; nothing bounds how slow a client may be.
fn configuration(name: &'static str, calls: &[u8], faults: &[(Fault, u8)]) -> Configuration {
    Configuration {
        name,
        about: "",
        calls: calls.to_vec(),
        shares: Vec::new(),
        together: &[],
        share_window: 2,
        walk: 4,
        rounding: 0,
        writes: false,
        budget: Budget::of(faults),
        modes: Vec::new(),
        class: Class::Exclusive,
        ttl: 3,
        claim: 2,
        live: 3,
        delay: 1,
        late: 2,
        turns: 2,
        local_turns: None,
        retain: 0,
        at_least: 0,
        mixed: 0,
        short_renewal: None,
        publish_counts: true,
        confirms: false,
        notice: 0,
        skew: 0,
        forgets: false,
        synchronous: false,
        takes: false,
        deletes: false,
        recovers: Some(64),
        seeded: None,
        removed: None,
    }
}
