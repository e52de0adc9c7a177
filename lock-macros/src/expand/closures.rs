//! Gives a closure that is returned as `impl Fn…` the types of its arguments.
//!
//! `impl Trait` cannot be written inside the body, so the return type is unknown there. A closure at the end of the
//! body would not know the types of its arguments, so it is passed through a function that states them.
//!
//! Input: `fn by_id() -> impl Fn(&Order) -> u64 { STATEMENTS |order| order.id }`
//!
//! Output:
//!
//! ```text
//! fn returned<R: Fn(&Order) -> u64>(value: R) -> R { value }
//! STATEMENTS
//! returned(|order| order.id)
//! ```

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::Parser;
use syn::{
    Block, Expr, GenericArgument, GenericParam, Pat, PathArguments, ReturnType, Signature, Stmt,
    Type, TypeParamBound,
};

use crate::item::Shape;
use crate::model::Call;
use crate::tokens;

/// The statements with their last closure passed through such a function. `None` if they do not end
/// with a closure, or if the function could not name the types.
pub(super) fn typed(call: &Call, statements: &TokenStream, glue: Span) -> Option<TokenStream> {
    let signature = &call.item.signature;
    let ReturnType::Type(_, ty) = &signature.output else {
        return None;
    };
    let bound = match call.shape {
        Shape::Async | Shape::Sync => callable(ty)?,
        Shape::Future(_) => return None,
    };
    let generics = generics(signature, &bound)?;
    let mut body = Block::parse_within.parse2(statements.clone()).ok()?;
    let Some(Stmt::Expr(end, None)) = body.last_mut() else {
        return None;
    };
    let closure = untyped_closure(end)?;
    let passing = Ident::new("__lock_closure", glue);
    let values = generics.iter().map(|parameter| name(parameter));
    let passed = quote_spanned!(glue=> #passing::<#(#values,)* _>(#closure));
    *closure = Expr::Verbatim(passed);
    Some(quote_spanned! {glue=>
        fn #passing<#(#generics,)* __LockClosure: #bound>(
            __lock_value: __LockClosure,
        ) -> __LockClosure {
            __lock_value
        }
        #(#body)*
    })
}

/// `Fn(…) -> …` from `impl Fn(…) -> …`, also inside a `Result` or an `Option`.
fn callable(ty: &Type) -> Option<TokenStream> {
    match ty {
        Type::Group(ty) => callable(&ty.elem),
        Type::Paren(ty) => callable(&ty.elem),
        Type::ImplTrait(ty) => ty.bounds.iter().find_map(|bound| match bound {
            TypeParamBound::Trait(bound) => {
                let last = &bound.path.segments.last()?.ident;
                let is_callable = last == "Fn" || last == "FnMut" || last == "FnOnce";
                is_callable.then(|| bound.to_token_stream())
            }
            _ => None,
        }),
        Type::Path(ty) => match &ty.path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
                GenericArgument::Type(first) => callable(first),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The generics that the bound mentions.
///
/// `None` if it may mention something that a nested function cannot: `Self`, a generic of the `impl`
/// block, or a lifetime. Bounds on these may exist only outside.
fn generics<'a>(signature: &'a Signature, bound: &TokenStream) -> Option<Vec<&'a GenericParam>> {
    let all = &signature.generics;
    let mentions = |tokens: &TokenStream, parameter: &GenericParam| {
        tokens::mentions(tokens.clone(), &name(parameter).to_string())
    };
    let (used, unused): (Vec<&GenericParam>, Vec<_>) = all
        .params
        .iter()
        .partition(|parameter| mentions(bound, parameter));
    let mut written = bound.clone();
    used.iter()
        .for_each(|parameter| parameter.to_tokens(&mut written));
    let limits = all.where_clause.to_token_stream();
    let more_is_known = used.iter().any(|parameter| mentions(&limits, parameter))
        || unused.iter().any(|parameter| mentions(&written, parameter))
        || lifetimes(written.clone())
            .iter()
            .any(|name| name != "static");
    let is_foreign = |tree: &TokenTree| match tree {
        TokenTree::Ident(ident) => {
            let text = ident.to_string();
            let looks_generic = text.len() == 1 && text.starts_with(char::is_uppercase);
            text == "Self" || looks_generic && !used.iter().any(|used| name(used) == ident)
        }
        _ => false,
    };
    (!more_is_known && !tokens::any(written, &mut |tree| is_foreign(tree))).then_some(used)
}

/// The names of lifetimes, at any depth.
fn lifetimes(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut after_quote = false;
    for tree in tokens {
        match &tree {
            TokenTree::Ident(ident) if after_quote => found.push(ident.to_string()),
            TokenTree::Group(group) => found.extend(lifetimes(group.stream())),
            _ => (),
        }
        after_quote = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '\'');
    }
    found
}

fn name(parameter: &GenericParam) -> &Ident {
    match parameter {
        GenericParam::Type(parameter) => &parameter.ident,
        GenericParam::Const(parameter) => &parameter.ident,
        GenericParam::Lifetime(parameter) => &parameter.lifetime.ident,
    }
}

/// A closure with an argument of unwritten type, also inside `Ok(…)` and `Some(…)`.
fn untyped_closure(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::Closure(closure) => {
            let is_untyped = |pattern: &Pat| !matches!(pattern, Pat::Type(_));
            closure.inputs.iter().any(is_untyped).then_some(expr)
        }
        Expr::Group(group) => untyped_closure(&mut group.expr),
        Expr::Paren(paren) => untyped_closure(&mut paren.expr),
        Expr::Call(call) if call.args.len() == 1 => {
            let Expr::Path(function) = &*call.func else {
                return None;
            };
            let last = &function.path.segments.last()?.ident;
            (last == "Ok" || last == "Some")
                .then(|| untyped_closure(call.args.first_mut()?))
                .flatten()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::lock;

    fn is_passed(function: &str) -> bool {
        let key = "key = \"a\"".parse().unwrap();
        let output = lock(key, function.parse().unwrap()).to_string();
        assert!(!output.contains("compile_error"), "{output}");
        output.contains("__lock_closure")
    }

    #[test]
    fn closure_with_untyped_argument_is_passed_through() {
        for function in [
            "fn f() -> impl Fn(&Order) -> u64 { go(); |order| order.id }",
            "async fn f() -> impl FnOnce(Order) + Send { move |order| drop(order) }",
            "fn f() -> Result<impl FnMut(&Order) -> u64, E> { Ok(|o| o.id) }",
            "fn f<'a, T: Keyed>(x: &'a T) -> impl Fn(&T) -> bool + 'a { (move |y| x == y) }",
        ] {
            assert!(is_passed(function), "{function}");
        }
    }

    #[test]
    fn other_body_stays_unchanged() {
        for function in [
            "fn f() -> impl Fn(&Order) -> u64 { |order: &Order| order.id }",
            "fn f() -> impl Fn() -> u64 { || 1 }",
            "fn f() -> impl Fn(&Order) -> u64 { by_id }",
            "fn f() -> impl Iterator<Item = u64> { |order| order.id }",
            "fn f() -> Box<dyn Fn(&Order) -> u64> { Box::new(|order| order.id) }",
            "fn f() -> impl Fn(&Order) -> u64 { let x = ; |order| order.id }",
            // A nested function cannot name these types.
            "fn f(&self) -> impl Fn(&Self) -> u64 { |order| order.id }",
            "fn f(&self) -> impl Fn(&T) -> u64 { |order| order.id }",
            "fn f(&self) -> impl Fn(&u8) -> Order<'_> { |order| order.id }",
            "fn f(&self) -> impl Fn(&'a Order) -> u64 { |order| order.id }",
            "fn f<'a, T>(x: &'a T) -> impl Fn(&'a T) -> u64 { |order| order.id }",
            "fn f<T>() -> impl Fn(&T) -> u64 where T: Keyed { |order| order.id }",
            "fn f<T: Into<U>, U>() -> impl Fn(&T) -> u64 { |order| order.id }",
        ] {
            assert!(!is_passed(function), "{function}");
        }
    }
}
