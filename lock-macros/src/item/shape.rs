//! Determines when a function's work is done, and reports functions whose lock would be released before.

use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Block, ReceiverKind, ReturnType};

use super::{Item, TailBlock, other_macros, returns};
use crate::errors::Errors;

/// The moment at which a function's work is done.
pub(crate) enum Shape {
    /// `async fn`: when its future is ready.
    Async,
    /// A synchronous function: when it returns.
    Sync,
    /// A function that ends with an async block: when the block is ready.
    Future(Box<TailBlock>),
}

impl Shape {
    /// Whether every argument lives until the work is done. A function that ends with an async block
    /// drops the arguments that the block does not use when it returns. The block of `#[async_trait]`
    /// uses all of them.
    pub(crate) fn keeps_arguments(&self) -> bool {
        match self {
            Shape::Async | Shape::Sync => true,
            Shape::Future(tail) => tail.prelude.is_some(),
        }
    }
}

impl Item {
    /// Determines when the function's work is done. Reports a function whose lock would be released
    /// before that.
    pub(crate) fn shape(&self, errors: &mut Errors) -> Option<Shape> {
        let signature = &self.signature;
        if let Some(token) = &signature.constness {
            errors.add(
                token.span,
                "a `const fn` cannot take a lock: it may run while the program is compiled",
            );
            return None;
        }
        if signature.asyncness.is_some() {
            return self.awaits(errors).then_some(Shape::Async);
        }
        if other_macros::is_of_tokio(&self.body.stream()) {
            errors.add(
                signature.ident.span(),
                "`#[tokio::main]` and `#[tokio::test]` must stand below `#[distributed_lock]`: put `#[distributed_lock]` first",
            );
            return None;
        }
        let ReturnType::Type(_, ty) = &signature.output else {
            return Some(Shape::Sync);
        };
        if returns::wraps_future(ty) {
            errors.add(
                ty.span(),
                "this function returns a future inside another value, which would run after the lock was released; make it an `async fn` that awaits it",
            );
            return None;
        }
        let Some(tail) = TailBlock::find(signature, self.body.stream()) else {
            // A type that only looks like a future, or an alias of one: the generated code checks its
            // traits.
            if !returns::is_future(ty) || Block::parse_within.parse2(self.body.stream()).is_err() {
                // If the body does not parse, the compiler reports that, and one error is enough. If
                // the compiler accepts the body after all, it refuses the future that this
                // "synchronous" function returns.
                return Some(Shape::Sync);
            }
            errors.add(
                ty.span(),
                "this function returns a future, which would run after the lock was released; make it an `async fn`, or end it with an `async move { … }` block",
            );
            return None;
        };
        if let Some(variable) = &tail.stranded {
            errors.add(
                variable.span(),
                format_args!("`{variable}` moves into the `async move {{ … }}` block together with the statement that defines it, so the code around the block cannot use it; define it there"),
            );
            return None;
        }
        if let Some(span) = tail.returns {
            errors.add(
                span,
                "this `return` would leave the function before its lock is taken; move it into the `async move { … }` block, or make this an `async fn`",
            );
            return None;
        }
        if let Some(span) = tail.uses_self
            && self.borrows_self()
            && returns::is_static(ty)
        {
            errors.add(
                span,
                "this statement moves into the `async move { … }` block, whose future is `'static` and cannot borrow `self`; copy the values that it needs before the block, in statements such as `let x = self.x.clone();`, or make this an `async fn`",
            );
            return None;
        }
        Some(Shape::Future(Box::new(tail)))
    }

    /// Returns whether an async function does its work itself. Reports a function that is declared to
    /// return another future.
    fn awaits(&self, errors: &mut Errors) -> bool {
        match &self.signature.output {
            ReturnType::Type(_, ty) if returns::is_future(ty) => {
                errors.add(
                    ty.span(),
                    "this function returns a future, which would run after the lock was released; await it in the function",
                );
                false
            }
            _ => true,
        }
    }

    /// Whether the receiver is a reference that is not `'static`.
    fn borrows_self(&self) -> bool {
        self.signature
            .receiver()
            .is_some_and(|receiver| match &receiver.kind {
                ReceiverKind::Reference(_, lifetime, _) => lifetime
                    .as_ref()
                    .is_none_or(|lifetime| lifetime.ident != "static"),
                _ => false,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_of(text: &str) -> Result<Shape, String> {
        let mut errors = Errors::default();
        syn::parse_str::<Item>(text)
            .unwrap()
            .shape(&mut errors)
            .ok_or_else(|| errors.messages().join("\n"))
    }

    fn refused(text: &str) -> String {
        shape_of(text).err().expect(text)
    }

    #[test]
    fn const_fn_is_refused() {
        assert!(refused("const fn f() {}").starts_with("a `const fn` cannot take a lock"));
    }

    #[test]
    fn returned_future_without_block_is_refused() {
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
            "fn f() -> Pin<Box<dyn Future<Output = ()>>> { Box::pin(other()) }",
            "fn f() -> impl Future<Output = ()> { twice(async move {}) }",
            "async fn f() -> impl Future<Output = ()> { async {} }",
            "async fn f() -> Pin<Box<dyn Future<Output = ()>>> { other() }",
        ] {
            assert!(
                refused(text).starts_with("this function returns a future"),
                "{text}"
            );
        }
    }

    #[test]
    fn shape_follows_the_block_not_the_type_name() {
        for text in [
            "fn f() -> Shipping { Box::pin(async move {}) }",
            "fn f() -> BoxFuture<'static, ()> { Box::pin(async move {}) }",
            "fn f() -> impl Work { async {} }",
        ] {
            assert!(matches!(shape_of(text), Ok(Shape::Future(_))), "{text}");
        }
        for text in [
            "fn f() -> NearFuture { NearFuture }",
            "fn f() -> Result<NearFuture, E> { Ok(NearFuture) }",
            "fn f() -> BoxFuture<'static, ()> { Box::pin(other()) }",
            "fn f() -> Shipping { other() }",
        ] {
            assert!(matches!(shape_of(text), Ok(Shape::Sync)), "{text}");
        }
    }

    #[test]
    fn body_that_does_not_parse_is_not_reported() {
        let text = "fn f() -> impl Future<Output = ()> { let x = ; async move {} }";
        assert!(matches!(shape_of(text), Ok(Shape::Sync)));
    }

    #[test]
    fn future_inside_another_value_is_refused() {
        assert_eq!(
            refused("fn f() -> Result<impl Future<Output = ()>, E> { Ok(async {}) }"),
            "this function returns a future inside another value, which would run after the lock was released; make it an `async fn` that awaits it"
        );
    }

    #[test]
    fn return_before_the_block_is_refused() {
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
    fn variable_used_around_the_block_is_refused() {
        let text = "fn f() -> impl Future<Output = R> { let span = s(); async move { x }.instrument(span) }";
        assert_eq!(
            refused(text),
            "`span` moves into the `async move { … }` block together with the statement that defines it, so the code around the block cannot use it; define it there"
        );
    }

    #[test]
    fn static_future_that_borrows_self_is_refused() {
        let body = "{ let n = self.count(); Box::pin(async move { n }) }";
        let sentence =
            "this statement moves into the `async move { … }` block, whose future is `'static`";
        for signature in [
            "fn f(&self) -> BoxFuture<'static, u8>",
            "fn f(&'a mut self) -> Pin<Box<dyn Future<Output = u8> + Send>>",
            "fn f(&self) -> impl Future<Output = u8> + 'static",
        ] {
            let found = refused(&format!("{signature} {body}"));
            assert!(found.starts_with(sentence), "{signature}: {found}");
        }
        for signature in [
            "fn f(self) -> BoxFuture<'static, u8>",
            "fn f(&'static self) -> BoxFuture<'static, u8>",
            "fn f(&self) -> BoxFuture<'_, u8>",
            "fn f(&self) -> Pin<Box<dyn Future<Output = u8> + Send + '_>>",
            "fn f(&self) -> impl Future<Output = u8>",
            "fn f(&self) -> Shipping",
        ] {
            let text = format!("{signature} {body}");
            assert!(matches!(shape_of(&text), Ok(Shape::Future(_))), "{text}");
        }
        let text = "fn f(&self) -> BoxFuture<'static, u8> { let n = self.n.clone(); Box::pin(async move { n }) }";
        assert!(matches!(shape_of(text), Ok(Shape::Future(_))), "{text}");
    }

    #[test]
    fn expanded_tokio_main_is_refused() {
        let text = "fn f() { let body = async { x }; { use tokio::runtime::Builder; return Builder::new_current_thread().build().expect(\"Failed building the Runtime\").block_on(body); } }";
        assert!(refused(text).contains("put `#[distributed_lock]` first"));
        for text in [
            "fn f() { let body = async { x }; }",
            "fn f(rt: &Runtime) -> R { let body = async { x }; rt.block_on(body) }",
        ] {
            assert!(matches!(shape_of(text), Ok(Shape::Sync)), "{text}");
        }
    }
}
