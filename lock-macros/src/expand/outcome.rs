//! The outcome of a call: the lock is acquired before the body, named in it, and released after it.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::model::{Call, OnLost};

use super::{body, glue, glue_at};

/// The outcome of a call that awaits its lock, `__lock_call`: a `Result` of the body's output.
pub(super) fn awaited(call: &Call, body: &Group, braces: Span) -> TokenStream {
    let glue = glue(call);
    let place = place(call);
    let on_lost = on_lost(call);
    let names = names(
        call,
        &quote_spanned!(place=> __lock_rt::Call::guard(&__lock_call)),
        |place| quote_spanned!(place=> __lock_rt::Call::token(&__lock_call)),
    );
    let ended = ended(call);
    // With the place of the user's block, a compiler error about a capture names the variable.
    let asynchronously = quote_spanned!(braces=> async move);
    let released =
        quote_spanned!(place=> __lock_rt::Call::released(&mut __lock_call, #on_lost, __lock_ended));
    quote_spanned! {glue=>
        match __lock_rt::Call::acquired(&mut __lock_call).await {
            ::core::result::Result::Ok(()) => {
                let __lock_outcome = {
                    #names
                    let __lock_body = ::core::pin::pin!(::core::option::Option::Some(#asynchronously #body));
                    let __lock_outcome = __lock_rt::Call::drive(&__lock_call, #on_lost, __lock_body).await;
                    __lock_outcome
                };
                let __lock_ended = match &__lock_outcome {
                    ::core::result::Result::Ok(__lock_output) => #ended,
                    ::core::result::Result::Err(_) => __lock_rt::BodyEnd::Dropped,
                };
                match #released.await {
                    ::core::result::Result::Ok(()) => __lock_outcome,
                    ::core::result::Result::Err(__lock_error) => ::core::result::Result::Err(__lock_error),
                }
            }
            ::core::result::Result::Err(__lock_error) => ::core::result::Result::Err(__lock_error),
        }
    }
}

/// The outcome of a call that has blocked for its lock, `__lock_acquired`: a `Result` of the body's output.
pub(super) fn blocked(call: &Call, body: Group, braces: Span) -> TokenStream {
    let glue = glue(call);
    let place = place(call);
    let on_lost = on_lost(call);
    let names = names(
        call,
        &quote_spanned!(place=> &__lock_held),
        |place| quote_spanned!(place=> __lock_rt::token(&__lock_held)),
    );
    let ended = ended(call);
    let held = quote_spanned!(place=> __lock_held);
    let returns = body::closure_returns(call, glue);
    // As in `awaited`.
    let closure = quote_spanned!(braces=> move ||);
    // Clippy reports an endless loop, unless the closure around it is `-> !`. The outer closure has another return
    // type, since the compiler would report the code after a call that returns `!`.
    let body = if call.output.never {
        quote_spanned!(glue=> { (#closure -> ! #body)() })
    } else {
        body.into_token_stream()
    };
    quote_spanned! {glue=>
        match __lock_acquired {
            ::core::result::Result::Ok(__lock_held) => {
                #names
                let __lock_output = __lock_rt::run_blocking(&__lock_held, #closure #returns #body);
                let __lock_ended = match &__lock_output { __lock_output => #ended };
                match __lock_rt::release_after_blocking(#held, #on_lost, __lock_ended) {
                    ::core::result::Result::Ok(()) => ::core::result::Result::Ok(__lock_output),
                    ::core::result::Result::Err(__lock_error) => ::core::result::Result::Err(__lock_error),
                }
            }
            ::core::result::Result::Err(__lock_error) => ::core::result::Result::Err(__lock_error),
        }
    }
}

/// The place of the guard's name. The compiler reports a returned borrow of the guard there. All parts that it compares need
/// this place, or it reports the same error twice.
fn place(call: &Call) -> Span {
    let name = call.options.guard.as_ref();
    name.map_or_else(|| glue(call), |name| glue_at(name.span()))
}

/// Binds the names that the attribute gives to the guard and to the token.
fn names(call: &Call, guard: &TokenStream, token: impl FnOnce(Span) -> TokenStream) -> TokenStream {
    let place = place(call);
    let guard = call
        .options
        .guard
        .as_ref()
        .map(|name| quote_spanned!(place=> let #name = #guard;));
    let token = call.options.token.as_ref().map(|name| {
        let place = glue_at(name.span());
        let token = token(place);
        quote_spanned!(place=> let #name = #token;)
    });
    quote_spanned!(place=> #guard #token)
}

fn on_lost(call: &Call) -> TokenStream {
    let glue = glue(call);
    match call.options.on_lost {
        OnLost::Cancel => quote_spanned!(glue=> __lock_rt::OnLost::Cancel),
        OnLost::Finish => quote_spanned!(glue=> __lock_rt::OnLost::Finish),
    }
}

/// How a body that returned `__lock_output` has ended.
fn ended(call: &Call) -> TokenStream {
    let (glue, returned) = (glue(call), glue_at(call.output.span));
    let failed =
        quote_spanned!(returned=> (&__lock_rt::BodyResult(__lock_output)).lock_body_failed());
    quote_spanned! {glue=>
        {
            use __lock_rt::{NotAResult as _, FutureResult as _};
            __lock_rt::BodyEnd::returned(#failed)
        }
    }
}
