//! Determines what a value of the type writes into a key.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Fields, Generics, Index, ItemEnum, ItemStruct, Member, Type};

use super::attribute::{self, rename};
use crate::errors::Errors;
use crate::tokens;

/// The content that a value writes.
pub(super) enum Content<'a> {
    /// The content of its only field. Markers are fields for the compiler only.
    Field(Field<'a>, Vec<Field<'a>>),
    /// The text of its variant.
    Names(Vec<Variant<'a>>),
}

/// A field of a struct.
pub(super) struct Field<'a> {
    pub(super) member: Member,
    pub(super) ty: &'a Type,
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
        let (markers, mut values): (Vec<_>, Vec<_>) = fields(&item.fields)
            .into_iter()
            .partition(|field| field.is_marker());
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

impl Field<'_> {
    /// Returns whether it is a `PhantomData`, by its name. In the expansion, the compiler checks it.
    fn is_marker(&self) -> bool {
        let mut ty = self.ty;
        // A macro passes a `$type:ty` in such a group.
        while let Type::Group(group) = ty {
            ty = &group.elem;
        }
        let Type::Path(path) = ty else {
            return false;
        };
        let last = path.path.segments.last();
        last.is_some_and(|last| last.ident == "PhantomData")
    }

    /// Returns whether its type depends on a type parameter, so that only the user of the struct knows if it is a `KeyPart`.
    pub(super) fn is_generic(&self, generics: &Generics) -> bool {
        tokens::any(self.ty.to_token_stream(), &mut |tree| match tree {
            TokenTree::Ident(ident) => generics.type_params().any(|param| *ident == param.ident),
            _ => false,
        })
    }
}

fn fields(fields: &Fields) -> Vec<Field<'_>> {
    fields
        .iter()
        .enumerate()
        .map(|(number, field)| Field {
            member: match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(Index::from(number)),
            },
            ty: &field.ty,
        })
        .collect()
}
