//! The async block at the end of a function that returns a future.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Block, Expr, ExprAsync, GenericParam, Ident, Local, Pat, Signature, Stmt, Type};

use super::async_slot::{async_slot, stranded};
use super::copies;
use super::names::Names;
use crate::tokens;

/// A body of the form `…; Box::pin(async move { … })`, split into its parts.
///
/// Input:
/// ```text
/// { charge(); Box::pin(async move { let __self = self; let __ret: R = { rest }; __ret }) }
/// ```
/// Here `before` is `charge();`, `prelude` is `let __self = self;`, and `body` is the rest of the block.
pub(crate) struct TailBlock {
    /// The statements at the head that only copy a value, and so may run when the function is called.
    pub(crate) copies: TokenStream,
    /// The other statements before the block. They are part of the function, so the expansion moves
    /// them under the lock.
    pub(crate) before: TokenStream,
    /// The place where one of these mentions `self`.
    pub(crate) uses_self: Option<Span>,
    /// The place of a `return` in them, except in a nested function.
    pub(crate) returns: Option<Span>,
    /// A variable of theirs that the code around the block uses, too.
    pub(crate) stranded: Option<Ident>,
    /// The statements by which `#[async_trait]` binds the arguments at the head of the block.
    pub(crate) prelude: Option<Prelude>,
    /// The other statements of the block.
    pub(crate) body: TokenStream,
    /// The place of the block's `async`.
    pub(crate) keyword: Span,
    /// The place of the block's braces.
    pub(crate) braces: Span,
    /// The last expression of the body. `wrap` replaces the block in it.
    expr: Expr,
}

/// The statements that bind the arguments, and the names in scope after them.
#[derive(Clone)]
pub(crate) struct Prelude {
    pub(crate) statements: TokenStream,
    pub(crate) names: Names,
    /// The type of `__ret`.
    pub(crate) output: TokenStream,
}

impl TailBlock {
    /// Splits a body. Returns `None` if it does not end with an async block.
    pub(crate) fn find(signature: &Signature, body: TokenStream) -> Option<TailBlock> {
        // Most bodies contain no `async`; these are not parsed.
        if !tokens::mentions(body.clone(), "async") {
            return None;
        }
        let mut statements = syn::parse::Parser::parse2(Block::parse_within, body).ok()?;
        let Some(Stmt::Expr(mut expr, None)) = statements.pop() else {
            return None;
        };
        let block = async_block(&mut expr)?;
        let keyword = block.async_token.span;
        let braces = block.block.brace_token.span.join();
        let inner = std::mem::take(&mut block.block.stmts);
        let split = is_async_trait(signature)
            .then(|| split_prelude(Names::of(signature), &inner))
            .flatten();
        let at = split.as_ref().map_or(0, |(at, _)| *at);
        let (copies, before) = statements.split_at(copies::leading(&statements, signature));
        let find = |word| {
            before
                .iter()
                .filter(|statement| !matches!(statement, Stmt::Item(_)))
                .find_map(|statement| tokens::find(statement.to_token_stream(), word))
        };
        Some(TailBlock {
            stranded: stranded(before, &expr),
            returns: find("return"),
            uses_self: find("self"),
            copies: quote!(#(#copies)*),
            before: quote!(#(#before)*),
            prelude: split.map(|(_, prelude)| prelude),
            body: inner[at..].iter().map(Stmt::to_token_stream).collect(),
            keyword,
            braces,
            expr,
        })
    }

    /// The last expression, with `block` in place of its async block.
    pub(crate) fn wrap(&self, block: TokenStream) -> TokenStream {
        let mut expr = self.expr.clone();
        if let Some(slot) = async_slot(&mut expr) {
            *slot = Expr::Verbatim(block);
        }
        expr.into_token_stream()
    }
}

fn async_block(expr: &mut Expr) -> Option<&mut ExprAsync> {
    match async_slot(expr)? {
        Expr::Async(block) => Some(block),
        _ => None,
    }
}

/// Whether `#[async_trait]` generated the function: all its functions have the lifetime `'async_trait`.
fn is_async_trait(signature: &Signature) -> bool {
    signature.generics.params.iter().any(|parameter| {
        matches!(parameter, GenericParam::Lifetime(parameter)
            if parameter.lifetime.ident == "async_trait")
    })
}

/// Finds the end of the prelude of `#[async_trait]` and the start of the user's body.
///
/// The user's body is `let __ret: R = { … };`, or `let _: () = { … };` for a function without a result.
/// References keep their names of the signature. All other arguments are moved to new variables.
fn split_prelude(mut names: Names, statements: &[Stmt]) -> Option<(usize, Prelude)> {
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
            // The `return` that never runs, by which async-trait states the return type.
            Stmt::Expr(Expr::If(_), _) if at == 0 => (),
            _ => return None,
        }
    }
    None
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
    use super::*;

    fn find_in(signature: &str, body: &str) -> Option<TailBlock> {
        let signature = syn::parse_str(signature).unwrap();
        TailBlock::find(&signature, body.parse().unwrap())
    }

    fn find(body: &str) -> Option<TailBlock> {
        find_in("fn f(id: u8) -> R", body)
    }

    fn plain(tokens: &TokenStream) -> String {
        tokens.to_string().replace(' ', "")
    }

    #[test]
    fn block_inside_a_wrapper_is_found() {
        for (body, wrapped) in [
            ("async move { x }", "BLOCK"),
            ("Box::pin(async { x })", "Box::pin(BLOCK)"),
            ("(async move { x }).boxed()", "(BLOCK).boxed()"),
            ("async move { x }.boxed_local()", "BLOCK.boxed_local()"),
            (
                "async move { x }.instrument(span)",
                "BLOCK.instrument(span)",
            ),
            (
                "Pin::from(std::boxed::Box::new(async move { x }))",
                "Pin::from(std::boxed::Box::new(BLOCK))",
            ),
            ("charge(); Box::pin(async move { x })", "Box::pin(BLOCK)"),
        ] {
            let tail = find(body).expect(body);
            assert_eq!(plain(&tail.body), "x");
            assert!(tail.prelude.is_none());
            let block = "BLOCK".parse().unwrap();
            assert_eq!(plain(&tail.wrap(block)), wrapped);
        }
    }

    #[test]
    fn statements_before_the_block_are_split_off() {
        let tail = find("charge(); let a = 1; async move { a }").unwrap();
        assert_eq!(plain(&tail.before), "charge();leta=1;");
    }

    #[test]
    fn copies_at_the_head_are_split_off() {
        let tail = find("let a = id.clone(); go(); let b = id.clone(); async move { a }").unwrap();
        assert_eq!(plain(&tail.copies), "leta=id.clone();");
        assert_eq!(plain(&tail.before), "go();letb=id.clone();");
        // A variable that was copied at the call may be used around the block.
        let spans = "let span = id.clone(); async move { x }.instrument(span)";
        assert!(find(spans).unwrap().stranded.is_none());
    }

    #[test]
    fn body_with_another_end_has_no_tail_block() {
        for body in [
            "",
            "x",
            "async move { x };",
            "other(async {}, 1)",
            "if a { async {} } else { async {} }",
            // The code around these blocks would run without the lock.
            "twice(async move { x })",
            "Retry::pin(async move { x })",
            "tokio::spawn(async move { x })",
            "async move { x }.then(notify)",
            "async move { x }.await",
        ] {
            assert!(find(body).is_none(), "{body}");
        }
    }

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
