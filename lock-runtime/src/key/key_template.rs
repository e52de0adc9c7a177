//! The template that writes a key.

/// A template, and its text around the values: `account:<id>` and `account:<>`.
///
/// Without names, since every locked function contains one.
#[derive(Debug)]
pub struct KeyTemplate(pub &'static str, pub &'static str);

impl KeyTemplate {
    /// Stands for the template of a key that is an expression.
    pub const NONE: KeyTemplate = KeyTemplate("", "");

    pub(crate) fn is_none(&self) -> bool {
        self.text().is_empty()
    }

    pub(crate) fn text(&self) -> &'static str {
        self.0
    }

    /// Returns the text around the values, which identifies the class of the lock for the lock order.
    pub(crate) fn outline(&self) -> &'static str {
        self.1
    }
}
