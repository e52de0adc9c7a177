//! The keys of a call: templates or expressions.

mod diagnostic;
mod foreign;
mod key_list;
mod lint;
mod placeholder;
mod scan;
mod scope;

use proc_macro2::TokenStream;
use syn::{Expr, LitStr};

use crate::args;
use crate::errors::Errors;
use diagnostic::Diagnostic;
pub(crate) use key_list::KeyList;
use scan::Kind;
pub(crate) use scope::{Noun, Scope, Surroundings};

/// The value of `key`, or an element of `keys`.
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

/// The place of a key, for messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// `key = …`
    Value,
    /// `keys = […]`
    Element,
    /// `#[lock_key(…)]`
    Declared,
    /// `assert_locked!(…)`
    Asserted,
}

impl Place {
    fn whole(self) -> &'static str {
        match self {
            Place::Value => "the whole value of `key`",
            Place::Element => "a whole element of `keys`",
            Place::Declared => "the whole of `#[lock_key(…)]`",
            Place::Asserted => "the whole key of `assert_locked!`",
        }
    }

    /// The source with this key.
    fn option(self, key: &str) -> String {
        match self {
            Place::Value => format!("key = {key}"),
            Place::Element => format!("keys = [{key}]"),
            Place::Declared => format!("#[lock_key({key})]"),
            Place::Asserted => format!("assert_locked!({key})"),
        }
    }

    /// Whether the key may also be an expression.
    fn takes_expressions(self) -> bool {
        self != Place::Declared
    }
}

impl Key {
    /// Reads a key. Returns `None` if it reported a mistake.
    pub(crate) fn read(
        value: Expr,
        place: Place,
        scope: &dyn Scope,
        errors: &mut Errors,
    ) -> Option<Key> {
        match args::string(&value) {
            Some(literal) => Template::read(literal, place, scope, errors).map(Key::Template),
            None => {
                let stray = template_inside(&value, scope);
                if let Some(stray) = &stray {
                    stray.report(place, errors);
                }
                stray.is_none().then_some(Key::Expr(value))
            }
        }
    }
}

/// A string in an expression that reads like a template, and the argument that it names.
struct StrayTemplate {
    literal: LitStr,
    argument: String,
}

impl StrayTemplate {
    fn report(&self, place: Place, errors: &mut Errors) {
        let StrayTemplate { literal, argument } = self;
        errors.add(
            literal.span(),
            format_args!(
                "`<{argument}>` is an argument only in a template, which is {}: write `{}`, or `{{{argument}}}` inside `format!`",
                place.whole(),
                place.option(&literal.token().to_string()),
            ),
        );
    }
}

fn template_inside(value: &Expr, scope: &dyn Scope) -> Option<StrayTemplate> {
    let literal = passed_on(value)?;
    let argument = argument_in(&literal.value(), scope)?;
    Some(StrayTemplate { literal, argument })
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
fn argument_in(text: &str, scope: &dyn Scope) -> Option<String> {
    let pieces = scan::scan(text, &mut Vec::new());
    pieces.into_iter().find_map(|piece| match piece.kind {
        Kind::Value(source) => scope.has(source.trim()).then_some(source),
        Kind::Text(_) => None,
    })
}

impl Template {
    /// The text around the values: `account:<>` of `account:<from>`.
    pub(crate) fn outline(&self) -> String {
        let segments = self.segments.iter().map(|segment| match segment {
            Segment::Text(text) => text,
            Segment::Value { .. } => "<>",
        });
        segments.collect()
    }

    /// Reads a template. Returns `None` if it reported a mistake.
    pub(crate) fn read(
        literal: LitStr,
        place: Place,
        scope: &dyn Scope,
        errors: &mut Errors,
    ) -> Option<Template> {
        let template = literal.value();
        let mut diagnostics = Vec::new();
        let pieces = scan::scan(&template, &mut diagnostics);
        lint::lint(&template, &pieces, scope, place, &mut diagnostics);
        let mut segments = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece.kind {
                Kind::Text(text) => segments.push(Segment::Text(text)),
                Kind::Value(source) => match placeholder::read(&source, literal.span(), scope) {
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
    use crate::item::Names;

    fn read(value: &str) -> (Option<Key>, Vec<String>) {
        let mut errors = Errors::default();
        let names = Names::of(&syn::parse_str("fn f(id: u64, tenant: &str)").unwrap());
        let value = syn::parse_str(value).unwrap();
        let key = Key::read(value, Place::Value, &names, &mut errors);
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
        assert_eq!(template.outline(), "order:<>:<>");
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
                "`<id>` is an argument only in a template, which is the whole value of `key`: write `key = \"a:<id>\"`, or `{id}` inside `format!`"
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
