//! Converts the value of `keys = …`, if it is an expression.

use super::key_expr;
use crate::key::LockKey;

/// The types that an expression for several keys may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be several lock keys",
    label = "expected an array, a `Vec` or an iterator of `LockKey`, `String` or `&str`",
    note = "templates are string literals in brackets: `keys = [\"account:<from>\", \"account:<to>\"]`"
)]
pub trait IntoKeyList {
    /// Returns the keys; `text` means that each is a plain `&str`.
    fn into_key_list(self, text: bool) -> Vec<LockKey>;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item: Into<LockKey>>> IntoKeyList for I {
    fn into_key_list(self, text: bool) -> Vec<LockKey> {
        self.into_iter()
            .map(|key| key_expr::key(key, text))
            .collect()
    }
}

/// Returns the keys of an expression. Refuses plain text where [`key_expr::key`] does.
pub fn key_list<K: IntoKeyList>(keys: K, text: bool) -> Vec<LockKey> {
    keys.into_key_list(text)
}

/// The value of an expression for several keys, to find its type like [`key_expr::KeyText`].
#[derive(Debug)]
pub struct KeyListText<'a, K>(pub &'a K);

impl<'t, K: IntoIterator<Item = &'t str>> KeyListText<'_, K> {
    /// Returns whether the keys are plain text.
    pub fn lock_key_list_is_text(&self) -> bool {
        true
    }
}

/// Keys of every other type.
pub trait NotTextList {
    /// Returns `false`: the keys are not plain text.
    fn lock_key_list_is_text(&self) -> bool;
}

impl<K> NotTextList for KeyListText<'_, K> {
    fn lock_key_list_is_text(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_text_can_be_refused_as_a_template() {
        let text = "order:<id>";
        assert!(KeyListText(&[text]).lock_key_list_is_text());
        assert!(KeyListText(&vec![text].into_iter().skip(1)).lock_key_list_is_text());
        assert!(!KeyListText(&[String::from(text)]).lock_key_list_is_text());
        assert!(!KeyListText(&[LockKey::from(text)].as_slice()).lock_key_list_is_text());
        let are_refused = |text: bool| {
            let keys = key_list([text.to_string().as_str(), "order:<id>"], text);
            keys.iter()
                .map(|key| key.problem().is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(are_refused(true), [false, true]);
        assert_eq!(are_refused(false), [false, false]);
    }
}
