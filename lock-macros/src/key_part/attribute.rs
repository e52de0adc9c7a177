//! Reads `#[key_part(…)]`: `rename` on a variant, and `crate` on the type.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, LitStr, MetaNameValue, Token};

use crate::args;
use crate::errors::Errors;

/// The place of a `#[key_part(…)]`, which decides its option.
#[derive(Clone, Copy)]
enum Place {
    Type,
    Variant,
    Field,
}

impl Place {
    /// The message about an option that cannot be here.
    fn refusal(self, option: &str) -> String {
        match (self, option) {
            (Place::Type, "rename") | (Place::Field, "rename") => {
                "`rename` is for a variant of an enum: a struct is written as its field".to_owned()
            }
            (_, "rename_all") => {
                "there is no `rename_all`: write `#[key_part(rename = \"…\")]` above each variant whose text is not its name".to_owned()
            }
            (Place::Type, _) => {
                format!("`#[key_part(…)]` of a type has no `{option}`, only `crate`")
            }
            (Place::Variant, _) => {
                format!("`#[key_part(…)]` of a variant has no `{option}`, only `rename`")
            }
            (Place::Field, _) => format!("`#[key_part(…)]` of a field has no options, so no `{option}`"),
        }
    }

    fn takes(self, option: &str) -> bool {
        match self {
            Place::Type => option == "crate",
            Place::Variant => option == "rename",
            Place::Field => false,
        }
    }
}

/// The options of the type.
#[derive(Default)]
pub(super) struct Container {
    runtime: Option<TokenStream>,
}

impl Container {
    pub(super) fn read(attrs: &[Attribute], errors: &mut Errors) -> Container {
        let option = option(attrs, Place::Type, errors);
        Container {
            runtime: option.and_then(|option| args::path("crate", &option.value, errors)),
        }
    }

    /// The path of the runtime crate.
    pub(super) fn runtime(&self) -> TokenStream {
        match &self.runtime {
            Some(path) => path.clone(),
            None => quote_spanned!(Span::call_site()=> ::lock_runtime),
        }
    }
}

/// The text of a variant that is not its name.
pub(super) fn rename(attrs: &[Attribute], errors: &mut Errors) -> Option<LitStr> {
    let option = option(attrs, Place::Variant, errors)?;
    let text = args::string(&option.value);
    let problem = match &text {
        None => "`rename` needs a string: `rename = \"north\"`",
        Some(text) if text.value().is_empty() => {
            "an empty text cannot be part of a key: write the variant's name, or another text"
        }
        Some(_) => return text,
    };
    errors.add(option.value.span(), problem);
    None
}

/// Reports all options of a field: it has none.
pub(super) fn refuse_on_field(attrs: &[Attribute], errors: &mut Errors) {
    let none = option(attrs, Place::Field, errors);
    debug_assert!(none.is_none(), "a field has no options");
}

/// The option that may be given at this place. Reports all others.
fn option(attrs: &[Attribute], place: Place, errors: &mut Errors) -> Option<MetaNameValue> {
    let mut found: Option<MetaNameValue> = None;
    for attr in attrs {
        if !attr.path().is_ident("key_part") {
            continue;
        }
        let options =
            attr.parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated);
        let Ok(options) = options else {
            let example = match place {
                Place::Type => "crate = path::to::lock_runtime",
                Place::Variant | Place::Field => "rename = \"north\"",
            };
            errors.add(
                attr.span(),
                format_args!("`#[key_part(…)]` needs a name and a value: `#[key_part({example})]`"),
            );
            continue;
        };
        for option in options {
            let name = option.path.to_token_stream().to_string();
            if !place.takes(&name) {
                errors.add(option.path.span(), place.refusal(&name));
            } else if found.is_some() {
                errors.add(
                    option.path.span(),
                    format_args!("`{name}` is given twice; remove one"),
                );
            } else {
                found = Some(option);
            }
        }
    }
    found
}
