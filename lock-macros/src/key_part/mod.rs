//! `#[derive(KeyPart)]` for newtypes, and for enums without fields.
//!
//! A newtype is written as its field, so two of its values give the same text only if two values of the field do. The
//! variants of an enum have different texts, which this module checks. Other types are refused: a type with several fields
//! needs a separator that none of them can write, and a value has none.

mod attribute;
mod content;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Item, ItemEnum, ItemStruct};

use crate::errors::Errors;
use crate::field::Field;
use attribute::Container;
use content::{Content, Variant};

/// The type below the derive.
struct Derived<'a> {
    attrs: &'a [Attribute],
    name: &'a Ident,
    generics: &'a Generics,
}

/// The derive on plain token streams, so that tests can call it.
///
/// After a mistake, emits a meaningless implementation with the errors. Its users then compile, so one mistake causes one
/// error.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let item = match syn::parse2::<Item>(input) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let derived = match &item {
        Item::Struct(ItemStruct {
            attrs,
            ident: name,
            generics,
            ..
        })
        | Item::Enum(ItemEnum {
            attrs,
            ident: name,
            generics,
            ..
        }) => Derived {
            attrs,
            name,
            generics,
        },
        other => {
            let message = "`#[derive(KeyPart)]` is for structs and enums";
            return syn::Error::new(other.span(), message).to_compile_error();
        }
    };
    let content = match &item {
        Item::Enum(item) => Content::of_enum(item, &mut errors),
        Item::Struct(item) => Content::of_struct(item, &mut errors),
        _ => None,
    };
    let container = Container::read(derived.attrs, &mut errors);
    let runtime = container.runtime();
    let content = content.filter(|_| errors.is_empty());
    let implementation = implementation(&derived, content.as_ref(), &runtime);
    let errors = errors.into_tokens();
    quote!(#implementation #errors)
}

/// ```text
/// Input:   struct OrderId<T>(u64, PhantomData<T>);
/// Output:  impl<T> KeyPart for OrderId<T> {
///              fn write_to(&self, key: &mut KeyWriter) {
///                  let value = &self.1;
///                  let _: &PhantomData<_> = value;
///                  let value = &self.0;
///                  KeyPart::write_to(value, key);
///              }
///          }
///
/// Input:   enum Region { North, #[key_part(rename = "s")] South }
/// Output:  … key.write_str(match self { Self::North => "North", Self::South => "s" });
/// ```
fn implementation(
    derived: &Derived<'_>,
    content: Option<&Content<'_>>,
    runtime: &TokenStream,
) -> TokenStream {
    let Derived { name, generics, .. } = derived;
    // The user cannot write this name.
    let key = Ident::new("key", Span::mixed_site());
    let body = match content {
        None => quote!(let _ = #key; ::core::unreachable!()),
        Some(Content::Field(field, markers)) => write_field(field, markers, &key, runtime),
        Some(Content::Names(variants)) if variants.is_empty() => {
            quote!(let _ = #key; match *self {})
        }
        Some(Content::Names(variants)) => {
            let arms = variants
                .iter()
                .map(|Variant { name, text }| quote!(Self::#name => #text,));
            quote!(#key.write_str(match self { #(#arms)* });)
        }
    };
    let mut generics = (*generics).clone();
    if let Some(Content::Field(field, _)) = content {
        field.bound(&mut generics, runtime);
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #runtime::__private::v1::KeyPart for #name #arguments #bounds {
            #[allow(deprecated)]
            fn write_to(&self, #key: &mut #runtime::__private::v1::KeyWriter) {
                #body
            }
        }
    }
}

fn write_field(
    field: &Field<'_>,
    markers: &[Field<'_>],
    key: &Ident,
    runtime: &TokenStream,
) -> TokenStream {
    let markers = markers.iter().map(Field::check_marker);
    let value = field.value();
    let Field { member, ty } = field;
    let write =
        quote_spanned!(ty.span()=> #runtime::__private::v1::KeyPart::write_to(#value, #key););
    quote!(#(#markers)* let #value = &self.#member; #write)
}

#[cfg(test)]
mod tests;
