//! Renews many leases in one pipeline.

use std::time::Duration;

use super::encoder::{self, Argument, millis};
use super::scripts::{Script, Scripts};
use crate::backend::wire::Renewal;

/// The replicas to wait for after a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitReplicas {
    pub(super) replicas: u32,
    /// How long the server waits for them.
    pub(super) timeout: Duration,
}

impl WaitReplicas {
    /// Appends the `WAIT` command.
    pub(super) fn write(self, output: &mut Vec<u8>) {
        let numbers = [i64::from(self.replicas), millis(self.timeout).max(1)].map(Argument::Number);
        encoder::write(output, &[Argument::Text("WAIT"), numbers[0], numbers[1]]);
    }
}

/// Appends renewals, perhaps of leases in several modes. With `by_source`, the first call of each script carries the
/// source.
pub(super) fn write_renewals(output: &mut Vec<u8>, renewals: &[&Renewal], by_source: bool) {
    write_each(output, renewals, by_source, renewal);
}

/// Like [`write_renewals`], but each renewal writes even if it need not: WAIT only covers writes of its own connection.
pub(super) fn write_rewrites(output: &mut Vec<u8>, renewals: &[&Renewal], by_source: bool) {
    write_each(output, renewals, by_source, |one| {
        let (script, arguments) = renewal(one);
        match one.mode.share() {
            // A renewal of a share always writes.
            Some(_) => (script, arguments),
            None => (Scripts::rewrite(), arguments),
        }
    });
}

fn write_each(
    output: &mut Vec<u8>,
    renewals: &[&Renewal],
    by_source: bool,
    call: impl for<'a> Fn(&'a Renewal) -> (&'static Script, [Argument<'a>; 2]),
) {
    let mut carried: Vec<&Script> = Vec::new();
    for renewal in renewals {
        let (script, arguments) = call(renewal);
        let carries = by_source && !carried.iter().any(|other| other.is(script));
        if carries {
            carried.push(script);
        }
        script.write(output, carries, &renewal.names, &arguments);
    }
}

/// Returns the script that extends a lease, and its arguments.
pub(super) fn renewal(renewal: &Renewal) -> (&'static Script, [Argument<'_>; 2]) {
    let script = &Scripts::of(renewal.mode, &renewal.names).renew;
    let arguments = [
        Argument::Member(&renewal.owner_id, renewal.mode),
        Argument::Number(millis(renewal.extension.ttl)),
    ];
    (script, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RecordNames;
    use crate::lease::owner_id::OwnerId;
    use crate::lease::schedule::Extension;
    use crate::lease::{Mode, Share};

    #[test]
    fn renewals_of_several_modes_carry_each_script_once() {
        let modes = [
            Mode::Exclusive,
            Mode::Share(Share::READ),
            Mode::Write,
            Mode::Share(Share::permits(5, 2).unwrap()),
        ];
        let renewals = modes.map(|mode| Renewal {
            lease: None,
            owner_id: OwnerId::parse_prefix(b"abcdefghABCDEFGH012345").unwrap(),
            names: RecordNames::of_lock("lock:k".to_owned()).unwrap().into(),
            mode,
            extension: Extension {
                ttl: Duration::from_secs(10),
                extends: true,
            },
        });
        let renewals: Vec<&Renewal> = renewals.iter().collect();
        let commands = |by_source| {
            let mut output = Vec::new();
            write_renewals(&mut output, &renewals, by_source);
            let output = String::from_utf8(output).unwrap();
            let arguments = output.split("\r\n");
            let commands = arguments.filter(|argument| ["EVAL", "EVALSHA"].contains(argument));
            commands.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(commands(false), ["EVALSHA"; 4]);
        assert_eq!(commands(true), ["EVAL", "EVAL", "EVALSHA", "EVALSHA"]);
    }
}
