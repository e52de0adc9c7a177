//! Renewals of many leases, as one pipeline of commands.

use std::time::Duration;

use super::command::{self, Argument, millis};
use super::scripts::{Script, Scripts};
use crate::backend::wire::Renewal;

/// What to wait for after a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitReplicas {
    pub(super) replicas: u32,
    /// How long the server waits for them.
    pub(super) timeout: Duration,
}

/// Appends renewals. If `by_source`, the first of each script carries it: leases may be of several modes.
///
/// With `wait` they are followed by a WAIT. That covers what its own connection has written, so each of them writes.
pub(super) fn write_renewals(
    output: &mut Vec<u8>,
    renewals: &[&Renewal],
    wait: Option<WaitReplicas>,
    by_source: bool,
) {
    let mut carried: Vec<&Script> = Vec::new();
    for one in renewals {
        let (mut script, arguments) = renewal(one);
        if wait.is_some() && one.mode.share().is_none() {
            script = Scripts::rewrite();
        }
        let carries = by_source && !carried.iter().any(|other| other.is(script));
        if carries {
            carried.push(script);
        }
        script.write(output, carries, &one.names, &arguments);
    }
    if let Some(WaitReplicas { replicas, timeout }) = wait {
        let numbers = [i64::from(replicas), millis(timeout).max(1)].map(Argument::Number);
        command::write(output, &[Argument::Text("WAIT"), numbers[0], numbers[1]]);
    }
}

/// The script that extends a lease, and its arguments.
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
            write_renewals(&mut output, &renewals, None, by_source);
            let output = String::from_utf8(output).unwrap();
            let arguments = output.split("\r\n");
            let commands = arguments.filter(|argument| ["EVAL", "EVALSHA"].contains(argument));
            commands.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(commands(false), ["EVALSHA"; 4]);
        assert_eq!(commands(true), ["EVAL", "EVAL", "EVALSHA", "EVALSHA"]);
    }
}
