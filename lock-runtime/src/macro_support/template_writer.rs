//! Writes the keys of templates.

use crate::key::{KeyPart, KeyTemplate, KeyWriter, LockKey};

/// Writes the key of a template.
///
/// None of its methods is inlined: they are cheap to call once per lock, and would be code in every locked function.
#[derive(Debug, Default)]
pub struct TemplateWriter(KeyWriter);

impl TemplateWriter {
    /// Creates a writer with an empty key.
    pub fn new() -> TemplateWriter {
        TemplateWriter::default()
    }

    /// Writes text of the template.
    #[inline(never)]
    pub fn text(&mut self, text: &'static str) {
        self.0.text(text);
    }

    /// Writes text of the template and the value of the placeholder after it. The placeholder's name is for messages.
    pub fn part<P: KeyPart + ?Sized>(&mut self, names: &'static [&'static str; 2], value: &P) {
        self.part_dyn(names, &value);
    }

    /// One copy for all types of values.
    #[inline(never)]
    fn part_dyn(&mut self, &[text, name]: &'static [&'static str; 2], value: &dyn KeyPart) {
        self.0.text(text);
        self.0.placeholder(name, value);
    }

    /// Returns the key.
    #[inline(never)]
    pub fn finish(self) -> LockKey {
        self.0.finish()
    }
}

/// A type whose values are keys, by `#[derive(LockKey)]`.
pub trait DeclaredKey {
    /// Returns the template of all keys of this type.
    fn template(&self) -> &'static KeyTemplate;

    /// Writes the key of this value.
    fn write_to(&self, writer: &mut TemplateWriter);
}

/// Returns the key that a value declares.
pub fn declared(value: &dyn DeclaredKey) -> LockKey {
    let mut writer = TemplateWriter::default();
    value.write_to(&mut writer);
    writer.finish().with_template(value.template())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Invoice(&'static str);

    impl DeclaredKey for Invoice {
        fn template(&self) -> &'static KeyTemplate {
            &KeyTemplate("invoice:<id>", "invoice:<>")
        }

        fn write_to(&self, writer: &mut TemplateWriter) {
            writer.part(&["invoice:", "id"], &self.0);
        }
    }

    #[test]
    fn declared_key_has_its_template_and_its_problem() {
        let key = declared(&Invoice("a:b"));
        assert_eq!(key, LockKey::from("invoice:a%3Ab"));
        assert!(key.is_written_by("invoice:<id>"));
        let problem = declared(&Invoice("")).problem().unwrap().to_string();
        assert_eq!(problem, "the value of `<id>` in the key is empty");
    }
}
