//! Reads `key` and `keys`, the options that name the locks.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprArray, Token};

use super::{Key, Place, Segment, StrayTemplate, template_inside};
use crate::args::{as_written, string, ungrouped};
use crate::errors::Errors;
use crate::item::Names;

/// The most locks that one call acquires together. The runtime has the same number.
const MOST: usize = 32;

/// The keys of a call.
pub(crate) enum KeyList {
    /// The value of `key`.
    One(Key),
    /// The elements of `keys = […]`.
    Elements(Vec<Key>),
    /// The value of `keys`, which yields the keys when the function is called.
    Expr(Expr),
}

impl KeyList {
    /// Reads `key` or `keys`. Returns `None` if neither is there, or if it reported a mistake.
    pub(crate) fn read(
        key: Option<Expr>,
        keys: Option<Expr>,
        names: &Names,
        errors: &mut Errors,
    ) -> Option<KeyList> {
        if let (Some(_), Some(keys)) = (&key, &keys) {
            errors.push(syn::Error::new_spanned(
                keys,
                "give `key` or `keys`, not both",
            ));
        }
        let one = key.map(|key| one(key, names, errors));
        let several = keys.map(|keys| several(keys, names, errors));
        one.or(several)?
    }

    /// Calls `each` with every expression in the keys.
    pub(crate) fn expressions(&self, each: &mut dyn FnMut(TokenStream)) {
        if let KeyList::Expr(expr) = self {
            each(expr.to_token_stream());
        }
        for key in self.keys() {
            match key {
                Key::Expr(expr) => each(expr.to_token_stream()),
                Key::Template(template) => {
                    for segment in &template.segments {
                        if let Segment::Value { expr, .. } = segment {
                            each(expr.clone());
                        }
                    }
                }
            }
        }
    }

    /// The arguments that themselves are a key, or the list of all keys.
    pub(crate) fn moved_arguments(&self) -> Vec<String> {
        let list = match self {
            KeyList::Expr(expr) => Some(expr),
            _ => None,
        };
        let keys = self.keys().iter().filter_map(|key| match key {
            Key::Expr(expr) => Some(expr),
            Key::Template(_) => None,
        });
        keys.chain(list).filter_map(name).collect()
    }

    /// The keys that are written in the attribute.
    fn keys(&self) -> &[Key] {
        match self {
            KeyList::One(key) => std::slice::from_ref(key),
            KeyList::Elements(keys) => keys,
            KeyList::Expr(_) => &[],
        }
    }
}

/// The name that an expression consists of.
fn name(expr: &Expr) -> Option<String> {
    match ungrouped(expr) {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// Reads the value of `key`.
fn one(value: Expr, names: &Names, errors: &mut Errors) -> Option<KeyList> {
    if let Expr::Array(array) = ungrouped(&value) {
        instead(array, &array.elems, errors);
        return None;
    }
    Key::read(value, Place::Value, names, errors).map(KeyList::One)
}

/// Reads the value of `keys`.
fn several(value: Expr, names: &Names, errors: &mut Errors) -> Option<KeyList> {
    match ungrouped(&value) {
        Expr::Array(array) => elements(array, names, errors).map(KeyList::Elements),
        Expr::Tuple(tuple) => {
            instead(tuple, &tuple.elems, errors);
            None
        }
        other => {
            if let Some(literal) = string(other) {
                let only = Punctuated::from_iter([other.clone()]);
                instead(literal, &only, errors);
                return None;
            }
            let stray = templates_inside(other, names);
            if let Some(stray) = &stray {
                stray.report(Place::Element, errors);
            }
            stray.is_none().then_some(KeyList::Expr(value))
        }
    }
}

/// Reports a value at the place of `keys = […]`, or a list at the place of another key.
fn instead(place: impl ToTokens, keys: &Punctuated<Expr, Token![,]>, errors: &mut Errors) {
    let keys = keys.iter().map(|key| as_written(key.to_token_stream()));
    let keys = keys.collect::<Vec<_>>().join(", ");
    errors.push(syn::Error::new_spanned(
        place,
        format_args!("write `keys = [{keys}]`"),
    ));
}

/// Reads all elements. Reads a repeated template once, so that its mistakes are reported once.
fn elements(array: &ExprArray, names: &Names, errors: &mut Errors) -> Option<Vec<Key>> {
    if array.elems.is_empty() {
        errors.push(syn::Error::new_spanned(
            array,
            "`keys` needs at least one key",
        ));
        return None;
    }
    let mut templates: Vec<(String, usize)> = Vec::new();
    let mut keys = Vec::new();
    for element in &array.elems {
        if let Some(literal) = string(element) {
            let text = literal.value();
            if let Some((_, times)) = templates.iter_mut().find(|(other, _)| *other == text) {
                *times += 1;
                if *times == 2 {
                    let written = literal.token();
                    errors.add(literal.span(), format_args!("`{written}` is given twice"));
                }
                continue;
            }
            templates.push((text, 1));
        }
        keys.push(Key::read(element.clone(), Place::Element, names, errors));
    }
    let count = templates.len();
    if count > MOST {
        errors.push(syn::Error::new_spanned(
            array,
            format_args!("a call may lock at most {MOST} keys, not {count}"),
        ));
    }
    keys.into_iter().collect()
}

/// Like [`template_inside`], for an expression that yields several keys.
fn templates_inside(value: &Expr, names: &Names) -> Option<StrayTemplate> {
    let inside = |value: &Expr| templates_inside(value, names);
    match ungrouped(value) {
        Expr::Array(array) => array.elems.iter().find_map(inside),
        Expr::Repeat(repeat) => inside(&repeat.expr),
        Expr::Reference(reference) => inside(&reference.expr),
        Expr::MethodCall(call) if call.args.is_empty() => inside(&call.receiver),
        Expr::Macro(call) if call.mac.path.is_ident("vec") => {
            let elements = Punctuated::<Expr, Token![,]>::parse_terminated;
            let elements = elements.parse2(call.mac.tokens.clone()).ok()?;
            elements.iter().find_map(inside)
        }
        other => template_inside(other, names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `key` and `keys`, each empty if the option is left out.
    fn read(key: &str, keys: &str) -> (Option<KeyList>, Vec<String>) {
        let value = |text: &str| (!text.is_empty()).then(|| syn::parse_str(text).unwrap());
        let names = Names::of(&syn::parse_str("fn f(from: u64, to: u64, id: &str)").unwrap());
        let mut errors = Errors::default();
        let list = KeyList::read(value(key), value(keys), &names, &mut errors);
        (list, errors.messages())
    }

    fn mistake(keys: &str) -> String {
        read("", keys).1.join("\n")
    }

    #[test]
    fn elements_are_templates_and_expressions() {
        let (list, messages) = read("", r#"["a:<from>", ("a:<to>"), format!("a:{id}")]"#);
        assert_eq!(messages, [""; 0]);
        let Some(KeyList::Elements(keys)) = list else {
            panic!("no elements");
        };
        let is_template: Vec<_> = keys
            .iter()
            .map(|key| matches!(key, Key::Template(_)))
            .collect();
        assert_eq!(is_template, [true, true, false]);
    }

    #[test]
    fn other_value_is_an_expression() {
        for written in [
            "ids",
            "ids.iter().map(|id| format!(\"a:{id}\"))",
            "vec![id.to_owned(), \"report\".to_owned()]",
            "[KEY; 2]",
            "&[\"a\", \"b\"]",
            "std::iter::once(id)",
        ] {
            let (list, messages) = read("", written);
            assert_eq!(messages, [""; 0], "{written}");
            assert!(matches!(list, Some(KeyList::Expr(_))), "{written}");
        }
    }

    #[test]
    fn arguments_that_are_keys_are_moved() {
        let moved = |keys| read("", keys).0.unwrap().moved_arguments();
        assert_eq!(moved("[id, (from), f(to), \"a:<to>\"]"), ["id", "from"]);
        assert_eq!(moved("ids"), ["ids"]);
        assert_eq!(moved("ids.iter()"), [""; 0]);
    }

    #[test]
    fn list_at_the_wrong_place_is_refused_with_the_right_place() {
        for (key, keys) in [
            (r#"["a:<from>", f(to)]"#, ""),
            ("", r#"("a:<from>", f(to))"#),
        ] {
            let (list, messages) = read(key, keys);
            assert!(list.is_none());
            assert_eq!(messages, [r#"write `keys = ["a:<from>", f(to)]`"#]);
        }
        let alone = r#"write `keys = ["a:<id>"]`"#;
        assert_eq!(mistake(r#""a:<id>""#), alone);
        assert_eq!(mistake(r#"("a:<id>")"#), alone);
        assert_eq!(
            read("\"a\"", "[\"b\"]").1,
            ["give `key` or `keys`, not both"]
        );
    }

    #[test]
    fn list_that_cannot_be_locked_is_refused() {
        assert_eq!(mistake("[]"), "`keys` needs at least one key");
        let twice = r#"`"a:<id>"` is given twice"#;
        assert_eq!(mistake(r#"["a:<id>", "a", "a:<id>"]"#), twice);
        assert_eq!(mistake(r#"["a:<id>", "a:<id>", "a:<id>"]"#), twice);
        let literals = |count: usize| {
            let literals: Vec<_> = (0..count).map(|number| format!("\"a:{number}\"")).collect();
            read("", &format!("[{}, id]", literals.join(","))).1
        };
        assert_eq!(literals(32), [""; 0]);
        assert_eq!(literals(33), ["a call may lock at most 32 keys, not 33"]);
    }

    #[test]
    fn element_is_checked_as_a_key_is() {
        let (list, messages) = read("", r##"["a:<idd>", "a:#id", f(id), ""]"##);
        assert!(list.is_none());
        let starts: Vec<_> = messages
            .iter()
            .map(|message| message.split('\n').next().unwrap())
            .collect();
        assert_eq!(
            starts,
            [
                "no argument named `idd`; did you mean `id`?",
                "`#id` is literal text here, but `id` is an argument; write `a:<id>`, or `keys = [String::from(\"a:#id\")]` if you mean the text",
                "the key is empty",
            ]
        );
        assert_eq!(
            mistake(r#"["<idd>", "<idd>"]"#)
                .matches("no argument")
                .count(),
            1
        );
    }

    #[test]
    fn template_inside_an_expression_is_refused() {
        for written in [
            r#"[format!("a:<id>")]"#,
            r#"vec!["b", "a:<id>"]"#,
            r#"&["a:<id>"]"#,
            r#"["a:<id>"; 2]"#,
            r#"["a:<id>", "b"].iter()"#,
            r#"std::iter::once("a:<id>")"#,
        ] {
            assert_eq!(
                mistake(written),
                "`<id>` is an argument only in a template, which is a whole element of `keys`: write `keys = [\"a:<id>\"]`, or `{id}` inside `format!`",
                "{written}"
            );
        }
    }
}
