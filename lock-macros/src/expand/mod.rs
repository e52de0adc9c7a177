//! Generates the locked function. The expansion is thin: it describes the call, and the runtime does
//! the work.
//!
//! Input:
//!
//! ```text
//! #[distributed_lock(key = "order:<id>", ttl = "10s")]
//! async fn ship(id: u64) -> Result<Receipt, ShipError> { STATEMENTS }
//! ```
//!
//! Output, with `__lock_rt::` and the prefix `__lock_` of every variable left out:
//!
//! ```text
//! async fn ship(id: u64) -> Result<Receipt, ShipError> {
//!     return match {
//!         let mut spec = Spec::new(&["ship", "order:<id>"], &[KeyTemplate("order:<id>", "order:<>")]);
//!         TemplateWriter::part(&mut spec.writer, &["order:", "id"], &id);
//!         set(&mut spec.options.ttl, Duration::new(10, 0));
//!         Spec::acquire_installed(spec)
//!     } {
//!         mut call => {
//!             let outcome = match Call::acquired(&mut call).await {
//!                 Ok(()) => {
//!                     let outcome = {
//!                         let body = pin!(Some(async move {
//!                             if let Some(output) = None::<Result<Receipt, ShipError>> { return output; };
//!                             let _ = &id;
//!                             STATEMENTS
//!                         }));
//!                         let outcome = Call::drive(&call, OnLost::Cancel, body).await;
//!                         outcome
//!                     };
//!                     let ended = match &outcome {
//!                         Ok(output) => BodyEnd::returned((&BodyResult(output)).lock_body_failed()),
//!                         Err(_) => BodyEnd::Dropped,
//!                     };
//!                     match Call::released(&mut call, OnLost::Cancel, ended).await {
//!                         Ok(()) => outcome,
//!                         Err(error) => Err(error),
//!                     }
//!                 }
//!                 Err(error) => Err(error),
//!             };
//!             match outcome {
//!                 Ok(output) => output,
//!                 Err(error) => {
//!                     <Result<Receipt, ShipError> as FromLockError<_>>::from_lock_error(Returned, error)
//!                 }
//!             }
//!         }
//!     };
//! }
//! ```
//!
//! - `call` outlives the body's block, so the body and its arguments are dropped first, however the
//!   body ends.
//! - Only `drive` is generic over the body and its result. Everything else is compiled once, in the
//!   runtime, and not in every locked function.
//! - The body is pinned in place, because passing it to a function by value would store it twice.
//!   `drive` empties the `Some` to drop the body inside its call tree.
//! - The `if let` gives `return` statements the function's type, with its coercions and its error
//!   messages.
//! - `let _ = &id` moves the whole argument into the body, even if the body uses only a field of it or
//!   nothing (`_tx`). Otherwise the remainder would be dropped after the lock was released.
//! - These statements are in the reverse order of the arguments: captures are dropped in the order in
//!   which they were captured, arguments in the reverse.
//! - Functions are called by their path, methods only by names that are unlikely elsewhere. A trait in
//!   scope may have a method `part` for every type.
//! - Generated code has the macro's hygiene, so most lints ignore it. The `return`, and the `match` instead of `let mut call`,
//!   satisfy the others. The user's tokens and braces keep their own hygiene. The prefix avoids constants and statics of the
//!   user, which have no hygiene.

mod body;
mod closures;
mod failure;
mod outcome;
mod spec;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::args::Args;
use crate::errors::Errors;
use crate::item::Shape;
use crate::model::Call;
pub(crate) use spec::{expression_key, key_template, template_writes};

/// The locked function.
pub(crate) fn expand(mut call: Call) -> TokenStream {
    let braces = call.item.body.span();
    let statements = call.item.body.stream();
    let (glue, runtime) = (glue(&call), &call.runtime);
    let support = quote_spanned!(glue=> use #runtime::__private::v1 as __lock_rt;);
    let body = match &call.shape {
        Shape::Async => {
            let locked = locked(&call, Waiting::Async, statements, braces);
            quote!(#support #locked)
        }
        Shape::Sync => {
            let locked = locked(&call, Waiting::Blocking, statements, braces);
            quote!(#support #locked)
        }
        Shape::Future(tail) => {
            // The statements before the block move into it, since they need the lock, too.
            let (copies, before, rest) = (&tail.copies, &tail.before, &tail.body);
            let locked = locked(&call, Waiting::Async, quote!(#before #rest), tail.braces);
            let prelude = tail.prelude.as_ref().map(|prelude| &prelude.statements);
            let [copied, check] = copies_survive(copies, runtime);
            // A macro below the attribute may drop what stands before the block.
            let block = braced(quote!(#support #check #prelude #locked), tail.braces);
            let wrapped = tail.wrap(quote_spanned!(tail.keyword=> async move #block));
            // In place of the statements that moved: clippy would propose to write a lone block as an `async fn`.
            let moved = (copies.is_empty() && !before.is_empty())
                .then(|| quote_spanned!(glue=> const _: () = ();));
            quote!(#moved #copies #copied #wrapped)
        }
    };
    call.item.body = braced(body, braces);
    call.item.into_token_stream()
}

/// A statement after the copies at the head of a function, and one in its async block that does not compile without the
/// first.
///
/// A macro below the attribute may take the block for the whole function. If it drops the copies, the variable of the first
/// statement is missing, too, and its name means the function of std, which is the wrong argument for the second.
fn copies_survive(copies: &TokenStream, runtime: &TokenStream) -> [Option<TokenStream>; 2] {
    let Some(first) = copies.clone().into_iter().next() else {
        return [None, None];
    };
    let span = glue_at(first.span());
    [
        quote_spanned!(span=> let drop = #runtime::__private::v1::Copies;),
        quote_spanned!(span=> __lock_rt::copies_survive(drop);),
    ]
    .map(Some)
}

/// Defines the names of guard and token in a function whose attribute has a mistake. The function never runs, and
/// without the definitions each name would be a second error.
pub(crate) fn absent_names(args: &Args) -> Option<TokenStream> {
    let runtime = args.runtime(&mut Errors::default())?;
    let absent = |name: Option<Ident>, function: &str| {
        name.map(|name| {
            let glue = glue_at(name.span());
            let function = Ident::new(function, glue);
            quote_spanned! {glue=>
                let #name = #runtime::__private::v1::#function();
                let _ = #name;
            }
        })
    };
    let guard = absent(args.guard(), "absent_guard");
    let token = args
        .token()
        .filter(|token| args.guard().as_ref() != Some(token));
    let token = absent(token, "absent_token");
    Some(quote!(#guard #token))
}

/// How the call waits for the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Async,
    Blocking,
}

/// Acquires the lock, runs the statements under it, and releases it.
fn locked(call: &Call, waiting: Waiting, statements: TokenStream, braces: Span) -> TokenStream {
    let glue = glue(call);
    let acquire = spec::acquire(call, waiting, glue);
    let body = braced(body::statements(call, statements, braces, glue), braces);
    // Bound by a `match`, since clippy follows each `let` of a guard, and asks for an earlier drop.
    let (begun, outcome) = match waiting {
        Waiting::Async => (
            quote_spanned!(glue=> mut __lock_call),
            outcome::awaited(call, &body, braces),
        ),
        Waiting::Blocking => (
            quote_spanned!(glue=> __lock_acquired),
            outcome::blocked(call, body, braces),
        ),
    };
    let failure = failure::failure(call);
    let success = if call.output.never {
        quote_spanned!(glue=> match __lock_output {})
    } else {
        // The compiler reports lifetimes in the result at the return type.
        let place = glue_at(call.output.span);
        quote_spanned!(place=> __lock_output)
    };
    let call_and_answer = quote_spanned! {glue=>
        match #acquire {
            #begun => {
                let __lock_outcome = #outcome;
                match __lock_outcome {
                    ::core::result::Result::Ok(__lock_output) => #success,
                    ::core::result::Result::Err(__lock_error) => #failure,
                }
            }
        }
    };
    if call.output.never {
        call_and_answer
    } else {
        quote_spanned!(glue=> return #call_and_answer;)
    }
}

/// A span with the macro's hygiene, at the function's name.
fn glue(call: &Call) -> Span {
    glue_at(call.item.signature.ident.span())
}

/// A span with the macro's hygiene, at a place in the user's code.
fn glue_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// Allows a generated use of a name that starts with `_`. The name needs the user's hygiene to resolve,
/// so clippy would blame the user for the use.
fn allow_underscores(source: &str, glue: Span) -> Option<TokenStream> {
    source
        .split(|letter: char| letter != '_' && !letter.is_alphanumeric())
        .any(|word| word.starts_with('_'))
        .then(|| quote_spanned!(glue=> #[allow(clippy::used_underscore_binding)]))
}

fn braced(tokens: TokenStream, span: Span) -> Group {
    let mut group = Group::new(Delimiter::Brace, tokens);
    group.set_span(span);
    group
}
