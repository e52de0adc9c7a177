//! A text that is built on the stack, and copied once, when it is shared.

use smallvec::SmallVec;

/// Few keys and names are longer, in bytes.
const USUAL_LEN: usize = 96;

/// A text that is built on the stack, unless it is long.
#[derive(Default)]
pub(super) struct StackText(SmallVec<[u8; USUAL_LEN]>);

impl StackText {
    /// Returns the length in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Removes the last character, if it is ASCII.
    pub(super) fn pop_ascii(&mut self) -> Option<u8> {
        let is_ascii = self.0.last()?.is_ascii();
        if is_ascii { self.0.pop() } else { None }
    }

    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("it is made of texts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_length_is_the_pushed_text() {
        let mut text = StackText::default();
        for _ in 0..USUAL_LEN {
            text.push_str("é:");
        }
        assert_eq!(text.as_str(), "é:".repeat(USUAL_LEN));
        assert_eq!(text.len(), 3 * USUAL_LEN);
        assert_eq!(text.pop_ascii(), Some(b':'));
        assert_eq!(text.pop_ascii(), None, "a letter of two bytes");
    }
}
