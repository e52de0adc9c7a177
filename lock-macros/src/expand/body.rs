//! The user's statements, and what surrounds them inside the body.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::key::{Key, Segment};
use crate::model::Call;
use crate::tokens;

use super::glue_at;

/// The return-type edge, the captures, and the statements.
pub(super) fn statements(call: &Call, statements: TokenStream, glue: Span) -> TokenStream {
    let edge = edge(call);
    let captures = captures(call, &statements, glue);
    quote_spanned! {glue=> #edge #captures #statements }
}

/// Gives `return` the function's type. Nothing can be said of `_`, nor of `!`.
fn edge(call: &Call) -> TokenStream {
    if call.output.vacuous {
        return TokenStream::new();
    }
    let ty = &call.output.tokens;
    let span = glue_at(call.output.span);
    quote_spanned! {span=>
        if let ::core::option::Option::Some(output) = ::core::option::Option::None::<#ty> {
            return output;
        }
    }
}

/// Moves arguments into the body as a whole, so that they are dropped with it, before the lock is
/// released.
///
/// A name that occurs nowhere is left alone unless it starts with `_`: the compiler is about to
/// call it unused, and should.
fn captures(call: &Call, statements: &TokenStream, glue: Span) -> TokenStream {
    let mentioned = mentioned(call, statements);
    let bindings = call.names.bindings.iter().filter(|binding| {
        let name = binding.ident.to_string();
        name.starts_with('_') || mentioned.contains(&name)
    });
    let moves = bindings.map(|binding| {
        let (cfgs, ident) = (&binding.cfgs, &binding.ident);
        quote_spanned!(glue=> #(#cfgs)* let _ = &#ident;)
    });
    let receiver = call.names.receiver.iter();
    quote_spanned!(glue=> #(let _ = &#receiver;)* #(#moves)*)
}

/// The identifiers in the statements and the options.
fn mentioned(call: &Call, statements: &TokenStream) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut add = |tokens: TokenStream| tokens::identifiers(tokens, &mut found);
    add(statements.clone());
    match &call.key {
        Key::Expr(expr) => add(expr.to_token_stream()),
        Key::Template(template) => {
            for segment in &template.segments {
                if let Segment::Value { expr, .. } = segment {
                    add(expr.clone());
                }
            }
        }
    }
    let options = &call.options;
    add(options.client.to_token_stream());
    add(options.or_else.to_token_stream());
    for length in [&options.ttl, &options.wait, &options.max_hold] {
        add(length.to_token_stream());
    }
    found
}

/// `-> R` for the closure of a synchronous body, where R can be written.
pub(super) fn closure_returns(call: &Call, glue: Span) -> TokenStream {
    if call.output.vacuous {
        return TokenStream::new();
    }
    let ty = &call.output.tokens;
    quote_spanned!(glue=> -> #ty)
}

/// Refuses a synchronous function that turns out to return a future.
pub(super) fn checked_output(call: &Call, glue: Span) -> TokenStream {
    if call.output.never {
        return TokenStream::new();
    }
    let span = glue_at(call.output.span);
    let returned = quote_spanned!(span=> __lock_rt::returned(output));
    quote_spanned!(glue=> let output = #returned;)
}
