//! The `#[cfg(…)]` attributes of an argument. Each use of the argument has to repeat them.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, MetaList, Token};

/// The `cfg` attributes among `attrs`. The others apply to an argument's declaration and may be invalid
/// at its use.
pub(crate) fn attributes_of(attrs: &[Attribute]) -> Vec<Attribute> {
    let cfgs = attrs.iter().filter_map(|attr| {
        let mut attr = attr.clone();
        attr.meta = cfg_in(attr.meta)?;
        Some(attr)
    });
    cfgs.collect()
}

/// `cfg(…)` itself, or `cfg_attr(predicate, …)` reduced to the `cfg(…)` in it.
fn cfg_in(meta: Meta) -> Option<Meta> {
    let Meta::List(list) = meta else {
        return None;
    };
    if list.path.is_ident("cfg") {
        return Some(Meta::List(list));
    }
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let (predicate, metas) = conditional(&list)?;
    let cfgs: Vec<Meta> = metas.into_iter().filter_map(cfg_in).collect();
    if cfgs.is_empty() {
        return None;
    }
    let tokens = quote!(#predicate, #(#cfgs),*);
    Some(Meta::List(MetaList { tokens, ..list }))
}

/// The predicate of a `cfg_attr(…)`, and the attributes that depend on it.
pub(super) fn conditional(list: &MetaList) -> Option<(TokenStream, Punctuated<Meta, Token![,]>)> {
    let mut rest = list.tokens.clone().into_iter();
    // Not parsed, since the predicate `true` is not a `Meta`.
    let predicate = rest.by_ref().take_while(|tree| !is_comma(tree)).collect();
    let metas = Punctuated::parse_terminated.parse2(rest.collect());
    Some((predicate, metas.ok()?))
}

fn is_comma(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',')
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    #[test]
    fn attributes_other_than_cfg_are_dropped() {
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
