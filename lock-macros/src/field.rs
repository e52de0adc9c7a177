//! The fields of a struct below a derive.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Fields, Generics, Index, Member, Type};

use crate::tokens;

/// A field of a struct.
pub(crate) struct Field<'a> {
    pub(crate) member: Member,
    pub(crate) ty: &'a Type,
}

impl<'a> Field<'a> {
    pub(crate) fn all(fields: &'a Fields) -> impl Iterator<Item = Field<'a>> {
        fields.iter().enumerate().map(|(number, field)| Field {
            member: match &field.ident {
                Some(name) => Member::Named(name.clone()),
                None => Member::Unnamed(Index::from(number)),
            },
            ty: &field.ty,
        })
    }

    /// Returns whether it is a `PhantomData`, by its name. In the expansion, the compiler checks it.
    pub(crate) fn is_marker(&self) -> bool {
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

    /// A statement that does not compile if the marker is another type of that name, with values that differ.
    pub(crate) fn check_marker(&self) -> TokenStream {
        let Field { member, ty } = self;
        let value = self.value();
        let check = quote_spanned!(ty.span()=> let _: &::core::marker::PhantomData<_> = #value;);
        quote!(let #value = &self.#member; #check)
    }

    /// The name of a variable for the value.
    ///
    /// It has the span of the type, so that the compiler's errors are there. `self` cannot have it: the type may come
    /// from another macro, and with that macro's hygiene, `self` would be unknown.
    pub(crate) fn value(&self) -> Ident {
        Ident::new("value", Span::mixed_site().located_at(self.ty.span()))
    }

    /// Returns whether its type depends on a type parameter, so that only the user of the struct knows if it is a `KeyPart`.
    pub(crate) fn is_generic(&self, generics: &Generics) -> bool {
        tokens::any(self.ty.to_token_stream(), &mut |tree| match tree {
            TokenTree::Ident(ident) => generics.type_params().any(|param| *ident == param.ident),
            _ => false,
        })
    }

    /// Requires that the type is a `KeyPart`, if it depends on a type parameter.
    pub(crate) fn bound(&self, generics: &mut Generics, runtime: &TokenStream) {
        if self.is_generic(generics) {
            let ty = self.ty;
            let bound = quote_spanned!(ty.span()=> #ty: #runtime::__private::v1::KeyPart);
            let predicate = syn::parse2(bound).expect("it is a bound");
            generics.make_where_clause().predicates.push(predicate);
        }
    }
}
