//! Generates the inside of the body: the user's statements, after generated ones.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};

use crate::item::Shape;
use crate::model::Call;
use crate::tokens;

use super::{allow_underscores, braced, closures, glue_at};

/// The typed `return`, the captures, and the user's statements.
///
/// Statements with an item have a block of their own. Otherwise clippy would blame the user for an item after statements.
pub(super) fn statements(
    call: &Call,
    statements: TokenStream,
    braces: Span,
    glue: Span,
) -> TokenStream {
    let typed_return = typed_return(call);
    let captures = captures(call, &statements, glue);
    let statements = closures::typed(call, &statements, glue).unwrap_or(statements);
    let statements = if has_item(&statements) {
        braced(statements, braces).into_token_stream()
    } else {
        statements
    };
    quote_spanned!(glue=> #typed_return #captures #statements)
}

/// Returns whether a statement may be an item: a keyword that begins an item occurs outside of nested braces.
fn has_item(statements: &TokenStream) -> bool {
    const BEGIN_ITEMS: [&str; 11] = [
        "const", "enum", "extern", "fn", "impl", "mod", "static", "struct", "trait", "type", "use",
    ];
    statements.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => BEGIN_ITEMS.iter().any(|word| ident == word),
        _ => false,
    })
}

/// A `return` that never runs, and gives every `return` of the body the function's type. There is
/// none for `_`, and none for a closure that is `-> !`.
fn typed_return(call: &Call) -> TokenStream {
    let is_never = call.output.never && matches!(call.shape, Shape::Sync);
    if call.output.inferred || is_never {
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

/// Moves whole arguments into the body, so that they are dropped with it, before the lock is released.
///
/// The order is reversed: a function drops its last argument first, a body its first capture.
///
/// An argument that occurs nowhere is not captured, so that the compiler reports it as unused. If its
/// name starts with `_`, it is captured anyway, unless the function drops its arguments when it
/// returns its future. There, a capture could keep the future from being `'static` or `Send`.
fn captures(call: &Call, statements: &TokenStream, glue: Span) -> TokenStream {
    let mut mentioned = HashSet::new();
    tokens::add_names(statements.clone(), &mut mentioned);
    // `key = key` moves the argument into the key, if the body does not use it.
    let mut moved_into_keys = call.keys.moved_arguments();
    moved_into_keys.retain(|name| !mentioned.contains(name));
    options(call, &mut |tokens| {
        tokens::add_names(tokens, &mut mentioned)
    });
    let keeps_all = call.shape.keeps_arguments();
    let bindings = call.names.bindings.iter().rev().filter(|binding| {
        let name = binding.ident.to_string();
        let kept = mentioned.contains(&name) || keeps_all && name.starts_with('_');
        kept && !moved_into_keys.contains(&name)
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

/// An assignment that never runs, for an argument that the body assigns to.
///
/// It prevents a false warning. After `self.armed = false`, which only a destructor reads, the compiler
/// would call the value "never read". It takes the drop of a captured variable into account only if
/// the variable is assigned to as a whole.
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

/// Calls `each` with every expression of the attribute.
fn options(call: &Call, each: &mut dyn FnMut(TokenStream)) {
    call.keys.expressions(each);
    let options = &call.options;
    each(options.client.to_token_stream());
    each(options.or_else.to_token_stream());
    for (_, value) in options.settings.given() {
        each(value.to_token_stream());
    }
}

/// `-> R` for the closure of a synchronous body, if `R` can be written.
pub(super) fn closure_returns(call: &Call, glue: Span) -> TokenStream {
    if call.output.inferred {
        return TokenStream::new();
    }
    let ty = &call.output.tokens;
    quote_spanned!(glue=> -> #ty)
}
