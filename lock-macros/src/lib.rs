//! The `#[distributed_lock]` attribute and the derives of `lock-runtime`, which re-exports and documents them.
//! Use them from there: the code that they generate calls that crate.

mod args;
mod assert_locked;
mod count;
mod duration;
mod errors;
mod expand;
mod field;
mod item;
mod key;
mod key_part;
mod lock_key;
mod mode_options;
mod model;
mod suggest;
mod token_use;
mod tokens;
mod validate;

use proc_macro2::TokenStream;
use quote::quote;

use args::Args;
use errors::Errors;
use item::Item;

/// Runs a function under a lock that is shared by every machine.
///
/// The options are documented where the attribute is re-exported, in `lock_runtime`.
#[proc_macro_attribute]
pub fn distributed_lock(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    lock(args.into(), item.into()).into()
}

/// Implements `lock_runtime::KeyPart` for newtypes and for enums without fields.
///
/// The options are documented where the derive is re-exported, in `lock_runtime`.
#[proc_macro_derive(KeyPart, attributes(key_part))]
pub fn key_part(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    key_part::derive(item.into()).into()
}

/// Makes the values of a struct keys, by a template that names its fields.
///
/// The options are documented where the derive is re-exported, in `lock_runtime`.
#[proc_macro_derive(LockKey, attributes(lock_key))]
pub fn lock_key(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    lock_key::derive(item.into()).into()
}

/// Panics unless the current call tree holds a lock.
///
/// The options are documented where the macro is re-exported, in `lock_runtime`.
#[proc_macro]
pub fn assert_locked(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    assert_locked::assert_locked(input.into()).into()
}

/// The attribute on plain token streams, so that tests can call it.
///
/// After a mistake the original function is emitted together with the errors. Its callers then
/// compile, so one mistake causes one error.
fn lock(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::read(args, &mut errors);
    let mut item = match syn::parse2::<Item>(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    refuse_second_lock(&mut item, &mut errors);
    let untouched = item.with_names_used(expand::absent_names(&args));
    match validate::validate(args, item, &mut errors) {
        Some(call) if errors.is_empty() => expand::expand(call),
        _ => {
            assert!(
                !errors.is_empty(),
                "no function stays unlocked without an error"
            );
            let errors = errors.into_tokens();
            quote!(#untouched #errors)
        }
    }
}

/// Removes further `#[distributed_lock]` attributes and reports each: the user did not choose the order
/// of two locks on one function.
fn refuse_second_lock(item: &mut Item, errors: &mut Errors) {
    item.attrs.retain(|attr| {
        let last = attr.path().segments.last();
        let ours = last.is_some_and(|segment| segment.ident == "distributed_lock");
        if ours {
            errors.add(
                last.map_or_else(proc_macro2::Span::call_site, |segment| segment.ident.span()),
                "`#[distributed_lock]` is applied twice; a function takes one lock",
            );
        }
        !ours
    });
}

#[cfg(test)]
mod tests;
