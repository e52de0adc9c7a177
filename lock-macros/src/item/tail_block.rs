//! Splits a function that ends with an async block.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Block, Expr, ExprAsync, Ident, Signature, Stmt};

use super::async_slot::{async_slot, stranded};
use super::copies;
use super::other_macros::Prelude;
use crate::tokens;

/// A body of the form `…; Box::pin(async move { … })`, split into its parts.
///
/// Input:
/// ```text
/// { charge(); Box::pin(async move { let __self = self; let __ret: R = { rest }; __ret }) }
/// ```
/// Here `before` is `charge();`, `prelude` is `let __self = self;`, and `body` is the remainder of the block.
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
    /// A variable that they bind and that the code around the block uses, too.
    pub(crate) stranded: Option<Ident>,
    /// The statements of `#[async_trait]` that bind the arguments at the head of the block.
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
        let split = Prelude::split(signature, &inner);
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::item) fn find_in(signature: &str, body: &str) -> Option<TailBlock> {
        let signature = syn::parse_str(signature).unwrap();
        TailBlock::find(&signature, body.parse().unwrap())
    }

    pub(in crate::item) fn find(body: &str) -> Option<TailBlock> {
        find_in("fn f(id: u8) -> R", body)
    }

    pub(in crate::item) fn plain(tokens: &TokenStream) -> String {
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
}
