//! Builds a key from text and values, and the values of std and `uuid` that can be part of a key.
//!
//! [`KeyWriter`] and [`KeyPart`] depend on each other, so both are here.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use super::key_problem::KeyProblem;
use super::lock_key::LockKey;
use super::record_names::has_reserved_end;
use super::stack_text::StackText;

/// A value that can be part of a lock's key.
///
/// Implemented for integers and their `NonZero` forms, `bool`, `char`, strings, IP addresses, `uuid::Uuid`, and for
/// references and smart pointers to any of them. It is not implemented for every type with `Display`: that text is for
/// people and may change, and a key that changes during a deployment locks nothing. Floats and `Option` are left out on
/// purpose, since equal values must give equal keys, and a missing value must give none.
///
/// Implement it for your own identifiers: with `#[derive(KeyPart)]` for newtypes and for enums without fields, by hand
/// for other types. Equal values must write equal text, and different values different text.
///
/// # Examples
///
/// ```
/// use lock_runtime::{KeyPart, KeyWriter};
///
/// // A number has no `-`, so the first one ends it.
/// struct Invoice { number: u64, supplier: String }
///
/// impl KeyPart for Invoice {
///     fn write_to(&self, key: &mut KeyWriter) {
///         self.number.write_to(key);
///         write!(key, "-{}", self.supplier);
///     }
/// }
///
/// let mut key = KeyWriter::new();
/// key.text("invoice:").part(&Invoice { number: 42, supplier: "acme".into() });
/// assert_eq!(key.finish().as_str(), "invoice:42-acme");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a lock key",
    label = "this value is a `{Self}`",
    note = "name what identifies the locked thing, such as `<order.id>`, `<id.0>` inside a wrapper, `<pair.0>:<pair.1>` for a tuple; for each element of a list, write `keys = ids.iter().map(…)`",
    note = "if the value may be absent, take it out before the call, or write what stands for none, such as `<id.unwrap_or(0)>` if 0 is no id",
    note = "if the type is your own, derive or implement `lock_runtime::KeyPart` for it",
    note = "if its text identifies it and never changes, write `<value.to_string()>`, or `<path.display().to_string()>` for a path"
)]
pub trait KeyPart {
    /// Writes the value; see [`KeyWriter::write_str`] and `write!`.
    fn write_to(&self, key: &mut KeyWriter);
}

/// Writes values into a key such that different values never give the same text.
///
/// A value keeps `A-Z a-z 0-9 - _ . @ +` and everything that is not ASCII; every other byte becomes `%XX`. A separator
/// such as `:` or `/` between two values therefore cannot come from a value.
///
/// The attribute uses a `KeyWriter` for its template. Use one yourself to build a key by hand, and in implementations
/// of [`KeyPart`](trait@KeyPart).
///
/// # Examples
///
/// ```
/// use lock_runtime::KeyWriter;
///
/// let mut key = KeyWriter::new();
/// key.text("user:").part("eve:admin").text(":order:").part(&42);
/// assert_eq!(key.finish().as_str(), "user:eve%3Aadmin:order:42");
/// ```
pub struct KeyWriter {
    text: StackText,
    problem: Option<KeyProblem>,
    /// The placeholder that is being written, for messages.
    placeholder: Option<&'static str>,
    /// How many `part` calls are open: inside a call, all text is escaped.
    depth: usize,
    /// Where the last value ends.
    value_end: usize,
}

impl KeyWriter {
    /// Creates a writer with an empty key.
    pub fn new() -> KeyWriter {
        KeyWriter {
            text: StackText::default(),
            problem: None,
            placeholder: None,
            depth: 0,
            value_end: 0,
        }
    }

    /// Writes the author's own text as it is.
    ///
    /// Inside an implementation of [`KeyPart`](trait@KeyPart) the text is escaped, as [`write_str`](Self::write_str)
    /// does: a value must not be able to write a separator.
    pub fn text(&mut self, text: &str) -> &mut KeyWriter {
        if self.depth == 0 {
            self.text.push_str(text);
        } else {
            self.write_str(text);
        }
        self
    }

    /// Writes a value, escaped.
    ///
    /// If a value writes nothing, acquiring the key fails with
    /// [`LockErrorKind::InvalidKey`](crate::LockErrorKind::InvalidKey): an order without an id must not lock on behalf
    /// of all others.
    pub fn part<P: KeyPart + ?Sized>(&mut self, value: &P) -> &mut KeyWriter {
        self.part_dyn(&value);
        self
    }

    /// Writes a value of any type. One copy serves all types: a copy for each would be code in every locked function.
    fn part_dyn(&mut self, value: &dyn KeyPart) {
        let start = self.text.len();
        self.depth += 1;
        value.write_to(self);
        self.depth -= 1;
        self.value_end = self.text.len();
        if self.text.len() == start {
            self.problem.get_or_insert(KeyProblem::EmptyValue {
                placeholder: self.placeholder,
            });
        }
    }

    /// Like [`part`](Self::part), but with the placeholder's source text for messages.
    pub(crate) fn placeholder(&mut self, name: &'static str, value: &dyn KeyPart) {
        self.placeholder = Some(name);
        self.part_dyn(value);
        self.placeholder = None;
    }

    /// Writes a piece of a value, escaped.
    pub fn write_str(&mut self, value: &str) {
        let mut kept = 0;
        for (at, byte) in value.bytes().enumerate() {
            if is_kept(byte) {
                continue;
            }
            // An escaped byte is ASCII, so both ends are character boundaries.
            self.text.push_str(&value[kept..at]);
            self.push_escaped(byte);
            kept = at + 1;
        }
        self.text.push_str(&value[kept..]);
    }

    /// Writes formatted text as a piece of a value, escaped, so that `write!(writer, "{}", id)`
    /// works without an import and without a `String` in between.
    pub fn write_fmt(&mut self, value: fmt::Arguments<'_>) {
        struct Escaping<'a>(&'a mut KeyWriter);

        impl Write for Escaping<'_> {
            fn write_str(&mut self, piece: &str) -> fmt::Result {
                self.0.write_str(piece);
                Ok(())
            }
        }

        if Escaping(self).write_fmt(value).is_err() {
            // Writing into the key cannot fail, so the value's own `Display` failed.
            self.problem.get_or_insert(KeyProblem::Unprintable {
                placeholder: self.placeholder,
            });
        }
    }

    /// Returns the key. Acquiring a lock with it reports its problems.
    ///
    /// A key with a hash tag must not end like [the name of another record](LockKey#which-keys-are-refused). If its
    /// last value gives it such an end, the last letter is escaped: `{order}:%66` for `{order}:f`.
    pub fn finish(mut self) -> LockKey {
        let ends_in_value = self.value_end == self.text.len();
        if ends_in_value && has_reserved_end(self.text.as_str()) {
            let letter = self.text.pop_ascii();
            self.push_escaped(letter.expect("a suffix has ASCII letters"));
        }
        LockKey::new(self.text.as_str(), self.problem)
    }

    fn push_escaped(&mut self, byte: u8) {
        const HEX: &str = "0123456789ABCDEF";
        let digit = |four: u8| &HEX[usize::from(four)..][..1];
        self.text.push_str("%");
        self.text.push_str(digit(byte >> 4));
        self.text.push_str(digit(byte & 0xF));
    }
}

impl Default for KeyWriter {
    fn default() -> KeyWriter {
        KeyWriter::new()
    }
}

impl fmt::Debug for KeyWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyWriter")
            .field("text", &self.text.as_str())
            .finish_non_exhaustive()
    }
}

/// Returns whether a byte of a value stays as it is in a key. Every other ASCII byte becomes `%XX`, so a separator in a
/// template's own text can never be part of a value.
const fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'@' | b'+')
        || !byte.is_ascii()
}

// The values of std and `uuid` that can be part of a key.

impl KeyPart for str {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(self);
    }
}

impl KeyPart for String {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(self);
    }
}

impl KeyPart for char {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(self.encode_utf8(&mut [0; 4]));
    }
}

impl KeyPart for bool {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(if *self { "true" } else { "false" });
    }
}

macro_rules! by_display {
    ($($type:ty),* $(,)?) => {$(
        impl KeyPart for $type {
            fn write_to(&self, key: &mut KeyWriter) {
                write!(key, "{self}");
            }
        }
    )*};
}

// For these the standard library and RFC 9562 promise one canonical text, formatted on the stack.
by_display!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);
by_display!(IpAddr, Ipv4Addr, Ipv6Addr, uuid::Uuid);

macro_rules! non_zero {
    ($($type:ty),* $(,)?) => {$(
        impl KeyPart for NonZero<$type> {
            fn write_to(&self, key: &mut KeyWriter) {
                self.get().write_to(key);
            }
        }
    )*};
}

non_zero!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);

macro_rules! by_target {
    ($($pointer:ty),* $(,)?) => {$(
        impl<T: KeyPart + ?Sized> KeyPart for $pointer {
            fn write_to(&self, key: &mut KeyWriter) {
                (**self).write_to(key);
            }
        }
    )*};
}

by_target!(&T, &mut T, Box<T>, Rc<T>, Arc<T>);

impl<T: KeyPart + ToOwned + ?Sized> KeyPart for Cow<'_, T> {
    fn write_to(&self, key: &mut KeyWriter) {
        (**self).write_to(key);
    }
}

#[cfg(test)]
mod tests;
