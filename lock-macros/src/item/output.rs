//! Determines the type that a body yields, as it can be written inside the body.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{ReturnType, Type};

use super::{Item, Shape, returns};

/// The type that the body yields.
pub(crate) struct Output {
    /// The type, with `_` for the parts that cannot be written inside the body.
    pub(crate) tokens: TokenStream,
    /// The place for an error about the type.
    pub(crate) span: Span,
    /// Whether the type is `_`: the macro knows nothing about it, the compiler infers it from the body.
    pub(crate) inferred: bool,
    /// Whether the type is `!`, which is valid as a return type only. `tokens` is `Infallible` instead.
    pub(crate) never: bool,
    /// Whether the type could be a future, by its name; `false` for a type with open parts.
    pub(crate) may_be_future: bool,
}

impl Item {
    /// The type that the body yields.
    pub(crate) fn output(&self, shape: &Shape) -> Output {
        match (&self.signature.output, shape) {
            (ReturnType::Default, _) => {
                let span = self.signature.paren_token.span.close();
                Output::of(quote_spanned!(span=> ()), span)
            }
            (ReturnType::Type(_, ty), Shape::Future(tail)) => {
                let declared = tail.prelude.as_ref().map(|prelude| prelude.output.clone());
                let output = declared.or_else(|| returns::future_output(ty));
                Output::of(
                    output.unwrap_or_else(|| quote_spanned!(ty.span()=> _)),
                    ty.span(),
                )
            }
            (ReturnType::Type(_, ty), _) => {
                Output::of(returns::nameable(ty).into_token_stream(), ty.span())
            }
        }
    }
}

impl Output {
    fn of(tokens: TokenStream, span: Span) -> Output {
        let parsed = syn::parse2::<Type>(tokens.clone()).ok();
        let never = parsed.as_ref().is_some_and(returns::is_never);
        Output {
            inferred: parsed.as_ref().is_none_or(returns::is_inferred),
            never,
            may_be_future: parsed.as_ref().is_some_and(returns::may_be_future),
            tokens: if never {
                quote_spanned!(span=> ::core::convert::Infallible)
            } else {
                tokens
            },
            span,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::Errors;

    fn item(text: &str) -> Item {
        syn::parse_str(text).unwrap()
    }

    #[test]
    fn output_is_the_type_that_the_body_yields() {
        for (text, expected) in [
            ("async fn f() {}", "()"),
            ("fn f() -> Result<impl A, E> {}", "Result<_,E>"),
            (
                "fn f() -> BoxFuture<'static, u8> { Box::pin(async { 1 }) }",
                "<BoxFuture<'static,u8>as::core::future::Future>::Output",
            ),
            ("fn f() -> impl Future { async { 1 } }", "_"),
            ("fn f() -> impl Work { async { 1 } }", "_"),
            (
                "fn f() -> Shipping { Box::pin(async { 1 }) }",
                "<Shippingas::core::future::Future>::Output",
            ),
        ] {
            let item = item(text);
            let shape = item.shape(&mut Errors::default()).unwrap();
            let output = item.output(&shape);
            assert_eq!(output.tokens.to_string().replace(' ', ""), expected);
            assert_eq!(output.inferred, expected == "_");
        }
        let never = item("fn f() -> ! {}");
        assert!(never.output(&Shape::Sync).never);
    }
}
