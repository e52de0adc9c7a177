//! The key of the lock: a template, or an expression.

mod diagnostic;
mod foreign;
mod lint;
mod placeholder;
mod scan;

use proc_macro2::TokenStream;
use syn::{Expr, LitStr};

use crate::args;
use crate::errors::Errors;
use crate::item::Names;
use diagnostic::Diagnostic;
use foreign::Arguments;
use scan::Kind;

/// The value of `key`.
pub(crate) enum Key {
    Template(Template),
    Expr(Expr),
}

/// A template, split into its parts and checked.
pub(crate) struct Template {
    pub(crate) literal: LitStr,
    pub(crate) segments: Vec<Segment>,
}

pub(crate) enum Segment {
    /// Literal text.
    Text(String),
    /// A value, with the text of its placeholder.
    Value { source: String, expr: TokenStream },
}

impl Key {
    /// Reads the value of `key`. Returns `None` if it reported a mistake.
    pub(crate) fn read(value: Expr, names: &Names, errors: &mut Errors) -> Option<Key> {
        match args::string(&value) {
            Some(literal) => Template::read(literal, names, errors).map(Key::Template),
            None => {
                let stray = template_inside(&value, names);
                if let Some((literal, name)) = &stray {
                    errors.add(
                        literal.span(),
                        format_args!(
                            "`<{name}>` is an argument only in a template, which is the whole value of `key`: write `key = {}`, or `{{{name}}}` inside of `format!`",
                            literal.token(),
                        ),
                    );
                }
                stray.is_none().then_some(Key::Expr(value))
            }
        }
    }
}

/// A string in an expression that reads like a template, and the argument that it names.
fn template_inside(value: &Expr, names: &Names) -> Option<(LitStr, String)> {
    let literal = passed_on(value)?;
    let name = argument_in(&literal.value(), names)?;
    Some((literal, name))
}

/// The string that becomes the key, as in `String::from("…")`, `"…".to_owned()` and `format!("…")`.
/// A string elsewhere may serve another purpose, such as a pattern to replace.
fn passed_on(value: &Expr) -> Option<LitStr> {
    match args::ungrouped(value) {
        Expr::Reference(reference) => passed_on(&reference.expr),
        Expr::Call(call) if call.args.len() == 1 => passed_on(call.args.first()?),
        Expr::MethodCall(call) if call.args.is_empty() => passed_on(&call.receiver),
        Expr::Macro(call) => {
            let first = call.mac.tokens.clone().into_iter().next()?;
            syn::parse2(first.into()).ok()
        }
        other => args::string(other),
    }
}

/// The first argument that a template of this text would name.
fn argument_in(text: &str, names: &Names) -> Option<String> {
    let pieces = scan::scan(text, &mut Vec::new());
    pieces.into_iter().find_map(|piece| match piece.kind {
        Kind::Value(source) => names.find(source.trim()).is_some().then_some(source),
        Kind::Text(_) => None,
    })
}

impl Template {
    fn read(literal: LitStr, names: &Names, errors: &mut Errors) -> Option<Template> {
        let template = literal.value();
        let mut diagnostics = Vec::new();
        let pieces = scan::scan(&template, &mut diagnostics);
        let arguments: Vec<String> = names
            .bindings
            .iter()
            .map(|binding| binding.ident.to_string())
            .collect();
        let arguments = Arguments {
            has: &|name| names.find(name).is_some() || (name == "self" && names.receiver.is_some()),
            names: &arguments,
        };
        lint::lint(&template, &pieces, &arguments, &mut diagnostics);
        let mut segments = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece.kind {
                Kind::Text(text) => segments.push(Segment::Text(text)),
                Kind::Value(source) => match placeholder::read(&source, literal.span(), names) {
                    Ok(expr) => segments.push(Segment::Value { source, expr }),
                    Err(message) => diagnostics.push(Diagnostic::new(piece.range, message)),
                },
            }
        }
        for diagnostic in &diagnostics {
            errors.add(literal.span(), diagnostic.rendered(&template));
        }
        diagnostics
            .is_empty()
            .then_some(Template { literal, segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> (Option<Key>, Vec<String>) {
        let mut errors = Errors::default();
        let names = Names::of(&syn::parse_str("fn f(id: u64, tenant: &str)").unwrap());
        let key = Key::read(syn::parse_str(value).unwrap(), &names, &mut errors);
        (key, errors.messages())
    }

    #[test]
    fn template_becomes_segments() {
        let (key, messages) = read(r#""order:<tenant>:<id>""#);
        assert_eq!(messages, Vec::<String>::new());
        let Some(Key::Template(template)) = key else {
            panic!("not a template");
        };
        let segments: Vec<_> = template
            .segments
            .iter()
            .map(|segment| match segment {
                Segment::Text(text) => text.clone(),
                Segment::Value { source, expr } => format!("{source}={expr}"),
            })
            .collect();
        assert_eq!(segments, ["order:", "tenant=tenant", ":", "id=id"]);
    }

    #[test]
    fn raw_or_escaped_literal_is_a_template() {
        assert!(matches!(
            read(r##"r#"order:<id>"#"##).0,
            Some(Key::Template(_))
        ));
        assert!(matches!(
            read(r#""\u{6f}rder:<id>""#).0,
            Some(Key::Template(_))
        ));
    }

    #[test]
    fn other_value_is_an_expression() {
        assert!(matches!(read("format!(\"a:{id}\")").0, Some(Key::Expr(_))));
        assert!(matches!(read("ORDER_KEY").0, Some(Key::Expr(_))));
    }

    #[test]
    fn template_in_parentheses_is_recognised() {
        assert!(matches!(read("(\"a:<id>\")").0, Some(Key::Template(_))));
    }

    #[test]
    fn template_inside_an_expression_is_refused() {
        let (key, messages) = read("format!(\"a:<id>\")");
        assert!(key.is_none());
        assert_eq!(
            messages,
            [
                "`<id>` is an argument only in a template, which is the whole value of `key`: write `key = \"a:<id>\"`, or `{id}` inside of `format!`"
            ]
        );
        for stray in [
            "String::from(\"a:<id>\")",
            "&\"a:<id>\".to_owned()",
            "LockKey::from(format!(\"a:<id>:{}\", tenant))",
        ] {
            assert!(read(stray).0.is_none(), "{stray}");
        }
        for other in [
            "tenant.replace(\"<id>\", \"x\")",
            "\"a:<id>\".replace(\"<id>\", tenant)",
            "fill(\"a:<id>\", id)",
            "format!(\"a:<x>{id}\")",
            "format!(\"<<id>>\")",
            "f(\"a < id\")",
        ] {
            assert!(matches!(read(other).0, Some(Key::Expr(_))), "{other}");
        }
    }

    #[test]
    fn several_mistakes_in_a_template_are_all_reported() {
        let (key, messages) = read(r#""o}:<idd><tenat>""#);
        assert!(key.is_none());
        assert_eq!(messages.len(), 4);
        assert_eq!(
            messages[2],
            "no argument named `idd`; did you mean `id`?\n\n    o}:<idd><tenat>\n       ^^^^^"
        );
    }
}
