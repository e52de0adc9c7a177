//! The code that may surround the async block at the end of a function.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, Stmt};

use super::names::Names;
use crate::tokens;

/// Finds the async block inside `Box::pin(…)`, `(…)` and `….boxed()`.
///
/// Only wrappers that pass the block on unchanged count. Any other code could run before or after the
/// block, without the lock.
pub(crate) fn async_slot(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::Async(_) => Some(expr),
        Expr::Group(group) => async_slot(&mut group.expr),
        Expr::Paren(paren) => async_slot(&mut paren.expr),
        Expr::Call(call) if call.args.len() == 1 && boxes(&call.func) => {
            async_slot(call.args.first_mut()?)
        }
        Expr::MethodCall(call) if passes_on(&call.method) => async_slot(&mut call.receiver),
        _ => None,
    }
}

/// Returns whether a function only boxes its argument, as `Box::pin` does, by any path.
fn boxes(function: &Expr) -> bool {
    let Expr::Path(path) = function else {
        return false;
    };
    let mut segments = path.path.segments.iter().rev();
    let (Some(method), Some(ty)) = (segments.next(), segments.next()) else {
        return false;
    };
    [
        ("Box", "pin"),
        ("Box", "new"),
        ("Box", "into_pin"),
        ("Pin", "from"),
    ]
    .iter()
    .any(|known| ty.ident == known.0 && method.ident == known.1)
}

/// Returns whether a method passes the block on unchanged, as methods of `futures` and `tracing` do.
fn passes_on(method: &Ident) -> bool {
    ["boxed", "boxed_local", "instrument", "in_current_span"]
        .iter()
        .any(|known| method == known)
}

/// A variable that is bound before the block and used around it, as in
/// `let span = …; async move { … }.instrument(span)`.
///
/// The statements before the block move into it, so the variable is no longer in scope around it.
pub(crate) fn stranded(before: &[Stmt], expr: &Expr) -> Option<Ident> {
    let mut bound = Names::default();
    for statement in before {
        if let Stmt::Local(local) = statement {
            bound.bind(&local.pat, &[]);
        }
    }
    let mut used = HashSet::new();
    arguments(expr, &mut used);
    let mut idents = bound.bindings.into_iter().map(|binding| binding.ident);
    idents.find(|ident| used.contains(&ident.to_string()))
}

/// Adds the names in the arguments of the methods that are called on the block.
fn arguments(expr: &Expr, into: &mut HashSet<String>) {
    match expr {
        Expr::Group(group) => arguments(&group.expr, into),
        Expr::Paren(paren) => arguments(&paren.expr, into),
        Expr::Call(call) => call
            .args
            .iter()
            .for_each(|argument| arguments(argument, into)),
        Expr::MethodCall(call) => {
            tokens::add_names(call.args.to_token_stream(), into);
            arguments(&call.receiver, into);
        }
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranded_in(body: &str) -> Option<String> {
        let parser = syn::Block::parse_within;
        let mut statements = syn::parse::Parser::parse_str(parser, body).unwrap();
        let Some(Stmt::Expr(expr, None)) = statements.pop() else {
            panic!("no expression at the end of {body}");
        };
        stranded(&statements, &expr).map(|ident| ident.to_string())
    }

    #[test]
    fn variable_used_around_the_block_is_stranded() {
        for (body, expected) in [
            (
                "let span = span(); Box::pin(async move { x }.instrument(span))",
                Some("span"),
            ),
            (
                "let (a, b) = f(); (async { a }).instrument(info_span!(\"{b}\")).boxed()",
                Some("b"),
            ),
            ("let a = 1; async move { a }.instrument(span)", None),
            ("go(); async move { go() }.instrument(span)", None),
        ] {
            assert_eq!(stranded_in(body).as_deref(), expected, "{body}");
        }
    }
}
