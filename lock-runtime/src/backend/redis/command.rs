//! Commands, written to a connection's output as they are sent: RESP arrays of bulk strings.
//!
//! The client library collects the words of a command first and copies them from there. Two commands of
//! each call went that way, which was a tenth of the instructions of a call and four allocations.

use std::time::Duration;

use itoa::Buffer;

use crate::backend::wire::owner::QueueEntry;
use crate::key::Beside;

/// One word of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'a> {
    Text(&'a str),
    Number(i64),
    /// The name of a record beside a lock.
    Name(Beside<'a>),
    /// An owner as it stands in a queue.
    Entry(&'a QueueEntry),
}

/// A duration in milliseconds, as commands take it.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The first words of commands, as they are written.
pub(super) struct CommandHeader {
    count: usize,
    bytes: Vec<u8>,
}

impl CommandHeader {
    pub(super) fn new(words: &[Argument<'_>]) -> CommandHeader {
        let mut bytes = Vec::new();
        write_words(&mut bytes, words);
        CommandHeader {
            count: words.len(),
            bytes,
        }
    }

    /// Appends the command that consists of this and `words`.
    pub(super) fn write(&self, output: &mut Vec<u8>, words: &[Argument<'_>]) {
        length(output, b'*', self.count + words.len());
        output.extend_from_slice(&self.bytes);
        write_words(output, words);
    }
}

/// Appends the command that consists of `words`.
pub(super) fn write(output: &mut Vec<u8>, words: &[Argument<'_>]) {
    length(output, b'*', words.len());
    write_words(output, words);
}

fn write_words(output: &mut Vec<u8>, words: &[Argument<'_>]) {
    for word in words {
        match word {
            Argument::Text(text) => bulk(output, &[text]),
            Argument::Number(number) => bulk(output, &[Buffer::new().format(*number)]),
            Argument::Name(name) => bulk(output, &name.parts()),
            Argument::Entry(entry) => bulk(output, &entry.parts()),
        }
    }
}

fn bulk(output: &mut Vec<u8>, parts: &[&str]) {
    length(output, b'$', parts.iter().map(|part| part.len()).sum());
    for part in parts {
        output.extend_from_slice(part.as_bytes());
    }
    output.extend_from_slice(b"\r\n");
}

fn length(output: &mut Vec<u8>, kind: u8, length: usize) {
    output.push(kind);
    output.extend_from_slice(Buffer::new().format(length).as_bytes());
    output.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RecordNames;
    use crate::lease::owner_id::OwnerId;

    #[test]
    fn a_command_is_written_as_the_client_library_writes_it() {
        let head = CommandHeader::new(&[
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
        let rest = [
            Argument::Text(&names.lock),
            Argument::Name(names.fence()),
            Argument::Entry(&entry),
            Argument::Number(i64::MIN),
        ];
        let mut output = b"before".to_vec();
        head.write(&mut output, &rest);
        write(&mut output, &[Argument::Text("PING")]);
        let mut same = redis::cmd("EVALSHA");
        same.arg("").arg(3).arg("lock:Bücher");
        same.arg("{lock:Bücher}:f");
        same.arg("abcdefghABCDEFGH012345 api-7 ship").arg(i64::MIN);
        assert_eq!(
            output,
            [
                b"before",
                &same.get_packed_command()[..],
                &redis::cmd("PING").get_packed_command()
            ]
            .concat()
        );
    }
}
