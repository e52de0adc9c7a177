//! The async block that a function returning a future ends with.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Block, Expr, ExprAsync, Ident, Pat, Stmt, Type};

use super::names::Names;

/// A body of the shape `…; Box::pin(async move { … })`, taken apart.
///
/// Input:
/// ```text
/// { charge(); Box::pin(async move { let __self = self; let __ret: R = { rest }; __ret }) }
/// ```
/// `before` is `charge();`, `prelude` is `let __self = self;`, `body` the rest of the block.
#[derive(Clone)]
pub(crate) struct Tail {
    /// Statements before the block. They run when the function is called; as part of the function
    /// they belong under the lock.
    pub(crate) before: TokenStream,
    /// What `#[async_trait]` put at the head of the block: the arguments under their names.
    pub(crate) prelude: Option<Prelude>,
    /// The block's other statements.
    pub(crate) body: TokenStream,
    /// Where the block's braces are.
    pub(crate) braces: Span,
    /// The last expression; `wrap` replaces the block inside.
    expr: Expr,
}

/// Statements that give the arguments their names, and the names.
#[derive(Clone)]
pub(crate) struct Prelude {
    pub(crate) statements: TokenStream,
    pub(crate) names: Names,
    /// The type of `__ret`.
    pub(crate) output: TokenStream,
}

impl Tail {
    /// Takes a body apart; `None` if it does not end with an async block.
    pub(crate) fn find(body: TokenStream) -> Option<Tail> {
        let mut statements = syn::parse::Parser::parse2(Block::parse_within, body).ok()?;
        let Some(Stmt::Expr(mut expr, None)) = statements.pop() else {
            return None;
        };
        let block = async_block(&mut expr)?;
        let braces = block.block.brace_token.span.join();
        let inner = std::mem::take(&mut block.block.stmts);
        let split = split_prelude(&inner);
        let at = split.as_ref().map_or(0, |(at, _)| *at);
        Some(Tail {
            before: quote!(#(#statements)*),
            prelude: split.map(|(_, prelude)| prelude),
            body: inner[at..].iter().map(Stmt::to_token_stream).collect(),
            braces,
            expr,
        })
    }

    /// The last expression, with `block` in place of its async block.
    pub(crate) fn wrap(mut self, block: TokenStream) -> TokenStream {
        if let Some(slot) = async_slot(&mut self.expr) {
            *slot = Expr::Verbatim(block);
        }
        self.expr.into_token_stream()
    }
}

fn async_block(expr: &mut Expr) -> Option<&mut ExprAsync> {
    match async_slot(expr)? {
        Expr::Async(block) => Some(block),
        _ => None,
    }
}

/// The async block inside `Box::pin(…)`, `(…)` and `….boxed()`.
fn async_slot(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::Async(_) => Some(expr),
        Expr::Group(group) => async_slot(&mut group.expr),
        Expr::Paren(paren) => async_slot(&mut paren.expr),
        Expr::Call(call) if call.args.len() == 1 => async_slot(call.args.first_mut()?),
        Expr::MethodCall(call) => async_slot(&mut call.receiver),
        _ => None,
    }
}

/// Finds where `#[async_trait]` ends and the user's body begins: `let __ret: R = { … };`, or
/// `let _: () = { … };` for a function without a result.
fn split_prelude(statements: &[Stmt]) -> Option<(usize, Prelude)> {
    let mut names = Names::default();
    for (at, statement) in statements.iter().enumerate() {
        match statement {
            Stmt::Local(local) => {
                if let Some(output) = declared_result(&local.pat) {
                    return Some((
                        at,
                        Prelude {
                            statements: statements[..at]
                                .iter()
                                .map(Stmt::to_token_stream)
                                .collect(),
                            names,
                            output,
                        },
                    ));
                }
                bind(&mut names, &local.pat);
            }
            // The return-type edge that async-trait puts first.
            Stmt::Expr(Expr::If(_), _) if at == 0 => (),
            _ => return None,
        }
    }
    None
}

fn bind(names: &mut Names, pattern: &Pat) {
    match pattern {
        Pat::Ident(pattern) if pattern.ident == "__self" => {
            names.receiver = Some(pattern.ident.clone());
        }
        other => names.bind(other, &[]),
    }
}

fn declared_result(pattern: &Pat) -> Option<TokenStream> {
    let Pat::Type(typed) = pattern else {
        return None;
    };
    let ours = match &*typed.pat {
        Pat::Ident(pattern) => pattern.ident == Ident::new("__ret", Span::call_site()),
        Pat::Wild(_) => matches!(&*typed.ty, Type::Tuple(tuple) if tuple.elems.is_empty()),
        _ => false,
    };
    ours.then(|| typed.ty.to_token_stream())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(body: &str) -> Option<Tail> {
        Tail::find(body.parse().unwrap())
    }

    fn plain(tokens: &TokenStream) -> String {
        tokens.to_string().replace(' ', "")
    }

    #[test]
    fn a_block_is_found_in_its_wrapping() {
        for (body, wrapped) in [
            ("async move { x }", "BLOCK"),
            ("Box::pin(async { x })", "Box::pin(BLOCK)"),
            ("(async move { x }).boxed()", "(BLOCK).boxed()"),
            ("async move { x }.boxed_local()", "BLOCK.boxed_local()"),
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
    fn statements_before_the_block_are_kept_apart() {
        let tail = find("charge(); let a = 1; async move { a }").unwrap();
        assert_eq!(plain(&tail.before), "charge();leta=1;");
    }

    #[test]
    fn other_bodies_have_no_tail() {
        for body in [
            "",
            "x",
            "async move { x };",
            "other(async {}, 1)",
            "if a { async {} } else { async {} }",
        ] {
            assert!(find(body).is_none(), "{body}");
        }
    }

    #[test]
    fn the_prelude_of_async_trait_is_split_off() {
        let tail = find(
            "Box::pin(async move {
                if let Some(__ret) = None::<Result<u8, E>> { return __ret; }
                let __self = self; let id = id; let Path(name) = __arg1;
                let __ret: Result<u8, E> = { rest };
                __ret
            })",
        )
        .unwrap();
        assert_eq!(plain(&tail.body), "let__ret:Result<u8,E>={rest};__ret");
        let prelude = tail.prelude.unwrap();
        assert_eq!(plain(&prelude.output), "Result<u8,E>");
        assert!(prelude.statements.to_string().contains("__arg1"));
        assert!(prelude.names.receiver.is_some());
        assert!(prelude.names.find("id").is_some() && prelude.names.find("name").is_some());
        assert!(prelude.names.find("__self").is_none());
    }

    #[test]
    fn a_method_without_a_result_has_a_prelude_too() {
        let tail = find("Box::pin(async move { let id = id; let _: () = { rest }; })").unwrap();
        assert_eq!(plain(&tail.body), "let_:()={rest};");
        assert!(tail.prelude.unwrap().names.find("id").is_some());
    }
}
