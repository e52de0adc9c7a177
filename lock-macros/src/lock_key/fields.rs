//! The fields of a struct, which its template names.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Index, ItemStruct, Member};

use crate::errors::Errors;
use crate::field::Field;
use crate::key::{Noun, Scope, Segment, Template};
use crate::suggest;

/// Begins the name of a field without one, while a placeholder is parsed: `0.id` is no expression.
const NUMBERED: &str = "__lock_field_";

/// The variable that has the struct in the expansion.
const DECLARED: &str = "__lock_declared";

/// The fields of the struct below the derive.
pub(super) struct KeyFields<'a> {
    struct_name: &'a Ident,
    /// The fields that the template must name.
    pub(super) values: Vec<Field<'a>>,
    /// Fields for the compiler only.
    pub(super) markers: Vec<Field<'a>>,
}

impl<'a> KeyFields<'a> {
    pub(super) fn of(item: &'a ItemStruct) -> KeyFields<'a> {
        let (markers, values) = Field::all(&item.fields).partition(Field::is_marker);
        KeyFields {
            struct_name: &item.ident,
            values,
            markers,
        }
    }

    /// A template for this struct, for messages: `invoice:<tenant>:<id>`.
    pub(super) fn sample(&self) -> String {
        let name = suggest::snake(&self.struct_name.to_string());
        let mut sample = name.strip_suffix("_key").unwrap_or(&name).to_owned();
        for name in self.listed() {
            sample += &format!(":<{name}>");
        }
        sample
    }

    /// Reports the fields that the template does not name.
    pub(super) fn require_all(&self, template: &Template, errors: &mut Errors) {
        for field in &self.values {
            let name = shown(&field.member);
            if values(template).any(|(_, expr)| reads(expr.clone(), &name)) {
                continue;
            }
            let ty = field.ty;
            let place = match &field.member {
                Member::Named(name) => quote!(#name),
                Member::Unnamed(_) => quote!(#ty),
            };
            errors.push(syn::Error::new_spanned(
                place,
                format_args!(
                    "no placeholder names the field `{name}`: keys that differ only there would be one lock; write `<{name}>` in the template, or remove the field"
                ),
            ));
        }
    }

    /// The fields that are a whole value of the template. Their types must be parts of a key.
    pub(super) fn written_whole(&self, template: &Template) -> impl Iterator<Item = &Field<'a>> {
        self.values.iter().filter(|field| {
            let name = shown(&field.member);
            values(template).any(|(source, _)| source.trim() == name)
        })
    }

    /// Stores the struct in the variable of which [`Scope::value`] makes the fields.
    pub(super) fn declared(&self) -> TokenStream {
        let declared = Ident::new(DECLARED, Span::mixed_site());
        quote!(let #declared = self;)
    }
}

fn values(template: &Template) -> impl Iterator<Item = (&str, &TokenStream)> {
    template
        .segments
        .iter()
        .filter_map(|segment| match segment {
            Segment::Text(_) => None,
            Segment::Value { source, expr } => Some((&**source, expr)),
        })
}

/// Whether an expression of the template reads a field.
fn reads(expr: TokenStream, field: &str) -> bool {
    let trees: Vec<TokenTree> = expr.into_iter().collect();
    let is_read = |trees: &[TokenTree]| match trees {
        [TokenTree::Ident(declared), _dot, member] => {
            declared == DECLARED && member.to_string() == field
        }
        _ => false,
    };
    trees.windows(3).any(is_read)
        || trees.into_iter().any(|tree| match tree {
            TokenTree::Group(group) => reads(group.stream(), field),
            _ => false,
        })
}

impl Scope for KeyFields<'_> {
    fn noun(&self) -> Noun {
        Noun::Field
    }

    fn listed(&self) -> Vec<String> {
        let members = self.values.iter().map(|field| &field.member);
        members.map(shown).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn check_self(&self) -> Result<(), String> {
        Err(
            "a template names fields without `self`: write `<field>`, not `<self.field>`"
                .to_owned(),
        )
    }

    fn parsable(&self, placeholder: &str) -> Result<String, String> {
        let digits = |text: &str| {
            text.find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(text.len())
        };
        let root = placeholder.trim_start_matches(['*', ' ']);
        let (number, rest) = root.split_at(digits(root));
        if number.is_empty()
            || rest.starts_with(|letter: char| letter == '_' || letter.is_alphanumeric())
        {
            return Ok(placeholder.to_owned());
        }
        let name = format!("{NUMBERED}{number}");
        if !self.has(&name) {
            return Err(self.no_such(number));
        }
        let before = &placeholder[..placeholder.len() - root.len()];
        Ok(format!("{before}{name}{rest}"))
    }

    fn value(&self, name: Ident, literal: Span) -> TokenStream {
        let Some(field) = self.find(&name.to_string()) else {
            return name.into_token_stream();
        };
        let place = |span: Span| span.located_at(literal);
        let member = match &field.member {
            Member::Named(name) => {
                let mut name = name.clone();
                name.set_span(place(name.span()));
                Member::Named(name)
            }
            Member::Unnamed(Index { index, .. }) => Member::Unnamed(Index {
                index: *index,
                span: literal,
            }),
        };
        let glue = place(Span::mixed_site());
        let declared = Ident::new(DECLARED, glue);
        quote_spanned!(glue=> #declared.#member)
    }
}

impl<'a> KeyFields<'a> {
    fn find(&self, name: &str) -> Option<&Field<'a>> {
        self.values.iter().find(|field| word(&field.member) == name)
    }
}

/// The name of a field in a placeholder.
fn shown(member: &Member) -> String {
    member.to_token_stream().to_string()
}

/// The name of a field in a placeholder that can be parsed.
fn word(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => format!("{NUMBERED}{}", index.index),
    }
}
