//! Generates the function's result after a failure of the lock.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;

use crate::model::{Call, OnBusy};

use super::{glue, glue_at};

/// An expression of the return type that converts the variable `__lock_error`. If the type cannot
/// carry an error, the compiler reports that at the return type.
pub(super) fn failure(call: &Call) -> TokenStream {
    let glue = glue(call);
    let place = glue_at(call.output.span);
    let ty = output_type(call);
    let otherwise = match &call.options.or_else {
        Some(answer) => {
            let span = glue_at(answer.span());
            quote_spanned!(span=> __lock_rt::or_else::<#ty, _>(__lock_error, #answer))
        }
        None => {
            let goes = if call.output.may_be_future {
                quote_spanned! {glue=>
                    {
                        use __lock_rt::NoFuture as _;
                        (&__lock_rt::Failing::<#ty>::NEW).lock_failure_goes()
                    }
                }
            } else {
                quote_spanned!(glue=> __lock_rt::Returned)
            };
            let carried = quote_spanned!(place=> <#ty as __lock_rt::FromLockError<_>>);
            quote_spanned!(place=> #carried::from_lock_error(#goes, __lock_error))
        }
    };
    match call.options.on_busy {
        OnBusy::Error => otherwise,
        OnBusy::Skip => {
            let skipped = quote_spanned!(place=> <#ty as __lock_rt::Skip>::skipped());
            quote_spanned!(glue=> if __lock_rt::LockError::is_busy(&__lock_error) { #skipped } else { #otherwise })
        }
    }
}

/// The output type, with `_` for `!`, which is valid as a return type only.
fn output_type(call: &Call) -> TokenStream {
    if call.output.never {
        let span = call.output.span;
        quote_spanned!(span=> _)
    } else {
        call.output.tokens.clone()
    }
}
