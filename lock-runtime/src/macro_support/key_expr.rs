//! Converts the value of `key = …`.

use crate::key::LockKey;

/// The types that a key expression may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a lock key",
    label = "expected a `LockKey`, a `String` or a `&str`",
    note = "a template is a string literal: `key = \"order:<id>\"`",
    note = "a struct of your own becomes a key by `#[derive(lock_runtime::LockKey)]`"
)]
pub trait IntoKey {
    /// Returns the key; `text` means that the expression is a plain `&str`.
    fn into_key(self, text: bool) -> LockKey;
}

#[diagnostic::do_not_recommend]
impl<K: Into<LockKey>> IntoKey for K {
    fn into_key(self, text: bool) -> LockKey {
        let key = self.into();
        if text {
            LockKey::literal(key.as_str())
        } else {
            key
        }
    }
}

/// Returns the key of an expression. Refuses a plain `&str` that reads like a template: it is most likely a literal
/// that was meant as a template, whereas a `String` or a `LockKey` is data.
pub fn key<K: IntoKey>(key: K, text: bool) -> LockKey {
    key.into_key(text)
}

/// The value of a key expression, to find its type: the compiler prefers an inherent method to a trait's.
#[derive(Debug)]
pub struct KeyText<'a, K>(pub &'a K);

impl KeyText<'_, &str> {
    /// Returns whether the key is plain text.
    pub fn lock_key_is_text(&self) -> bool {
        true
    }
}

/// Keys of every other type.
pub trait NotText {
    /// Returns `false`: the key is not plain text.
    fn lock_key_is_text(&self) -> bool;
}

impl<K> NotText for KeyText<'_, K> {
    fn lock_key_is_text(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_text_can_be_refused_as_a_template() {
        let text = "order:<id>";
        assert!(KeyText(&text).lock_key_is_text());
        assert!(!KeyText(&String::from(text)).lock_key_is_text());
        assert!(!KeyText(&LockKey::from(text)).lock_key_is_text());
        assert!(key(text, true).problem().is_some());
        assert!(key(text, false).problem().is_none());
    }
}
