//! Writes the locked function. The expansion is thin: it describes the call, and the runtime does
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
//!     let mut call = {
//!         let mut spec = Spec::new(&["ship", "order:<id>"]);
//!         Spec::part(&mut spec, &["order:", "id"], &id);
//!         Spec::ttl(&mut spec, Duration::new(10, 0));
//!         Spec::acquire_installed(spec)
//!     };
//!     let outcome = match Call::acquired(&mut call).await {
//!         Ok(()) => {
//!             let outcome = {
//!                 let body = pin!(Some(async move {
//!                     if let Some(output) = None::<Result<Receipt, ShipError>> { return output; };
//!                     let _ = &id;
//!                     STATEMENTS
//!                 }));
//!                 let outcome = Call::drive(&call, OnLost::Cancel, body).await;
//!                 outcome
//!             };
//!             let ended = match &outcome {
//!                 Ok(output) => BodyEnd::returned((&BodyResult(output)).lock_body_failed()),
//!                 Err(_) => BodyEnd::Dropped,
//!             };
//!             match Call::settled(&mut call, OnLost::Cancel, ended).await {
//!                 Ok(()) => outcome,
//!                 Err(error) => Err(error),
//!             }
//!         }
//!         Err(error) => Err(error),
//!     };
//!     match outcome {
//!         Ok(output) => output,
//!         Err(error) => {
//!             <Result<Receipt, ShipError> as FromLockError<_>>::from_lock_error(Returned, error)
//!         }
//!     }
//! }
//! ```
//!
//! - `call` outlives the body's block, so whatever ends the body drops it and its arguments first.
//! - Only `drive` knows the type of the body and of its result; what it calls, and all the rest, is
//!   compiled once, in the runtime, and not in every locked function.
//! - The body is pinned where it stands; passed to a function by value it would be stored twice.
//!   `drive` empties the `Some` to drop it inside its call tree.
//! - The `if let` gives `return` statements the function's type, hence its coercions and its
//!   errors.
//! - `let _ = &id` moves the whole argument into the body, also where that uses a field only, or
//!   nothing (`_tx`): else the rest of it would be dropped after the lock was released.
//! - These come in the reverse order of the arguments, since captures are dropped as they were
//!   captured and arguments the other way round.
//! - Everything is called by its path, or by a name that nobody else gives a method: a trait in scope
//!   may have a method `part` for every type.
//! - Glue has the macro's hygiene and so no lints; the user's tokens and braces keep their own. The
//!   prefix keeps its variables off constants and statics, which have no hygiene.

mod body;
mod closures;
mod failure;
mod spec;

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::args::Args;
use crate::diag::Diag;
use crate::item::Shape;
use crate::model::{Call, OnLost};

/// The locked function.
pub(crate) fn expand(mut call: Call) -> TokenStream {
    let braces = call.item.body.span();
    let statements = call.item.body.stream();
    let body = match &call.shape {
        Shape::Async => locked(&call, Mode::Async, statements, braces),
        Shape::Sync => locked(&call, Mode::Blocking, statements, braces),
        Shape::Future(tail) => {
            // What stood before the block ran when the function was called, without the lock.
            let (copies, before, rest) = (&tail.copies, &tail.before, &tail.body);
            let locked = locked(&call, Mode::Async, quote!(#before #rest), tail.braces);
            let prelude = tail.prelude.as_ref().map(|prelude| &prelude.statements);
            let block = braced(quote!(#prelude #locked), tail.braces);
            let glue = glue(&call);
            let wrapped = tail.wrap(quote_spanned!(glue=> async move #block));
            quote!(#copies #wrapped)
        }
    };
    let (glue, runtime) = (glue(&call), &call.runtime);
    let body = quote_spanned!(glue=> use #runtime::__private::v1 as __lock_rt; #body);
    call.item.body = braced(body, braces);
    call.item.into_token_stream()
}

/// Gives the guard's name a meaning in a function that is not locked, since something is wrong with
/// the attribute: it will never run.
pub(crate) fn absent_guard(args: &Args) -> Option<TokenStream> {
    let name = args.guard()?;
    let runtime = args.runtime(&mut Diag::default())?;
    let glue = glue_at(name.span());
    Some(quote_spanned! {glue=>
        let #name = #runtime::__private::v1::absent_guard();
        let _ = #name;
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Async,
    Blocking,
}

/// Takes the lock, runs the statements under it, and gives it back.
fn locked(call: &Call, mode: Mode, statements: TokenStream, braces: Span) -> TokenStream {
    let glue = glue(call);
    let asked = spec::asked(call, mode, glue);
    let body = braced(body::statements(call, statements, glue), braces);
    let on_lost = match call.options.on_lost {
        OnLost::Cancel => quote_spanned!(glue=> __lock_rt::OnLost::Cancel),
        OnLost::Finish => quote_spanned!(glue=> __lock_rt::OnLost::Finish),
    };
    let returned = glue_at(call.output.span);
    let failed =
        quote_spanned!(returned=> (&__lock_rt::BodyResult(__lock_output)).lock_body_failed());
    let failed = quote_spanned! {glue=>
        {
            use __lock_rt::{NotAResult as _, FutureResult as _};
            __lock_rt::BodyEnd::returned(#failed)
        }
    };
    // What the compiler says of a capture is about the user's block, and names the variable.
    let asynchronously = quote_spanned!(braces=> async move);
    let closure = quote_spanned!(braces=> move ||);
    // What is borrowed from the guard and cannot be returned is explained where the guard got its
    // name: all that the compiler compares has to stand there, or it says the same thing twice.
    let name = call.options.guard.as_ref();
    let place = name.map_or(glue, |name| glue_at(name.span()));
    let guard = |held: TokenStream| name.map(|name| quote_spanned!(place=> let #name = #held;));
    let outcome = match mode {
        Mode::Async => {
            let guard = guard(quote_spanned!(place=> __lock_rt::Call::guard(&__lock_call)));
            let settled = quote_spanned!(place=> __lock_rt::Call::settled(&mut __lock_call, #on_lost, __lock_ended));
            quote_spanned! {glue=>
                let mut __lock_call = #asked;
                let __lock_outcome = match __lock_rt::Call::acquired(&mut __lock_call).await {
                    ::core::result::Result::Ok(()) => {
                        let __lock_outcome = {
                            #guard
                            let __lock_body = ::core::pin::pin!(::core::option::Option::Some(#asynchronously #body));
                            let __lock_outcome =
                                __lock_rt::Call::drive(&__lock_call, #on_lost, __lock_body).await;
                            __lock_outcome
                        };
                        let __lock_ended = match &__lock_outcome {
                            ::core::result::Result::Ok(__lock_output) => #failed,
                            ::core::result::Result::Err(_) => __lock_rt::BodyEnd::Dropped,
                        };
                        match #settled.await {
                            ::core::result::Result::Ok(()) => __lock_outcome,
                            ::core::result::Result::Err(__lock_error) => {
                                ::core::result::Result::Err(__lock_error)
                            }
                        }
                    }
                    ::core::result::Result::Err(__lock_error) => ::core::result::Result::Err(__lock_error),
                };
            }
        }
        Mode::Blocking => {
            let guard = guard(quote_spanned!(place=> &__lock_held));
            let held = quote_spanned!(place=> __lock_held);
            let returns = body::closure_returns(call, glue);
            quote_spanned! {glue=>
                let __lock_acquired = #asked;
                let __lock_outcome = match __lock_acquired {
                    ::core::result::Result::Ok(__lock_held) => {
                        #guard
                        let __lock_output = __lock_rt::run_blocking(&__lock_held, #closure #returns #body);
                        let __lock_ended = match &__lock_output { __lock_output => #failed };
                        match __lock_rt::settle_blocking(#held, #on_lost, __lock_ended) {
                            ::core::result::Result::Ok(()) => ::core::result::Result::Ok(__lock_output),
                            ::core::result::Result::Err(__lock_error) => {
                                ::core::result::Result::Err(__lock_error)
                            }
                        }
                    }
                    ::core::result::Result::Err(__lock_error) => ::core::result::Result::Err(__lock_error),
                };
            }
        }
    };
    let failure = failure::failure(call);
    let success = if call.output.never {
        quote_spanned!(glue=> match __lock_output {})
    } else {
        // What the compiler says of lifetimes in the result is about the return type.
        let place = glue_at(call.output.span);
        quote_spanned!(place=> __lock_output)
    };
    quote_spanned! {glue=>
        #outcome
        match __lock_outcome {
            ::core::result::Result::Ok(__lock_output) => #success,
            ::core::result::Result::Err(__lock_error) => #failure,
        }
    }
}

/// The macro's hygiene, at the function's name.
fn glue(call: &Call) -> Span {
    glue_at(call.item.signature.ident.span())
}

/// The macro's hygiene, at a place of the user's.
fn glue_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// Names resolve only with the user's own hygiene, so clippy takes our use of one that starts with
/// `_` for the user's.
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
