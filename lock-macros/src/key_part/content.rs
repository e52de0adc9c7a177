//! Determines what a value of the type writes into a key.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Fields, ItemEnum, ItemStruct};

use super::attribute::{self, rename};
use crate::errors::Errors;
use crate::field::Field;

/// The content that a value writes.
pub(super) enum Content<'a> {
    /// The content of its only field. Markers are fields for the compiler only.
    Field(Field<'a>, Vec<Field<'a>>),
    /// The text of its variant.
    Names(Vec<Variant<'a>>),
}

/// A variant without fields.
pub(super) struct Variant<'a> {
    pub(super) name: &'a Ident,
    pub(super) text: String,
}

impl<'a> Content<'a> {
    /// Returns `None` if it reported a mistake.
    pub(super) fn of_struct(item: &'a ItemStruct, errors: &mut Errors) -> Option<Content<'a>> {
        for field in &item.fields {
            attribute::refuse_on_field(&field.attrs, errors);
        }
        let (markers, mut values): (Vec<_>, Vec<_>) =
            Field::all(&item.fields).partition(Field::is_marker);
        if values.len() == 1 {
            return Some(Content::Field(values.remove(0), markers));
        }
        let name = &item.ident;
        errors.add(
            name.span(),
            match values.first() {
                None => format!(
                    "`#[derive(KeyPart)]` is for a struct with one field, and `{name}` has none: a value that writes nothing cannot be part of a key"
                ),
                Some(first) => format!(
                    "`#[derive(KeyPart)]` is for a struct with one field, and `{name}` has {}: name the fields that identify the resource in the template, such as `<value.{}>`, or implement `KeyPart` by hand",
                    values.len(),
                    first.member.to_token_stream(),
                ),
            },
        );
        None
    }

    /// Returns `None` if it reported a mistake.
    pub(super) fn of_enum(item: &'a ItemEnum, errors: &mut Errors) -> Option<Content<'a>> {
        let mut variants: Vec<Variant<'a>> = Vec::new();
        let mut is_correct = true;
        for variant in &item.variants {
            let name = &variant.ident;
            if !matches!(variant.fields, Fields::Unit) {
                errors.add(
                    name.span(),
                    format_args!(
                        "`#[derive(KeyPart)]` is for an enum without fields, and `{name}` has some: implement `KeyPart` by hand"
                    ),
                );
                is_correct = false;
            }
            let renamed = rename(&variant.attrs, errors);
            let (text, span) = match renamed {
                Some(text) => (text.value(), text.span()),
                None => (name.unraw().to_string(), name.span()),
            };
            if let Some(same) = variants.iter().find(|other| other.text == text) {
                errors.add(
                    span,
                    format_args!(
                        "`{}` and `{name}` would both be `{text}` in a key, and exclude each other: give one of them another text",
                        same.name
                    ),
                );
                is_correct = false;
            }
            variants.push(Variant { name, text });
        }
        is_correct.then_some(Content::Names(variants))
    }
}
