//! `#[derive(LockKey)]` for structs: a key that several functions share.
//!
//! The template is read as the attribute reads it, with the fields in place of the arguments. Every field must be in it:
//! values that differ must not be one lock.

mod attribute;
mod fields;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Item, ItemStruct};

use crate::errors::Errors;
use crate::expand::{key_template, template_writes};
use crate::field::Field;
use crate::key::{Place, Template};
use attribute::Declaration;
use fields::KeyFields;

/// The derive on plain token streams, so that tests can call it.
///
/// After a mistake, emits meaningless implementations with the errors. Their users then compile, so one mistake causes one
/// error.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let item = match syn::parse2::<Item>(input) {
        Ok(Item::Struct(item)) => item,
        Ok(other) => return refused(&other).to_compile_error(),
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let fields = KeyFields::of(&item);
    attribute::refuse_on_fields(&item.fields, &mut errors);
    let declaration = Declaration::read(&item, &fields.sample(), &mut errors);
    let runtime = match &declaration {
        Some(declaration) => declaration.runtime.clone(),
        None => attribute::default_runtime(),
    };
    let template = declaration.and_then(|declaration| {
        Template::read(declaration.template, Place::Declared, &fields, &mut errors)
    });
    if let Some(template) = &template {
        fields.require_all(template, &mut errors);
    }
    let template = template.filter(|_| errors.is_empty());
    let implementation = implementation(&item, &fields, template.as_ref(), &runtime);
    let errors = errors.into_tokens();
    quote!(#implementation #errors)
}

fn refused(item: &Item) -> syn::Error {
    let (span, what) = match item {
        Item::Enum(item) => (item.ident.span(), format!("`{}` is an enum", item.ident)),
        Item::Union(item) => (item.ident.span(), format!("`{}` is a union", item.ident)),
        other => (other.span(), "this is none".to_owned()),
    };
    let message = format!(
        "`#[derive(LockKey)]` is for a struct, and {what}: declare a struct for each kind of lock"
    );
    syn::Error::new(span, message)
}

/// ```text
/// Input:   #[lock_key("{<tenant>}:invoice:<id>")]
///          struct InvoiceKey<'a> { tenant: &'a str, id: u64 }
/// Output:  impl<'a> DeclaredKey for InvoiceKey<'a> {
///              fn template(&self) -> &'static KeyTemplate {
///                  &KeyTemplate("{<tenant>}:invoice:<id>", "{<>}:invoice:<>")
///              }
///              fn write_to(&self, writer: &mut TemplateWriter) {
///                  let declared = self;
///                  TemplateWriter::part(writer, &["{", "tenant"], &declared.tenant);
///                  TemplateWriter::part(writer, &["}:invoice:", "id"], &declared.id);
///              }
///          }
///          impl<'a> From<&InvoiceKey<'a>> for LockKey { … declared(key) … }
///          impl<'a> From<InvoiceKey<'a>> for LockKey { … declared(&key) … }
/// ```
fn implementation(
    item: &ItemStruct,
    fields: &KeyFields<'_>,
    template: Option<&Template>,
    runtime: &TokenStream,
) -> TokenStream {
    // The user cannot write this name.
    let writer = Ident::new("__lock_writer", Span::mixed_site());
    let mut generics = item.generics.clone();
    let (template, writes) = match template {
        None => (
            quote!(::core::unreachable!()),
            quote!(::core::unreachable!()),
        ),
        Some(template) => {
            for field in fields.written_whole(template) {
                field.bound(&mut generics, runtime);
            }
            let markers = fields.markers.iter().map(Field::check_marker);
            let (declared, text) = (fields.declared(), key_template(template));
            let writes = template_writes(template, &quote!(#writer));
            (quote!(&#text), quote!(#(#markers)* #declared #writes))
        }
    };
    let name = &item.ident;
    let (parameters, arguments, bounds) = generics.split_for_impl();
    quote! {
        const _: () = {
            use #runtime::__private::v1 as __lock_rt;
            #[automatically_derived]
            impl #parameters __lock_rt::DeclaredKey for #name #arguments #bounds {
                fn template(&self) -> &'static __lock_rt::KeyTemplate {
                    #template
                }
                #[allow(deprecated, unused_variables)]
                fn write_to(&self, #writer: &mut __lock_rt::TemplateWriter) {
                    #writes
                }
            }
            #[automatically_derived]
            impl #parameters ::core::convert::From<&#name #arguments> for __lock_rt::LockKey #bounds {
                fn from(key: &#name #arguments) -> __lock_rt::LockKey {
                    __lock_rt::declared(key)
                }
            }
            #[automatically_derived]
            impl #parameters ::core::convert::From<#name #arguments> for __lock_rt::LockKey #bounds {
                fn from(key: #name #arguments) -> __lock_rt::LockKey {
                    __lock_rt::declared(&key)
                }
            }
        };
    }
}

#[cfg(test)]
mod tests;
