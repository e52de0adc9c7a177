//! Encodes commands as RESP arrays of bulk strings, directly into a connection's output.
//!
//! The client library first collects the arguments of a command, and then copies them. For the two commands of a call
//! that cost a tenth of the call's instructions, and four allocations.

use std::time::Duration;

use itoa::Buffer;

use crate::backend::wire::owner::QueueEntry;
use crate::key::NameOf;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::{Mode, Share};

/// One argument of a command, or the command's name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'a> {
    Text(&'a str),
    /// Text from another program, which need not be UTF-8.
    Bytes(&'a [u8]),
    Number(i64),
    /// The name of a record.
    Name(NameOf<'a>),
    Entry(&'a QueueEntry),
    /// The record of a lock without waiters. This number takes the place of the token.
    Record(&'a QueueEntry, FencingToken),
    /// The member of an owner in the record of shares: its id, followed by its permits if it takes more than one. In a
    /// mode without shares it is only the id.
    Member(&'a OwnerId, Mode),
    /// The boot id of the server, which the connection knows.
    Boot,
    /// The field of an owner in Redisson's record: the name of its client, and a number in the place of Redisson's
    /// thread id.
    Field(&'a str, &'a OwnerId),
}

/// Precedes a number in a record.
const ZEROS: &[u8] = b"0000000000000000";
const _: () = assert!(ZEROS.len() == FencingToken::DIGITS);

/// Returns a duration in milliseconds, as commands take it.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The first arguments of a command, encoded once.
#[derive(PartialEq)]
pub(super) struct CommandHeader {
    count: usize,
    bytes: Vec<u8>,
}

impl CommandHeader {
    pub(super) fn new(arguments: &[Argument<'_>]) -> CommandHeader {
        let mut bytes = Vec::new();
        write_arguments(&mut bytes, arguments);
        CommandHeader {
            count: arguments.len(),
            bytes,
        }
    }

    /// Appends the command that begins with these arguments, followed by `keys` and `arguments`.
    pub(super) fn write<'a>(
        &self,
        output: &mut Vec<u8>,
        keys: impl ExactSizeIterator<Item = Argument<'a>>,
        arguments: &[Argument<'_>],
    ) {
        write_length(output, b'*', self.count + keys.len() + arguments.len());
        output.extend_from_slice(&self.bytes);
        keys.for_each(|key| write_argument(output, key));
        write_arguments(output, arguments);
    }
}

/// Appends the command with these `arguments`.
pub(super) fn write(output: &mut Vec<u8>, arguments: &[Argument<'_>]) {
    write_length(output, b'*', arguments.len());
    write_arguments(output, arguments);
}

fn write_arguments(output: &mut Vec<u8>, arguments: &[Argument<'_>]) {
    for &argument in arguments {
        write_argument(output, argument);
    }
}

fn write_argument(output: &mut Vec<u8>, argument: Argument<'_>) {
    match argument {
        Argument::Text(text) => write_bulk(output, &[text.as_bytes()]),
        Argument::Bytes(bytes) => write_bulk(output, &[bytes]),
        Argument::Number(number) => {
            write_bulk(output, &[Buffer::new().format(number).as_bytes()]);
        }
        Argument::Name(name) => write_bulk(output, &name.parts().map(str::as_bytes)),
        Argument::Entry(QueueEntry { owner_id, label }) => {
            write_bulk(output, &[owner_id.as_bytes(), b" ", label.as_bytes()]);
        }
        Argument::Record(QueueEntry { owner_id, label }, number) => {
            let (owner_id, mut digits) = (owner_id.as_bytes(), Buffer::new());
            let digits = digits.format(number.get()).as_bytes();
            let zeros = ZEROS.get(digits.len()..).unwrap_or_default();
            let label = label.as_bytes();
            write_bulk(output, &[owner_id, b" ", zeros, digits, b" ", label]);
        }
        // `Connection::with_boot` replaces it before a command is written.
        Argument::Boot => write_bulk(output, &[b"-"]),
        Argument::Field(client, owner_id) => {
            let mut number = Buffer::new();
            let number = number.format(owner_id.number());
            write_bulk(output, &[client, ":", number].map(str::as_bytes));
        }
        Argument::Member(owner_id, mode) => match mode.share().map_or(1, Share::take) {
            1 => write_bulk(output, &[owner_id.as_bytes()]),
            take => {
                let mut digits = Buffer::new();
                let digits = digits.format(take).as_bytes();
                write_bulk(output, &[owner_id.as_bytes(), b"*", digits]);
            }
        },
    }
}

fn write_bulk<const N: usize>(output: &mut Vec<u8>, parts: &[&[u8]; N]) {
    write_length(output, b'$', parts.iter().map(|part| part.len()).sum());
    for part in parts {
        // Many names have no brace and no suffix.
        if !part.is_empty() {
            output.extend_from_slice(part);
        }
    }
    output.extend_from_slice(b"\r\n");
}

fn write_length(output: &mut Vec<u8>, kind: u8, length: usize) {
    match u8::try_from(length) {
        // The common case, written in one step.
        Ok(length @ 0..10) => output.extend_from_slice(&[kind, b'0' + length, b'\r', b'\n']),
        Ok(length @ 10..100) => {
            let (tens, ones) = (b'0' + length / 10, b'0' + length % 10);
            output.extend_from_slice(&[kind, tens, ones, b'\r', b'\n']);
        }
        _ => {
            output.push(kind);
            output.extend_from_slice(Buffer::new().format(length).as_bytes());
            output.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{RecordKind, RecordNames};

    #[test]
    fn command_is_written_as_by_the_client_library() {
        let header = CommandHeader::new(&[
            Argument::Text("EVALSHA"),
            Argument::Text(""),
            Argument::Number(3),
        ]);
        let names = RecordNames::of_lock("lock:Bücher".to_owned()).unwrap();
        let owner_id = OwnerId::parse_prefix(b"abcdefghABCDEFGH012345").unwrap();
        let entry = QueueEntry {
            owner_id,
            label: "api-7 ship".into(),
        };
        let keys =
            [RecordKind::Lock, RecordKind::Fence].map(|record| Argument::Name(names.of(record)));
        let arguments = [Argument::Entry(&entry), Argument::Number(i64::MIN)];
        let mut output = b"before".to_vec();
        header.write(&mut output, keys.into_iter(), &arguments);
        write(&mut output, &[Argument::Text("PING")]);
        let mut expected = redis::cmd("EVALSHA");
        expected.arg("").arg(3).arg("lock:Bücher");
        expected.arg("{lock:Bücher}:f");
        expected
            .arg("abcdefghABCDEFGH012345 api-7 ship")
            .arg(i64::MIN);
        assert_eq!(
            output,
            [
                b"before",
                &expected.get_packed_command()[..],
                &redis::cmd("PING").get_packed_command()
            ]
            .concat()
        );
    }

    #[test]
    fn length_of_an_argument_is_written_as_by_the_client_library() {
        for length in [0, 1, 9, 10, 99, 100, 255, 256, 12_345] {
            let text = "x".repeat(length);
            let mut output = Vec::new();
            write(
                &mut output,
                &[Argument::Text("PING"), Argument::Text(&text)],
            );
            let expected = redis::cmd("PING").arg(&text).get_packed_command();
            assert_eq!(output, expected, "{length}");
        }
    }

    #[test]
    fn member_of_a_share_has_its_permits_if_more_than_one() {
        let owner_id = OwnerId::parse_prefix(b"abcdefghABCDEFGH012345").unwrap();
        for (mode, expected) in [
            (Mode::Exclusive, "$22\r\nabcdefghABCDEFGH012345\r\n"),
            (
                Mode::Share(Share::READ),
                "$22\r\nabcdefghABCDEFGH012345\r\n",
            ),
            (
                Mode::Share(Share::permits(50, 12).unwrap()),
                "$25\r\nabcdefghABCDEFGH012345*12\r\n",
            ),
        ] {
            let mut output = Vec::new();
            write_argument(&mut output, Argument::Member(&owner_id, mode));
            assert_eq!(String::from_utf8(output).unwrap(), expected);
        }
    }
}
