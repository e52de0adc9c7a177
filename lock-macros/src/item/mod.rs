//! The function under the attribute. Only its signature is parsed: the body stays as it was typed,
//! so that an editor can complete in it while it does not parse yet.

mod names;
mod returns;
mod tail;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, ReturnType, Signature, Token, Type, Visibility};

use crate::diag::Diag;
use crate::tokens;
pub(crate) use names::{Names, rename_self};
pub(crate) use tail::Tail;

/// A function with an unparsed body.
pub(crate) struct Item {
    /// Its own, and the inner ones of its body, which only a function's own braces may hold.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// The braces and what is between them, without inner attributes.
    pub(crate) body: Group,
}

/// When a function's work is done.
pub(crate) enum Shape {
    /// `async fn`.
    Async,
    /// When it returns.
    Sync,
    /// When the async block that it ends with is done.
    Future(Box<Tail>),
}

/// The type that the body yields.
pub(crate) struct Output {
    /// As it can be written inside the body, with `_` for what cannot.
    pub(crate) tokens: TokenStream,
    /// Where an error about the type belongs.
    pub(crate) span: Span,
    /// It is `_`: nothing is known about it before the body was looked at.
    pub(crate) inferred: bool,
    /// It is `!`, which can be written as a return type only: `tokens` is `Infallible` instead.
    pub(crate) never: bool,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Item> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        refuse_other_items(input)?;
        let signature: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(syn::Error::new(
                signature.fn_token.span(),
                "a function without a body has nothing to lock; put `#[distributed_lock]` on its implementations",
            ));
        }
        let braced = braced(input.parse()?)?;
        let mut inner = Vec::new();
        let rest = (|input: ParseStream<'_>| {
            inner = input.call(Attribute::parse_inner)?;
            input.parse::<TokenStream>()
        })
        .parse2(braced.stream())?;
        attrs.extend(inner.into_iter().map(|mut attr| {
            attr.style = syn::AttrStyle::Outer;
            attr
        }));
        let mut body = Group::new(Delimiter::Brace, rest);
        body.set_span(braced.span());
        Ok(Item {
            attrs,
            visibility,
            signature,
            body,
        })
    }
}

/// The braces of a body, also inside the invisible group of a `macro_rules!` macro's `$body:block`.
fn braced(tree: TokenTree) -> syn::Result<Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Ok(group),
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            braced(syn::parse2(group.stream())?)
        }
        other => Err(syn::Error::new(
            other.span(),
            "expected the function's body",
        )),
    }
}

fn refuse_other_items(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let starts_function = ahead.parse::<Signature>().is_ok();
    let other = input.peek(Token![struct])
        || input.peek(Token![enum])
        || input.peek(Token![union]) && input.peek2(syn::Ident)
        || input.peek(Token![trait])
        || input.peek(Token![impl])
        || input.peek(Token![mod])
        || input.peek(Token![type])
        || input.peek(Token![static])
        || input.peek(Token![use])
        || input.peek(Token![let])
        || input.peek(Token![const]) && !starts_function
        || input.peek(Token![extern]) && !starts_function
        || input.peek(syn::Ident) && input.peek2(Token![!])
        || input.peek(Token![unsafe]) && !starts_function;
    if other {
        return Err(input.error("`#[distributed_lock]` goes on a function"));
    }
    Ok(())
}

impl Item {
    /// When its work is done. A function that would be unlocked before that is reported.
    pub(crate) fn shape(&self, diag: &mut Diag) -> Option<Shape> {
        let signature = &self.signature;
        if let Some(token) = &signature.constness {
            diag.error(
                token.span,
                "a `const fn` cannot take a lock: it may run while the program is compiled",
            );
            return None;
        }
        if signature.asyncness.is_some() {
            return Some(Shape::Async);
        }
        if self.is_runtime_entry() {
            diag.error(
                signature.ident.span(),
                "`#[tokio::main]` and `#[tokio::test]` have to come below: put `#[distributed_lock]` above it",
            );
            return None;
        }
        let ReturnType::Type(_, ty) = &signature.output else {
            return Some(Shape::Sync);
        };
        if returns::wraps_future(ty) {
            diag.error(
                ty.span(),
                "this function returns a future inside another value, which would run after the lock was released; make it an `async fn` that awaits it",
            );
            return None;
        }
        if returns::future_output(ty).is_none() {
            return Some(Shape::Sync);
        }
        let Some(tail) = Tail::find(signature, self.body.stream()) else {
            diag.error(
                ty.span(),
                "this function returns a future, which would run after the lock was released; make it an `async fn`, or end it with an `async move { … }` block",
            );
            return None;
        };
        if let Some(span) = tail.early_return() {
            diag.error(
                span,
                "this `return` would leave the function before its lock is taken; move it into the `async move { … }` block, or make this an `async fn`",
            );
            return None;
        }
        Some(Shape::Future(Box::new(tail)))
    }

    /// The function as it was, with every argument used once and the guard's name known. For a
    /// compilation that fails anyway: an argument that only the key needs is no reason for a warning
    /// then, nor a guard for a second error.
    pub(crate) fn with_names_used(&self, guard: Option<TokenStream>) -> TokenStream {
        let uses = Names::of(&self.signature)
            .bindings
            .into_iter()
            .map(|binding| {
                let (cfgs, ident) = (binding.cfgs, binding.ident);
                quote!(#(#cfgs)* let _ = &#ident;)
            });
        let statements = self.body.stream();
        let mut body = Group::new(Delimiter::Brace, quote!(#(#uses)* #guard #statements));
        body.set_span(self.body.span());
        let Item {
            attrs,
            visibility,
            signature,
            ..
        } = self;
        quote!(#(#attrs)* #visibility #signature #body)
    }

    /// What `#[tokio::main]` makes of an async function: `let body = async { … }; …block_on(body)`.
    fn is_runtime_entry(&self) -> bool {
        let head: Vec<String> = self
            .body
            .stream()
            .into_iter()
            .take(4)
            .map(|tree| tree.to_string())
            .collect();
        head == ["let", "body", "=", "async"]
            && tokens::mentions(self.body.stream(), "block_on")
            && tokens::any(self.body.stream(), &mut |tree| {
                matches!(tree, TokenTree::Literal(text)
                    if text.to_string() == "\"Failed building the Runtime\"")
            })
    }

    /// The type that the body yields.
    pub(crate) fn output(&self, shape: &Shape) -> Output {
        match (&self.signature.output, shape) {
            (ReturnType::Default, _) => {
                let span = self.signature.paren_token.span.close();
                Output::of(quote_spanned!(span=> ()), span)
            }
            (ReturnType::Type(_, ty), Shape::Future(tail)) => {
                let declared = tail.prelude.as_ref().map(|prelude| prelude.output.clone());
                let output = declared.or_else(|| returns::future_output(ty).flatten());
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
            tokens: if never {
                quote_spanned!(span=> ::core::convert::Infallible)
            } else {
                tokens
            },
            span,
        }
    }
}

impl ToTokens for Item {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Item {
            attrs,
            visibility,
            signature,
            body,
        } = self;
        quote!(#(#attrs)* #visibility #signature #body).to_tokens(tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Item {
        syn::parse_str(text).unwrap()
    }

    fn shape_of(text: &str) -> Result<Shape, String> {
        let mut diag = Diag::default();
        item(text)
            .shape(&mut diag)
            .ok_or_else(|| diag.messages().join("\n"))
    }

    fn refused(text: &str) -> String {
        match syn::parse_str::<Item>(text) {
            Ok(_) => shape_of(text).err().expect(text),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_body_need_not_parse() {
        let item = item("pub async fn f(id: u64) { let x = order. }");
        assert_eq!(item.body.stream().to_string(), "let x = order .");
    }

    #[test]
    fn inner_attributes_move_out() {
        let item = item("#[a] fn f() { #![b] //! doc\n x }");
        assert_eq!(item.attrs.len(), 3);
        assert_eq!(item.body.stream().to_string(), "x");
        assert!(!item.to_token_stream().to_string().contains('!'));
    }

    #[test]
    fn only_functions_with_bodies_are_locked() {
        for text in [
            "struct S;",
            "pub trait T {}",
            "impl S {}",
            "enum E {}",
            "mod m {}",
            "const X: u8 = 1;",
            "use a;",
            "static S: u8 = 0;",
            "type T = u8;",
            "macro_rules! m { () => {} }",
            "extern \"C\" { fn f(); }",
            "unsafe extern \"C\" {}",
            "extern crate std as s;",
            "unsafe impl T for S {}",
        ] {
            assert_eq!(
                refused(text),
                "`#[distributed_lock]` goes on a function",
                "{text}"
            );
        }
        assert_eq!(
            refused("async fn f(&self);"),
            "a function without a body has nothing to lock; put `#[distributed_lock]` on its implementations"
        );
        assert_eq!(refused("fn f() = g();"), "expected the function's body");
        assert!(refused("const fn f() {}").starts_with("a `const fn` cannot take a lock"));
    }

    #[test]
    fn a_future_needs_a_block_to_be_locked() {
        assert!(matches!(shape_of("async fn f() {}"), Ok(Shape::Async)));
        assert!(matches!(
            shape_of("unsafe extern \"C\" fn f() {}"),
            Ok(Shape::Sync)
        ));
        assert!(matches!(
            shape_of("fn f() -> impl Future<Output = ()> { async move {} }"),
            Ok(Shape::Future(_))
        ));
        for text in [
            "fn f() -> impl Future<Output = ()> { other() }",
            "fn f() -> BoxFuture<'static, ()> { Box::pin(other()) }",
            "fn f() -> impl Future<Output = ()> { twice(async move {}) }",
        ] {
            assert!(
                refused(text).starts_with("this function returns a future"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_future_inside_another_value_is_refused() {
        assert_eq!(
            refused("fn f() -> Result<impl Future<Output = ()>, E> { Ok(async {}) }"),
            "this function returns a future inside another value, which would run after the lock was released; make it an `async fn` that awaits it"
        );
    }

    #[test]
    fn nothing_returns_before_the_lock_is_taken() {
        let text = "fn f() -> impl Future<Output = R> { if x { return other() } async move { x } }";
        assert!(refused(text).starts_with("this `return` would leave the function before"));
        for text in [
            "fn f() -> impl Future<Output = R> { async move { return x } }",
            "fn f() -> impl Future<Output = R> { fn g() -> u8 { return 1 } async move { g() } }",
        ] {
            assert!(matches!(shape_of(text), Ok(Shape::Future(_))), "{text}");
        }
    }

    #[test]
    fn a_body_may_come_in_an_invisible_group() {
        let body = Group::new(Delimiter::Brace, quote!(x));
        let group = Group::new(Delimiter::None, TokenTree::Group(body).into());
        let item: Item = syn::parse2(quote!(fn f() #group)).unwrap();
        assert_eq!(item.body.stream().to_string(), "x");
    }

    #[test]
    fn a_runtime_entry_below_is_recognised() {
        let text = "fn f() { let body = async { x }; { use tokio::runtime::Builder; return Builder::new_current_thread().build().expect(\"Failed building the Runtime\").block_on(body); } }";
        assert!(refused(text).contains("put `#[distributed_lock]` above it"));
        for text in [
            "fn f() { let body = async { x }; }",
            "fn f(rt: &Runtime) -> R { let body = async { x }; rt.block_on(body) }",
        ] {
            assert!(matches!(shape_of(text), Ok(Shape::Sync)), "{text}");
        }
    }

    #[test]
    fn the_output_is_that_of_the_body() {
        for (text, expected) in [
            ("async fn f() {}", "()"),
            ("fn f() -> Result<impl A, E> {}", "Result<_,E>"),
            (
                "fn f() -> BoxFuture<'static, u8> { Box::pin(async { 1 }) }",
                "<BoxFuture<'static,u8>as::core::future::Future>::Output",
            ),
            ("fn f() -> impl Future { async { 1 } }", "_"),
        ] {
            let item = item(text);
            let shape = item.shape(&mut Diag::default()).unwrap();
            let output = item.output(&shape);
            assert_eq!(output.tokens.to_string().replace(' ', ""), expected);
            assert_eq!(output.inferred, expected == "_");
        }
        let never = item("fn f() -> ! {}");
        assert!(never.output(&Shape::Sync).never);
    }
}
