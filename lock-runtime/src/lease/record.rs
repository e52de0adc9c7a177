//! The value under a lock's key in Redis: `owner(22) flag(1) token(16) label`.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use super::fencing_token::FencingToken;
use super::owner_id::OwnerId;

/// The server's answer to the holder: the record's flag and token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Grant {
    /// Whether waiters queue for the lock, so that its release is a hand-off.
    pub(crate) contended: bool,
    /// The number in the record, which is a token if it [was minted](FencingToken::is_minted).
    pub(crate) token: FencingToken,
}

impl Grant {
    /// Parses `flag(1) token(16)`.
    pub(crate) fn parse(text: &[u8]) -> Option<Grant> {
        let (&flag, digits) = text.split_first()?;
        let contended = match flag {
            b' ' => false,
            b'+' => true,
            _ => return None,
        };
        if digits.len() != FencingToken::DIGITS || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(Grant {
            contended,
            token: FencingToken::new(number),
        })
    }
}

/// The longest part of a label that is shown, in bytes. Our labels are shorter, but other clients may write the record.
const LONGEST_LABEL: usize = 512;

/// The text before the first token in the record of a lock that several owners share.
const SHARED: &[u8] = b"shared";

/// The same text for a lock that is reserved: its holder is done, and its minimum hold is not over. As long as `shared`:
/// with a token it takes the place of an owner id.
const RESERVED: &[u8] = b"rested";

/// The holder of a lock, as far as its record shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// A client of this crate, with its label, which may be empty.
    Ours(String),
    /// Several owners together.
    Shared(Shared),
    /// An owner in Redisson's record, by its field there.
    Redisson(String),
    /// Another program that locks with `SET NX PX`; the number tells its values apart.
    Foreign(u64),
}

impl Holder {
    /// Parses the value under a lock's key.
    pub(crate) fn parse(value: &[u8]) -> Holder {
        let Some((_, label)) = split(value) else {
            let mut hasher = DefaultHasher::new();
            hasher.write(value);
            return Holder::Foreign(hasher.finish());
        };
        let label = without_tag(label);
        let label = &label[..label.len().min(LONGEST_LABEL)];
        let label = String::from_utf8_lossy(label).into_owned();
        if is_shared(value) {
            let counted = None;
            return Holder::Shared(Shared { label, counted });
        }
        if is_reserved(value) {
            Holder::Ours(format!("{label} (reserved)"))
        } else {
            Holder::Ours(label)
        }
    }

    /// Parses the field of the owner in Redisson's record, which is empty if there are many.
    pub(crate) fn parse_field(field: &[u8]) -> Holder {
        let field = &field[..field.len().min(LONGEST_LABEL)];
        Holder::Redisson(String::from_utf8_lossy(field).into_owned())
    }

    /// Describes the holder, for an error.
    pub(crate) fn describe(&self) -> String {
        match self {
            Holder::Ours(label) if label.is_empty() => "a client without a label".to_owned(),
            Holder::Ours(label) => label.escape_debug().to_string(),
            Holder::Shared(shared) => shared.to_string(),
            Holder::Redisson(field) => describe_field(field),
            Holder::Foreign(_) => "a client that is not lock-runtime".to_owned(),
        }
    }
}

/// Describes an owner in Redisson's record: the UUID of its client, a colon, and the number of its thread. An owner of
/// this crate has a secret random number in place of the thread.
fn describe_field(field: &str) -> String {
    /// No process has that many threads.
    const DIGITS_OF_A_THREAD: usize = 12;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match field.split_once(':') {
        _ if field.is_empty() => "a Redisson client".to_owned(),
        Some((client, number)) if is_number(number) && number.len() > DIGITS_OF_A_THREAD => {
            format!("a lock-runtime client {}", client.escape_debug())
        }
        _ => format!("a Redisson client {}", field.escape_debug()),
    }
}

/// Returns the label of a queue entry without the tag of a share: a plain script may have granted the lock to a share.
pub(crate) fn without_tag(label: &[u8]) -> &[u8] {
    let Some(tagged) = label.strip_prefix(b"\x1f") else {
        return label;
    };
    let end = tagged.iter().position(|&byte| byte == b'\x1f');
    end.map_or(label, |end| &tagged[end + 1..])
}

/// Returns the grant in a record of this crate; `None` for any other value.
pub(crate) fn grant_of(value: &[u8]) -> Option<Grant> {
    split(value).map(|(grant, _)| grant)
}

/// Returns the grant and the label in a record of this crate.
fn split(value: &[u8]) -> Option<(Grant, &[u8])> {
    let (head, label) = value.split_at_checked(OwnerId::LEN + 1 + FencingToken::DIGITS)?;
    let label = label.strip_prefix(b" ")?;
    OwnerId::parse_prefix(head)?;
    Some((Grant::parse(&head[OwnerId::LEN..])?, label))
}

/// Returns whether a record of this crate shows that several owners share the lock.
pub(crate) fn is_shared(value: &[u8]) -> bool {
    value.starts_with(SHARED)
}

/// Returns whether a record of this crate shows that its holder is done and the lock is reserved.
pub(crate) fn is_reserved(value: &[u8]) -> bool {
    value.starts_with(RESERVED)
}

/// Several owners that hold a lock together, as a waiter sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// The label of the first owner to share the lock, which may have left.
    pub(crate) label: String,
    /// `None` if the answer contained only the record.
    pub(crate) counted: Option<Counted>,
}

/// The shares of a lock, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) owners: u64,
    /// The total that they take.
    pub(crate) taken: u64,
    /// The limit of the waiting owner; `None` if it has no limit.
    pub(crate) limit: Option<u32>,
    /// How long the lock has been shared without a break.
    pub(crate) since: Duration,
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.counted {
            None => write!(f, "{}", self.label.escape_debug()),
            Some(counted) => {
                let Counted { owners, taken, .. } = counted;
                let plural = if owners == 1 { "" } else { "s" };
                match counted.limit {
                    None => write!(f, "{owners} reader{plural}")?,
                    Some(limit) => {
                        write!(f, "{owners} caller{plural} with {taken} of {limit} permits")?;
                    }
                }
                write!(f, ", since {}", Rounded(counted.since))
            }
        }
    }
}

/// Formats a time for people: in whole milliseconds below a second, then in whole seconds.
struct Rounded(Duration);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() {
            0 => write!(f, "{} ms", self.0.as_millis()),
            seconds => write!(f, "{seconds} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "abcdefghABCDEFGH012345+0001234567890123 api-7 (pid 4121) ship";

    #[test]
    fn grant_is_a_flag_and_sixteen_digits() {
        let grant = Grant::parse(b"+0001234567890123").unwrap();
        assert!(grant.contended);
        assert_eq!(grant.token.get(), 1_234_567_890_123);
        assert!(!Grant::parse(b" 0001234567890123").unwrap().contended);
        for wrong in [
            &b"-0001234567890123"[..],
            b"+123",
            b"+000123456789012x",
            b"",
            b"++001234567890123",
        ] {
            assert_eq!(Grant::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn label_of_our_own_record_is_parsed() {
        assert_eq!(
            Holder::parse(RECORD.as_bytes()),
            Holder::Ours("api-7 (pid 4121) ship".to_owned())
        );
        assert_eq!(
            Holder::parse(&RECORD.as_bytes()[..40]),
            Holder::Ours(String::new())
        );
    }

    #[test]
    fn shared_record_is_distinguished_from_an_exclusive_record() {
        let record = "shared0001234567890123+0001234567890123 shared: api-7 report";
        let holder = Holder::parse(record.as_bytes());
        assert_eq!(holder.describe(), "shared: api-7 report");
        assert!(matches!(holder, Holder::Shared(_)));
    }

    #[test]
    fn tag_of_a_share_is_not_part_of_its_label() {
        let record = "abcdefghABCDEFGH012345+0001234567890123 \u{1f}2/5\u{1f}api-7 report";
        let holder = Holder::parse(record.as_bytes());
        assert_eq!(holder.describe(), "api-7 report");
        let torn = "abcdefghABCDEFGH012345+0001234567890123 \u{1f}api-7 report";
        let holder = Holder::parse(torn.as_bytes());
        assert_eq!(holder.describe(), "\\u{1f}api-7 report");
    }

    #[test]
    fn reserved_lock_is_described_by_its_last_holder() {
        let record = "rested0001234567890123 0001234567890123 api-7 report";
        let holder = Holder::parse(record.as_bytes());
        assert_eq!(holder.describe(), "api-7 report (reserved)");
    }

    #[test]
    fn shares_are_described_by_their_number_and_the_waiters_limit() {
        let describe = |owners, taken, limit, since| {
            let counted = Some(Counted {
                owners,
                taken,
                limit,
                since: Duration::from_millis(since),
            });
            let label = "shared: api-7 report".to_owned();
            Holder::Shared(Shared { label, counted }).describe()
        };
        assert_eq!(describe(3, 3, None, 2_900), "3 readers, since 2 s");
        assert_eq!(describe(1, 1, None, 85), "1 reader, since 85 ms");
        assert_eq!(
            describe(3, 4, Some(5), 1_000),
            "3 callers with 4 of 5 permits, since 1 s"
        );
    }

    #[test]
    fn forged_label_is_shown_in_part() {
        let forged = RECORD.to_owned() + &"x".repeat(1 << 20);
        let shown = Holder::parse(forged.as_bytes()).describe();
        assert_eq!(shown.len(), LONGEST_LABEL);
        assert!(shown.starts_with("api-7 (pid 4121) ship"));
    }

    #[test]
    fn owner_in_the_record_of_redisson_is_described_by_its_field() {
        const CLIENT: &str = "3f2504e0-4f89-11d3-9a0c-0305e82c3301";
        let describe = |field: &str| Holder::parse_field(field.as_bytes()).describe();
        let java = format!("{CLIENT}:47");
        assert_eq!(describe(&java), format!("a Redisson client {java}"));
        let ours = format!("{CLIENT}:4611686018427387904");
        assert_eq!(describe(&ours), format!("a lock-runtime client {CLIENT}"));
        let of_a_port = format!("{CLIENT}:{CLIENT}");
        assert_eq!(
            describe(&of_a_port),
            format!("a Redisson client {of_a_port}")
        );
        assert_eq!(describe(""), "a Redisson client");
        assert_eq!(describe("a\nb"), "a Redisson client a\\nb");
        assert!(describe(&"x".repeat(1 << 20)).len() < 2 * LONGEST_LABEL);
    }

    #[test]
    fn foreign_holders_are_distinguished() {
        let [first, again, second] = ["a", "a", "b"].map(|value| Holder::parse(value.as_bytes()));
        assert_eq!(first, again);
        assert_ne!(first, second);
    }

    #[test]
    fn values_of_other_clients_are_foreign() {
        for value in [
            "",
            "1",
            "3f2504e04f8911d39a0c0305e82c3301",
            &RECORD[..39],
            &RECORD.replace('+', "x"),
        ] {
            let holder = Holder::parse(value.as_bytes());
            assert!(matches!(holder, Holder::Foreign(_)), "{value:?}");
        }
    }
}
