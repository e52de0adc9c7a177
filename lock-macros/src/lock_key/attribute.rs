//! Reads `#[lock_key("invoice:<id>")]` above the struct.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Fields, ItemStruct, LitStr, Token};

use crate::args;
use crate::errors::Errors;

/// The template, and the path of the runtime crate.
pub(super) struct Declaration {
    pub(super) template: LitStr,
    pub(super) runtime: TokenStream,
}

impl Declaration {
    /// Returns `None` if it reported a mistake. `sample` is a template for this struct.
    pub(super) fn read(
        item: &ItemStruct,
        sample: &str,
        errors: &mut Errors,
    ) -> Option<Declaration> {
        let write = format!("write `#[lock_key({sample:?})]` above the struct");
        let mut all = item.attrs.iter().filter(is_ours);
        let Some(attr) = all.next() else {
            errors.add(
                item.ident.span(),
                format_args!("`#[derive(LockKey)]` needs the template of the key: {write}"),
            );
            return None;
        };
        for other in all {
            errors.add(
                other.span(),
                "`#[lock_key]` is given twice; a key has one template",
            );
        }
        match attr.parse_args::<Arguments>() {
            Ok(arguments) => arguments.declaration(&write, errors),
            Err(_) => {
                errors.add(
                    attr.span(),
                    format_args!("`#[lock_key(…)]` takes the template: {write}"),
                );
                None
            }
        }
    }
}

/// The path of the runtime crate, if the attribute gives none.
pub(super) fn default_runtime() -> TokenStream {
    quote_spanned!(Span::call_site()=> ::lock_runtime)
}

/// Reports the attribute on a field, where it has no meaning.
pub(super) fn refuse_on_fields(fields: &Fields, errors: &mut Errors) {
    for attr in fields.iter().flat_map(|field| &field.attrs).filter(is_ours) {
        errors.add(
            attr.span(),
            "`#[lock_key]` is for the struct: its template names the fields",
        );
    }
}

fn is_ours(attr: &&Attribute) -> bool {
    attr.path().is_ident("lock_key")
}

/// `"…"` or `"…", crate = path`
struct Arguments {
    template: Expr,
    runtime: Option<Expr>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Arguments> {
        let template = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        let runtime = if input.is_empty() {
            None
        } else {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            let path = input.parse()?;
            input.parse::<Option<Token![,]>>()?;
            Some(path)
        };
        Ok(Arguments { template, runtime })
    }
}

impl Arguments {
    fn declaration(self, write: &str, errors: &mut Errors) -> Option<Declaration> {
        let template = args::string(&self.template);
        if template.is_none() {
            errors.add(
                self.template.span(),
                format_args!("the template is a string literal: {write}"),
            );
        }
        let runtime = match &self.runtime {
            Some(path) => args::path("crate", path, errors),
            None => Some(default_runtime()),
        };
        Some(Declaration {
            template: template?,
            runtime: runtime?,
        })
    }
}
