//! Handles code from other attribute macros. These may change it at any time, so all assumptions are in this file, and a test
//! pins each row to a version.
//!
//! | macro | above the attribute, recognised by | then | pinned by |
//! |---|---|---|---|
//! | `async_trait` | the lifetime `'async_trait`; a block that binds the arguments, then `let __ret: R = { … }` | the lock is taken after the arguments are bound, and `self` is `__self` | async-trait 0.1.92, `tests/attribute` |
//! | `tokio::main`, `tokio::test` | `let body = async …`, and the message of a runtime that cannot be built | refused: it must be placed below | tokio-macros 2.7.2, `tests/attribute/ui/items.rs` |
//! | `wasm_bindgen` | a name that begins with `__wasm_bindgen_generated_` | refused: it must be placed below | wasm-bindgen 0.2, by a copy of its output there |
//!
//! Below the attribute, a macro sees the expansion. One that follows the advice of `async_trait` takes the block of a
//! function that ends with `Box::pin(async move { … })` for the whole function, and drops what stands before it. So the
//! block has all that it needs, and does not compile if the user's copies before it are gone (`expand::copies_survive`).
//!
//! | macro | below the attribute | pinned by |
//! |---|---|---|
//! | `tracing::instrument` | keeps the statements before the block | tracing-attributes 0.1, `tests/attribute` |
//! | `fastrace::trace` | drops them | fastrace-macro 0.7.17, `tests/attribute` |
//!
//! The methods of `futures` and `tracing` that pass a block on are in `async_slot`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, GenericParam, Local, Pat, Signature, Stmt, Type};

use super::names::Names;
use crate::tokens;

/// Returns whether `#[wasm_bindgen]` generated this function for another one.
pub(super) fn is_of_wasm_bindgen(signature: &Signature) -> bool {
    let name = signature.ident.to_string();
    name.starts_with("__wasm_bindgen_generated_")
}

/// Returns whether `#[tokio::main]` generated this body: `let body = async { … }; …block_on(body)`.
pub(super) fn is_of_tokio(body: &TokenStream) -> bool {
    let head = body.clone().into_iter().take(4);
    head.map(|tree| tree.to_string())
        .eq(["let", "body", "=", "async"])
        && tokens::mentions(body.clone(), "block_on")
        && tokens::any(body.clone(), &mut |tree| {
            matches!(tree, TokenTree::Literal(text)
                if text.to_string() == "\"Failed building the Runtime\"")
        })
}

/// The statements of `#[async_trait]` that bind the arguments at the head of its block, and the names in scope after them.
#[derive(Clone)]
pub(crate) struct Prelude {
    pub(crate) statements: TokenStream,
    pub(crate) names: Names,
    /// The type of `__ret`.
    pub(crate) output: TokenStream,
}

impl Prelude {
    /// Finds the end of the prelude of `#[async_trait]` and the start of the user's body; `None` in other functions.
    ///
    /// The user's body is `let __ret: R = { … };`, or `let _: () = { … };` for a function without a result. References
    /// keep the names that they have in the signature. All other arguments are moved to new variables.
    pub(super) fn split(signature: &Signature, statements: &[Stmt]) -> Option<(usize, Prelude)> {
        if !is_async_trait(signature) {
            return None;
        }
        let mut names = Names::of(signature);
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Stmt::Local(local) => {
                    let is_last = at + 1 == statements.len();
                    if let Some(output) = declared_result(&local.pat, is_last) {
                        let statements = &statements[..at];
                        let prelude = Prelude {
                            statements: quote!(#(#statements)*),
                            names,
                            output,
                        };
                        return Some((at, prelude));
                    }
                    names.remove(&moved(local)?, &local.attrs);
                    bind(&mut names, local);
                }
                // async-trait states the return type by a `return` that never runs.
                Stmt::Expr(Expr::If(_), _) if at == 0 => (),
                _ => return None,
            }
        }
        None
    }
}

/// Whether `#[async_trait]` generated the function: all its functions have the lifetime `'async_trait`.
fn is_async_trait(signature: &Signature) -> bool {
    signature.generics.params.iter().any(|parameter| {
        matches!(parameter, GenericParam::Lifetime(parameter)
            if parameter.lifetime.ident == "async_trait")
    })
}

/// The argument that a statement of the prelude moves, as in `let id = id;` or
/// `let Path(id) = { let __arg1 = __arg1; __arg1 };`.
fn moved(local: &Local) -> Option<Ident> {
    let init = local.init.as_ref()?;
    if init.diverge.is_some() {
        return None;
    }
    match &*init.expr {
        Expr::Path(path) => path.path.get_ident().cloned(),
        Expr::Block(block) => match &*block.block.stmts {
            [Stmt::Local(inner), Stmt::Expr(Expr::Path(path), None)] => {
                let moved = moved(inner)?;
                path.path.is_ident(&moved).then_some(moved)
            }
            _ => None,
        },
        _ => None,
    }
}

fn bind(names: &mut Names, local: &Local) {
    match &local.pat {
        Pat::Ident(pattern) if pattern.ident == "__self" => {
            names.receiver = Some(pattern.ident.clone());
            names.mutable_receiver = pattern.mutability.is_some();
        }
        other => names.bind(other, &local.attrs),
    }
}

fn declared_result(pattern: &Pat, is_last: bool) -> Option<TokenStream> {
    let Pat::Type(typed) = pattern else {
        return None;
    };
    let ours = match &*typed.pat {
        Pat::Ident(pattern) => pattern.ident == "__ret",
        Pat::Wild(_) => {
            is_last && matches!(&*typed.ty, Type::Tuple(tuple) if tuple.elems.is_empty())
        }
        _ => false,
    };
    ours.then(|| typed.ty.to_token_stream())
}

#[cfg(test)]
mod tests {
    use crate::item::tail_block::tests::{find, find_in, plain};

    #[test]
    fn prelude_of_async_trait_is_split_off() {
        let tail = find_in(
            "fn f<'life0, 'async_trait>(&'life0 self, mut id: Id, key: &'life0 str, __arg3: Path<String>) -> R",
            "Box::pin(async move {
                if let Some(__ret) = None::<Result<u8, E>> { return __ret; }
                let __self = self; let id = id; let Path(name) = { let __arg3 = __arg3; __arg3 };
                let __ret: Result<u8, E> = { rest };
                __ret
            })",
        )
        .unwrap();
        assert_eq!(plain(&tail.body), "let__ret:Result<u8,E>={rest};__ret");
        let prelude = tail.prelude.unwrap();
        assert_eq!(plain(&prelude.output), "Result<u8,E>");
        assert!(prelude.statements.to_string().contains("__arg3"));
        assert_eq!(prelude.names.receiver.as_ref().unwrap(), "__self");
        let names: Vec<_> = prelude
            .names
            .bindings
            .iter()
            .map(|name| name.ident.to_string())
            .collect();
        assert_eq!(
            names,
            ["key", "id", "name"],
            "a reference keeps its name, a moved argument gets a new one"
        );
    }

    #[test]
    fn prelude_without_result_is_split_off() {
        let tail = find_in(
            "fn f<'async_trait>(id: u8) -> R",
            "Box::pin(async move { let id = id; let _: () = { rest }; })",
        )
        .unwrap();
        assert_eq!(plain(&tail.body), "let_:()={rest};");
        assert!(tail.prelude.unwrap().names.find("id").is_some());
    }

    #[test]
    fn handwritten_block_has_no_prelude() {
        let body = "async move { let n = charge().await; let _: () = notify(n); }";
        assert!(find(body).unwrap().prelude.is_none());
        assert!(
            find("async move { let id = id; let __ret: () = go(); __ret }")
                .unwrap()
                .prelude
                .is_none()
        );
        // Nor if the signature comes from async-trait.
        let tail = find_in("fn f<'async_trait>(id: u8) -> R", body).unwrap();
        assert!(tail.prelude.is_none());
    }
}
