//! On what it depends whether an argument is there at all.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, MetaList, Token};

/// The conditions among attributes. The others stay behind: what they say of an argument need not
/// make sense where it is used.
pub(crate) fn attributes_of(attrs: &[Attribute]) -> Vec<Attribute> {
    let conditions = attrs.iter().filter_map(|attr| {
        let mut attr = attr.clone();
        attr.meta = condition(attr.meta)?;
        Some(attr)
    });
    conditions.collect()
}

/// `cfg(…)`, or what of `cfg_attr(predicate, …)` is one.
fn condition(meta: Meta) -> Option<Meta> {
    let Meta::List(list) = meta else {
        return None;
    };
    if list.path.is_ident("cfg") {
        return Some(Meta::List(list));
    }
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let mut rest = list.tokens.clone().into_iter();
    // Not parsed: `true` is a predicate, but no `Meta`.
    let predicate: TokenStream = rest.by_ref().take_while(|tree| !is_comma(tree)).collect();
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(rest.collect());
    let conditions: Vec<Meta> = metas.ok()?.into_iter().filter_map(condition).collect();
    if conditions.is_empty() {
        return None;
    }
    let tokens = quote!(#predicate, #(#conditions),*);
    Some(Meta::List(MetaList { tokens, ..list }))
}

fn is_comma(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',')
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    #[test]
    fn only_conditions_are_kept() {
        for (written, expected) in [
            ("#[cfg(unix)]", "#[cfg(unix)]"),
            (
                "#[cfg_attr(unix, cfg(windows))]",
                "#[cfg_attr(unix,cfg(windows))]",
            ),
            (
                "#[cfg_attr(all(unix, test), doc = \"x\", cfg(a), cfg_attr(b, cfg(c), allow(d)))]",
                "#[cfg_attr(all(unix,test),cfg(a),cfg_attr(b,cfg(c)))]",
            ),
            (
                "#[cfg_attr(true, cfg(false))]",
                "#[cfg_attr(true,cfg(false))]",
            ),
            ("#[cfg_attr(unix, allow(unused))]", ""),
            ("#[allow(unused)] #[mut_ref] /// text", ""),
        ] {
            let attrs = Attribute::parse_outer.parse_str(written).unwrap();
            let found: TokenStream = attributes_of(&attrs)
                .iter()
                .map(Attribute::to_token_stream)
                .collect();
            assert_eq!(found.to_string().replace(' ', ""), expected, "{written}");
        }
    }
}
