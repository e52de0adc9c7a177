//! Turns the parsed arguments and function into a [`Call`]. Reports every mistake: none stops the
//! search for more.

use proc_macro2::Ident;

use crate::args::{self, Args, Settings};
use crate::errors::Errors;
use crate::item::{Item, Names, Shape};
use crate::key::KeyList;
use crate::mode_options;
use crate::model::{Call, OnBusy, OnLost, Options};
use crate::token_use;

/// Checks the whole attribute. Returns `None` if nothing can be expanded; then `errors` has the reason.
pub(crate) fn validate(mut args: Args, item: Item, errors: &mut Errors) -> Option<Call> {
    let shape = item.shape(errors);
    let names = names(&item, shape.as_ref());
    if let Some(receiver) = &names.receiver
        && receiver != "self"
    {
        args.rename_self(receiver);
    }
    let runtime = args.runtime(errors);
    let has_keys = args.keys.is_some();
    let keys = KeyList::read(args.key.take(), args.keys.take(), &names, errors);
    let options = options(args, has_keys, &names, errors);
    let shape = shape?;
    token_use::check(&options, &shape, &item.body, errors);
    Some(Call {
        output: item.output(&shape),
        item,
        shape,
        names,
        runtime: runtime?,
        keys: keys?,
        options,
    })
}

/// The names in scope at the place where the lock is acquired.
fn names(item: &Item, shape: Option<&Shape>) -> Names {
    if let Some(Shape::Future(tail)) = shape
        && let Some(prelude) = &tail.prelude
    {
        return prelude.names.clone();
    }
    Names::of(&item.signature)
}

/// The names that the body sees must differ.
fn check_token(token: &Ident, guard: Option<&Ident>, names: &Names, errors: &mut Errors) {
    if guard == Some(token) {
        errors.add(
            token.span(),
            format_args!("the guard is already named `{token}`; give the token another name"),
        );
    }
    if names.find(&token.to_string()).is_some() {
        errors.add(
            token.span(),
            format_args!("an argument is already named `{token}`; give the token another name"),
        );
    }
}

/// Refuses durations that are too long for other options, or cannot be combined with them.
fn check_lengths(settings: &Settings, has_keys: bool, errors: &mut Errors) {
    match (&settings.retain, &settings.ttl) {
        (Some(retain), _) if settings.is_share() => {
            retain.must_not_retain("a share of a lock", errors);
        }
        // The end of a share may admit others, and several locks have no local queue.
        (Some(retain), _) if has_keys => {
            retain.must_not_retain("a lease of several locks", errors);
        }
        (Some(retain), Some(ttl)) => retain.must_be_a_third_of(ttl, errors),
        _ => (),
    }
    match (&settings.min_hold, &settings.max_hold) {
        (Some(least), _) if settings.is_share() => least.must_not_be_of_a_share(errors),
        (Some(least), Some(max_hold)) => least.must_be_within(max_hold, errors),
        _ => (),
    }
}

fn options(mut args: Args, has_keys: bool, names: &Names, errors: &mut Errors) -> Options {
    mode_options::check_written(&mut args, has_keys, errors);
    let settings = Settings::read(&mut args, errors);
    mode_options::check(&settings, errors);
    check_lengths(&settings, has_keys, errors);
    let on_busy = args.on_busy.and_then(|value| {
        let words = [("error", OnBusy::Error), ("skip", OnBusy::Skip)];
        args::word("on_busy", &value, words, errors)
    });
    let on_lost = args.on_lost.and_then(|value| {
        let words = [("cancel", OnLost::Cancel), ("finish", OnLost::Finish)];
        args::word("on_lost", &value, words, errors)
    });
    let or_else = args
        .or_else
        .and_then(|value| args::callable("or_else", value, errors));
    let guard = args
        .guard
        .and_then(|value| args::identifier("guard", &value, errors));
    if let Some(guard) = &guard
        && names.find(&guard.to_string()).is_some()
    {
        errors.add(
            guard.span(),
            format_args!("an argument is already named `{guard}`; give the guard another name"),
        );
    }
    let token = args
        .token
        .and_then(|value| args::identifier("token", &value, errors));
    if let Some(token) = &token {
        check_token(token, guard.as_ref(), names, errors);
    }
    Options {
        settings,
        on_busy: on_busy.unwrap_or_default(),
        on_lost: on_lost.unwrap_or_default(),
        or_else,
        guard,
        token,
        client: args.client,
    }
}
