//! The user's statements, and what surrounds them inside the body.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Expr;

use crate::args::ungrouped;
use crate::key::{Key, Segment};
use crate::model::Call;
use crate::tokens;

use super::{allow_underscores, closures, glue_at};

/// The return-type edge, the captures, and the statements.
pub(super) fn statements(call: &Call, statements: TokenStream, glue: Span) -> TokenStream {
    let typed_return = typed_return(call);
    let captures = captures(call, &statements, glue);
    let statements = closures::typed(call, &statements, glue).unwrap_or(statements);
    quote_spanned! {glue=> #typed_return #captures #statements }
}

/// Gives `return` the function's type. Nothing can be said of `_`.
fn typed_return(call: &Call) -> TokenStream {
    if call.output.inferred {
        return TokenStream::new();
    }
    let ty = &call.output.tokens;
    let span = glue_at(call.output.span);
    quote_spanned! {span=>
        if let ::core::option::Option::Some(__lock_output) = ::core::option::Option::None::<#ty> {
            return __lock_output;
        };
    }
}

/// Moves arguments into the body as a whole, so that they are dropped with it, before the lock is
/// released.
///
/// In the reverse of their order, in which the arguments of a function are dropped: captures are
/// dropped as they were captured.
///
/// A name that occurs nowhere is left alone unless it starts with `_`: the compiler is about to
/// call it unused, and should. Where the function drops its arguments when it returns its future,
/// every such name is: the future could not outlive what it never uses, nor be `Send` without it.
fn captures(call: &Call, statements: &TokenStream, glue: Span) -> TokenStream {
    let mut mentioned = HashSet::new();
    tokens::add_names(statements.clone(), &mut mentioned);
    // `key = key` gives the argument away, if it is one that can be.
    let moved_into_key = moved_into_key(call).filter(|name| !mentioned.contains(name));
    options(call, &mut |tokens| {
        tokens::add_names(tokens, &mut mentioned)
    });
    let keeps_all = call.shape.keeps_arguments();
    let bindings = call.names.bindings.iter().rev().filter(|binding| {
        let name = binding.ident.to_string();
        let kept = mentioned.contains(&name) || keeps_all && name.starts_with('_');
        kept && Some(name) != moved_into_key
    });
    let moves = bindings.map(|binding| {
        let (cfgs, ident) = (&binding.cfgs, &binding.ident);
        let allow = allow_underscores(&ident.to_string(), glue);
        let assignment = binding
            .mutable
            .then(|| unreachable_assignment(ident, statements, glue))
            .flatten();
        let assignment =
            assignment.map(|assignment| quote_spanned!(glue=> #(#cfgs)* #allow #assignment));
        quote_spanned!(glue=> #(#cfgs)* #allow let _ = &#ident; #assignment)
    });
    let receiver = call.names.receiver.iter();
    let receiver = receiver.filter(|name| keeps_all || mentioned.contains(&name.to_string()));
    let receiver = receiver.map(|name| {
        let mutable = call.names.mutable_receiver;
        let assignment = mutable
            .then(|| unreachable_assignment(name, statements, glue))
            .flatten();
        quote_spanned!(glue=> let _ = &#name; #assignment)
    });
    quote_spanned!(glue=> #(#moves)* #(#receiver)*)
}

/// Where the body assigns to an argument: an assignment that never happens, by which the compiler
/// sees that the argument is dropped in here.
///
/// What is set for a destructor to read, as in `self.armed = false`, is else called "never read": the
/// compiler knows of a variable that it is dropped, but of a captured one only if something is assigned
/// to it as a whole.
fn unreachable_assignment(
    name: &Ident,
    statements: &TokenStream,
    glue: Span,
) -> Option<TokenStream> {
    let assigned = tokens::assigns_to(statements.clone(), &name.to_string());
    assigned.then(|| {
        quote_spanned! {glue=>
            if let ::core::option::Option::Some(__lock_value) = ::core::option::Option::None {
                #name = __lock_value;
                let _ = &#name;
            }
        }
    })
}

/// The argument that is the key itself.
fn moved_into_key(call: &Call) -> Option<String> {
    match &call.key {
        Key::Expr(expr) => match ungrouped(expr) {
            Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
            _ => None,
        },
        Key::Template(_) => None,
    }
}

/// Everything of the user's in the attribute.
fn options(call: &Call, each: &mut dyn FnMut(TokenStream)) {
    match &call.key {
        Key::Expr(expr) => each(expr.to_token_stream()),
        Key::Template(template) => {
            for segment in &template.segments {
                if let Segment::Value { expr, .. } = segment {
                    each(expr.clone());
                }
            }
        }
    }
    let options = &call.options;
    each(options.client.to_token_stream());
    each(options.or_else.to_token_stream());
    for length in [
        &options.ttl,
        &options.wait,
        &options.max_hold,
        &options.retain,
    ] {
        each(length.to_token_stream());
    }
}

/// `-> R` for the closure of a synchronous body, where R can be written.
pub(super) fn closure_returns(call: &Call, glue: Span) -> TokenStream {
    if call.output.inferred {
        return TokenStream::new();
    }
    let ty = &call.output.tokens;
    quote_spanned!(glue=> -> #ty)
}
