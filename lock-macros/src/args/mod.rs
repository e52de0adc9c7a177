//! Parses the attribute's arguments.

mod names;
mod options;
mod unfinished;
mod value;
mod wrong_syntax;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, LitStr, Token, token};

use crate::errors::Errors;
use crate::item::rename_self;
use crate::tokens;
use options::sample;
pub(crate) use options::{Args, Settings};
use value::boolean;
pub(crate) use value::{callable, identifier, path, string, ungrouped, word};
pub(crate) use wrong_syntax::as_written;

impl Args {
    /// Reads the arguments. A mistake in one does not hide mistakes in others.
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Args {
        let mut reader = Reader {
            args: Args::default(),
            key_seen: false,
            errors,
        };
        let parsed = (|input: ParseStream<'_>| {
            reader.read_all(input);
            Ok(())
        })
        .parse2(tokens);
        debug_assert!(parsed.is_ok(), "the reader leaves nothing over");
        if !reader.key_seen {
            reader.errors.add(
                Span::call_site(),
                "`distributed_lock` needs a `key`, such as `key = \"order:<id>\"`",
            );
        }
        reader.args
    }

    /// The path of the runtime crate. Returns `None` if it reported a mistake in it.
    pub(crate) fn runtime(&self, errors: &mut Errors) -> Option<TokenStream> {
        match &self.krate {
            Some(written) => path("crate", written, errors),
            None => Some(quote_spanned!(Span::call_site()=> ::lock_runtime)),
        }
    }

    /// The guard's name, if it is a valid one.
    pub(crate) fn guard(&self) -> Option<Ident> {
        let value = self.guard.as_ref()?;
        identifier("guard", value, &mut Errors::default())
    }

    /// The token's name, if it is a valid one.
    pub(crate) fn token(&self) -> Option<Ident> {
        let value = self.token.as_ref()?;
        identifier("token", value, &mut Errors::default())
    }
}

/// Renames `self` to `name` in one value. An array stays an array, since its elements are read one by one.
fn rename_self_in(value: &mut Expr, name: &Ident) {
    match value {
        Expr::Array(array) => array
            .elems
            .iter_mut()
            .for_each(|element| rename_self_in(element, name)),
        Expr::Group(group) => rename_self_in(&mut group.expr, name),
        Expr::Paren(paren) => rename_self_in(&mut paren.expr, name),
        other => {
            let tokens = other.to_token_stream();
            if tokens::mentions(tokens.clone(), "self") {
                *other = Expr::Verbatim(rename_self(tokens, name));
            }
        }
    }
}

struct Reader<'a> {
    args: Args,
    /// Returns whether the user tried to give a key, or keys. If so, a missing key is not reported as well.
    key_seen: bool,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn read_all(&mut self, input: ParseStream<'_>) {
        while !input.is_empty() {
            if let Err(error) = self.read_one(input) {
                self.errors.push(error);
                skip_to_comma(input);
            }
            // Only a comma or the end is left here.
            let _ = input.parse::<Option<Token![,]>>();
        }
    }

    fn read_one(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if let Some(literal) = bare_string(input)? {
            self.key_seen = true;
            let written = literal.token();
            return Err(syn::Error::new(
                literal.span(),
                format_args!("write `key = {written}`"),
            ));
        }
        if input.peek(token::Bracket) {
            self.key_seen = true;
            return Err(wrong_syntax::unnamed_keys(input));
        }
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected an option such as `key = \"order:<id>\"`"));
        }
        if let Some(error) = wrong_syntax::format_arguments(self.args.key.as_ref(), input) {
            // The template is part of this mistake and must not be reported again.
            self.args.key = None;
            return Err(error);
        }
        let name = input.call(Ident::parse_any)?;
        let text = name.to_string();
        self.key_seen |= names::means_key(&text);
        if self.args.slot(&text).is_none() {
            skip_to_comma(input);
            self.errors.add(name.span(), names::unknown(&text));
            return Ok(());
        }
        if input.is_empty() || input.peek(Token![,]) || input.peek(token::Paren) {
            return Err(syn::Error::new(
                name.span(),
                format_args!("`{text}` needs a value: write `{text} = {}`", sample(&text)),
            ));
        }
        let colon = input.parse::<Option<Token![:]>>()?;
        if colon.is_none() {
            input.parse::<Token![=]>()?;
        }
        if input.is_empty() || input.peek(Token![,]) {
            return Err(syn::Error::new(
                name.span(),
                format_args!("`{text}` needs a value: write `{text} = {}`", sample(&text)),
            ));
        }
        if colon.is_some() {
            return Err(wrong_syntax::colon(&text, input));
        }
        if let Some(error) = wrong_syntax::unquoted_key(&text, input) {
            return Err(error);
        }
        if let Some(error) = wrong_syntax::mutable(&text, input) {
            return Err(error);
        }
        let value = unfinished::value(input)?;
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(input.error("expected `,` between two options"));
        }
        match self.args.slot(&text) {
            Some(slot @ None) => *slot = Some(value),
            _ => self.errors.add(
                name.span(),
                format_args!("`{text}` is given more than once"),
            ),
        }
        Ok(())
    }
}

/// Parses a string in the place of an option's name, even if it comes from a `macro_rules!` macro.
fn bare_string(input: ParseStream<'_>) -> syn::Result<Option<LitStr>> {
    if input.peek(Ident::peek_any) {
        return Ok(None);
    }
    match input.fork().parse::<Expr>() {
        Ok(value) => match string(&value) {
            Some(_) => Ok(string(&input.parse::<Expr>()?)),
            None => Ok(None),
        },
        Err(_) => Ok(None),
    }
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<proc_macro2::TokenTree>().is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
