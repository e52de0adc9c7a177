//! Replaces `#[expect(…)]` of lints that judge a function as a whole.
//!
//! Clippy reports `unused_async` for a function that awaits nothing, and a locked function awaits its lock. Its own
//! `#[expect(clippy::unused_async)]` would then be reported as unfulfilled, although the user's code has not changed.
//! So an expectation of such a lint becomes `#[allow(clippy::unused_async)]`. All others stay.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

use super::cfg;

/// The lints that judge the function by its whole body, and may find nothing once the body is locked.
const JUDGE_THE_WHOLE: [&str; 27] = [
    "clippy::boxed_local",
    "clippy::cognitive_complexity",
    "clippy::elidable_lifetime_names",
    "clippy::inline_always",
    "clippy::large_stack_frames",
    "clippy::manual_async_fn",
    "clippy::misnamed_getters",
    "clippy::missing_const_for_fn",
    "clippy::needless_lifetimes",
    "clippy::needless_pass_by_ref_mut",
    "clippy::needless_pass_by_value",
    "clippy::only_used_in_recursion",
    "clippy::ptr_arg",
    "clippy::self_only_used_in_recursion",
    "clippy::unnecessary_literal_bound",
    "clippy::unnecessary_wraps",
    "clippy::unused_async",
    "clippy::unused_self",
    "clippy::unwrap_in_result",
    "unconditional_recursion",
    // Groups, whose only report may be one of these.
    "clippy::all",
    "clippy::complexity",
    "clippy::nursery",
    "clippy::pedantic",
    "clippy::perf",
    "clippy::restriction",
    "clippy::style",
];

/// The attributes of a function, without expectations that the lock leaves unfulfilled.
pub(super) fn relaxed(attrs: Vec<Attribute>) -> Vec<Attribute> {
    let relax_one = |attr: Attribute| {
        let split = relaxed_meta(attr.meta.clone());
        split.into_iter().map(move |meta| Attribute {
            meta,
            ..attr.clone()
        })
    };
    attrs.into_iter().flat_map(relax_one).collect()
}

/// The meta itself, or what replaces it: an `expect` of the other lints, and an `allow` of these.
fn relaxed_meta(meta: Meta) -> Vec<Meta> {
    let Meta::List(list) = &meta else {
        return vec![meta];
    };
    if list.path.is_ident("cfg_attr") {
        let Some((predicate, metas)) = cfg::conditional(list) else {
            return vec![meta];
        };
        let metas = metas.into_iter().flat_map(relaxed_meta);
        let mut list = list.clone();
        list.tokens = quote!(#predicate, #(#metas),*);
        return vec![Meta::List(list)];
    }
    if !list.path.is_ident("expect") {
        return vec![meta];
    }
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let Ok(parts) = parser.parse2(list.tokens.clone()) else {
        return vec![meta];
    };
    let (reason, lints): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .partition(|part| part.path().is_ident("reason"));
    let (idle, kept): (Vec<_>, Vec<_>) = lints.into_iter().partition(judges_the_whole);
    if idle.is_empty() {
        return vec![meta];
    }
    // With the macro's hygiene, lints about attributes know that the user did not write this one.
    let span = list
        .path
        .get_ident()
        .map_or_else(Span::call_site, Ident::span);
    let allow = Ident::new("allow", Span::mixed_site().located_at(span));
    let mut allowed = list.clone();
    allowed.path = allow.into();
    allowed.tokens = joined(&idle, &reason);
    let mut expected = list.clone();
    expected.tokens = joined(&kept, &reason);
    let kept = (!kept.is_empty()).then_some(Meta::List(expected));
    kept.into_iter().chain([Meta::List(allowed)]).collect()
}

fn joined(lints: &[Meta], reason: &[Meta]) -> TokenStream {
    let all = lints.iter().chain(reason);
    quote!(#(#all),*)
}

/// Whether a meta is the path of one of these lints.
fn judges_the_whole(lint: &Meta) -> bool {
    let segments = lint.path().segments.iter();
    let names: Vec<_> = segments.map(|segment| segment.ident.to_string()).collect();
    JUDGE_THE_WHOLE.contains(&names.join("::").as_str())
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    #[test]
    fn expectation_of_a_lint_about_the_whole_function_becomes_permission() {
        for (written, expected) in [
            (
                "#[expect(clippy::unused_async)]",
                "#[allow(clippy::unused_async)]",
            ),
            (
                "#[expect(clippy::unused_self, dead_code, clippy::pedantic, reason = \"r\")]",
                "#[expect(dead_code,reason=\"r\")]#[allow(clippy::unused_self,clippy::pedantic,reason=\"r\")]",
            ),
            (
                "#[cfg_attr(any(a, b), expect(clippy::unused_async, unused), must_use)]",
                "#[cfg_attr(any(a,b),expect(unused),allow(clippy::unused_async),must_use)]",
            ),
        ] {
            assert_eq!(relax(written), expected);
        }
    }

    #[test]
    fn other_attribute_stays_as_it_is() {
        for written in [
            "#[expect(dead_code,clippy::needless_return)]",
            "#[expect(unused_async)]",
            "#[expect(other::unused_async)]",
            "#[allow(clippy::unused_async)]",
            "#[deny(clippy::unused_async)]",
            "#[cfg_attr(true,expect(unused))]",
            "#[expect]",
        ] {
            assert_eq!(relax(written), written);
        }
    }

    fn relax(written: &str) -> String {
        let attrs = Attribute::parse_outer.parse_str(written).unwrap();
        let relaxed = relaxed(attrs);
        let text: String = relaxed
            .iter()
            .map(|attr| attr.to_token_stream().to_string())
            .collect();
        text.replace(' ', "")
    }
}
