//! The name of a lock.

use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::key_problem::KeyProblem;
use super::key_template::KeyTemplate;

/// The longest part of a key that a message shows, in bytes before escaping.
const SHOWN: usize = 128;

/// The name of a lock, without the client's prefix.
///
/// Building a key never fails. Acquiring a lock checks its key, and fails with
/// [`LockErrorKind::InvalidKey`](crate::LockErrorKind::InvalidKey) if it [cannot be used](#which-keys-are-refused).
///
/// A key is used exactly as it is: nothing is trimmed, folded or normalised. To build one from values, use the
/// attribute's template, [`#[derive(LockKey)]`](derive@crate::LockKey) or a [`KeyWriter`](crate::KeyWriter): a plain
/// `format!("{a}:{b}")` gives the same key for different values.
///
/// # Examples
///
/// ```
/// use lock_runtime::LockKey;
///
/// let key = LockKey::from("order:42");
/// assert_eq!(key.as_str(), "order:42");
/// assert_eq!(key, LockKey::from(String::from("order:42")));
/// ```
///
/// # Which keys are refused
///
/// An empty key, and a key of more than 512 bytes.
///
/// A key whose braces Redis Cluster may read differently than its author: with an empty hash tag, `order:{}`, or with a
/// `}` and no tag, `order}`.
///
/// A key whose lock would share a record with another lock. Redis knows a lock by its *name*, the client's prefix
/// followed by the key. The lock's other records are named after it, such as its fence `{lock:order:42}:f`, so a lock
/// must not have such a name:
///
/// - with a tag, it does not end in `:f`, `:w`, `:r` or `:h`;
/// - it is not a tag alone, `{a}`, nor a tag followed by `:n` or `:audit`. Only a client with an empty prefix can have
///   such a name: `lock:{a}` and `lock:{a}:audit` are locks;
/// - it does not begin with `redisson_lock_queue:`.
///
/// A memory client refuses the same keys.
#[derive(Clone)]
pub struct LockKey {
    /// Shared by the call, its lease and its errors.
    text: Arc<str>,
    /// The defect found while the key was written; reported when a lock is acquired with it. Boxed, since every held
    /// lock has a key, and none of these keys has a problem.
    problem: Option<Box<KeyProblem>>,
    /// The template that wrote the key, if one did. A thin pointer, since every lease has it. It does not identify the
    /// lock, so comparisons ignore it.
    template: Option<&'static KeyTemplate>,
}

impl LockKey {
    pub(crate) fn new(text: impl Into<Arc<str>>, problem: Option<KeyProblem>) -> LockKey {
        LockKey {
            text: text.into(),
            problem: problem.map(Box::new),
            template: None,
        }
    }

    pub(crate) fn with_template(mut self, template: &'static KeyTemplate) -> LockKey {
        self.template = Some(template);
        self
    }

    /// Returns the template that wrote the key, if one did.
    pub(crate) fn template(&self) -> Option<&'static KeyTemplate> {
        self.template
    }

    pub(crate) fn is_written_by(&self, template: &str) -> bool {
        self.template.is_some_and(|own| own.text() == template)
    }

    /// Creates a key from plain text, and detects text that was probably meant as a template.
    ///
    /// `key = ORDER_KEY` with `const ORDER_KEY: &str = "order:<id>"` compiles, and would lock every
    /// order at once under one literal key.
    pub(crate) fn literal(text: &str) -> LockKey {
        let problem = placeholder_in(text).map(|name| KeyProblem::Template(name.into()));
        LockKey::new(text, problem)
    }

    /// Creates the key of a call for several locks that names none.
    pub(crate) fn missing() -> LockKey {
        LockKey::new("", Some(KeyProblem::Missing))
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.problem() == Some(&KeyProblem::Missing)
    }

    /// Returns the key as text, without the client's prefix.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn problem(&self) -> Option<&KeyProblem> {
        self.problem.as_deref()
    }
}

impl PartialEq for LockKey {
    fn eq(&self, other: &LockKey) -> bool {
        self.text == other.text && self.problem == other.problem
    }
}

impl Eq for LockKey {}

/// Compares the texts byte by byte.
impl Ord for LockKey {
    fn cmp(&self, other: &LockKey) -> Ordering {
        let texts = self.text.cmp(&other.text);
        texts.then_with(|| self.problem.cmp(&other.problem))
    }
}

impl PartialOrd for LockKey {
    fn partial_cmp(&self, other: &LockKey) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for LockKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl From<&str> for LockKey {
    fn from(text: &str) -> LockKey {
        LockKey::new(text, None)
    }
}

impl From<String> for LockKey {
    fn from(text: String) -> LockKey {
        LockKey::new(text, None)
    }
}

impl From<&String> for LockKey {
    fn from(text: &String) -> LockKey {
        LockKey::from(text.as_str())
    }
}

impl From<Box<str>> for LockKey {
    fn from(text: Box<str>) -> LockKey {
        LockKey::new(text, None)
    }
}

impl From<std::borrow::Cow<'_, str>> for LockKey {
    fn from(text: std::borrow::Cow<'_, str>) -> LockKey {
        LockKey::new(text, None)
    }
}

impl From<&LockKey> for LockKey {
    fn from(key: &LockKey) -> LockKey {
        key.clone()
    }
}

impl AsRef<str> for LockKey {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// Writes the key for messages: control characters are escaped and long keys are cut, so that a key from a stranger
/// cannot forge a log line. Use [`as_str`](LockKey::as_str) for the key itself.
impl fmt::Display for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = boundary_before(&self.text, SHOWN);
        write!(f, "{}", self.text[..end].escape_debug())?;
        if end < self.text.len() {
            f.write_char('…')?;
        }
        Ok(())
    }
}

impl fmt::Debug for LockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LockKey(\"{self}\")")
    }
}

/// Returns the last character boundary at or before `index`. (`str::floor_char_boundary` is newer than the oldest
/// compiler that this crate supports.)
fn boundary_before(text: &str, index: usize) -> usize {
    if index >= text.len() {
        return text.len();
    }
    (0..=index)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// Returns the first `<name>` in a text, where `name` looks like an argument or a field of an argument.
fn placeholder_in(text: &str) -> Option<&str> {
    text.match_indices('<').find_map(|(open, _)| {
        let rest = &text[open + 1..];
        let name = &rest[..rest.find('>')?];
        let mut words = name.split('.');
        words.all(is_identifier).then_some(name)
    })
}

fn is_identifier(word: &str) -> bool {
    let mut letters = word.chars();
    letters
        .next()
        .is_some_and(|first| first == '_' || first.is_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_escape_and_cut() {
        assert_eq!(LockKey::from("a\nb").to_string(), "a\\nb");
        assert_eq!(
            format!("{:?}", LockKey::from("order:42")),
            "LockKey(\"order:42\")"
        );

        let long = LockKey::from("é".repeat(100));
        assert_eq!(long.to_string(), format!("{}…", "é".repeat(64)));

        // The cut is inside a character: the whole character is dropped.
        let odd = LockKey::from(format!("x{}", "é".repeat(100)));
        assert_eq!(odd.to_string(), format!("x{}…", "é".repeat(63)));

        let fitting = LockKey::from("x".repeat(SHOWN));
        assert_eq!(fitting.to_string(), "x".repeat(SHOWN));
    }

    #[test]
    fn keys_are_in_the_order_of_their_bytes() {
        let mut keys = ["b", "a\u{e9}", "a", "B", "ab"].map(LockKey::from);
        keys.sort();
        let texts = keys.each_ref().map(LockKey::as_str);
        assert_eq!(texts, ["B", "a", "ab", "a\u{e9}", "b"]);
    }

    /// The holder's key may come from a template, and the next caller's key from an expression.
    #[test]
    fn key_is_the_same_from_a_template_and_from_text() {
        let plain = LockKey::from("order:42");
        let of_a_template = plain
            .clone()
            .with_template(&KeyTemplate("order:<id>", "order:<>"));
        assert_eq!(of_a_template, plain);
        let keys = std::collections::HashSet::from([plain, of_a_template]);
        assert_eq!(keys.len(), 1);
    }

    #[test]
    fn literal_that_reads_like_a_template_is_reported() {
        let key = LockKey::literal("order:<id>");
        assert_eq!(
            key.problem(),
            Some(&KeyProblem::Template("id".into())),
            "the literal would lock all orders at once"
        );
        assert!(LockKey::literal("<order.id>").problem().is_some());
        assert!(LockKey::literal("a < b <id>").problem().is_some());
    }

    #[test]
    fn other_angle_brackets_are_text() {
        for text in [
            "a<b",
            "a>b",
            "<>",
            "a < b > c",
            "<1>",
            "Vec<u8, A>",
            "plain",
        ] {
            assert_eq!(LockKey::literal(text).problem(), None, "{text}");
        }
    }
}
