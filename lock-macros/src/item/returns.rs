//! Return types: what of one can be written inside the body, and which ones are futures.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    AngleBracketedGenericArguments, GenericArgument, Path, PathArguments, Token, Type, TypeInfer,
    TypeParamBound,
};

/// The type with every `impl Trait` in it left to inference: outside a signature it cannot be
/// written.
pub(crate) fn nameable(ty: &Type) -> Type {
    let mut ty = ty.clone();
    erase(&mut ty);
    ty
}

fn erase(ty: &mut Type) {
    match ty {
        Type::ImplTrait(opaque) => {
            let underscore_token = Token![_](opaque.impl_token.span);
            *ty = Type::Infer(TypeInfer {
                attrs: Vec::new(),
                underscore_token,
            });
        }
        Type::Array(ty) => erase(&mut ty.elem),
        Type::Group(ty) => erase(&mut ty.elem),
        Type::Paren(ty) => erase(&mut ty.elem),
        Type::Ptr(ty) => erase(&mut ty.elem),
        Type::Reference(ty) => erase(&mut ty.elem),
        Type::Slice(ty) => erase(&mut ty.elem),
        Type::Tuple(ty) => ty.elems.iter_mut().for_each(erase),
        Type::Path(ty) => erase_path(&mut ty.path),
        Type::TraitObject(ty) => {
            for bound in &mut ty.bounds {
                if let TypeParamBound::Trait(bound) = bound {
                    erase_path(&mut bound.path);
                }
            }
        }
        _ => (),
    }
}

fn erase_path(path: &mut Path) {
    for segment in &mut path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            for argument in &mut arguments.args {
                match argument {
                    GenericArgument::Type(ty) => erase(ty),
                    GenericArgument::AssocType(assoc) => erase(&mut assoc.ty),
                    _ => (),
                }
            }
        }
    }
}

/// Whether a type is `_`.
pub(crate) fn is_inferred(ty: &Type) -> bool {
    matches!(bare(ty), Type::Infer(_))
}

/// Whether a type is `!`.
pub(crate) fn is_never(ty: &Type) -> bool {
    matches!(bare(ty), Type::Never(_))
}

/// The type without parentheses and the invisible groups of `macro_rules!`.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(ty) => bare(&ty.elem),
        Type::Paren(ty) => bare(&ty.elem),
        other => other,
    }
}

/// What the future of a return type yields: `Some(None)` if it does not say, `None` if the type
/// does not look like a future.
pub(crate) fn future_output(ty: &Type) -> Option<Option<TokenStream>> {
    match bare(ty) {
        Type::ImplTrait(ty) => output_of_bounds(&ty.bounds),
        Type::TraitObject(ty) => output_of_bounds(&ty.bounds),
        Type::Path(ty) => {
            let last = ty.path.segments.last()?;
            let name = last.ident.to_string();
            let inner = match &last.arguments {
                PathArguments::AngleBracketed(arguments) => last_type(arguments),
                _ => None,
            };
            match &*name {
                "Pin" | "Box" => future_output(inner?),
                // `BoxFuture<'a, T>`, `LocalBoxFuture<'a, T>` and homemade ones.
                _ if name.ends_with("Future") => {
                    Some(inner.map(|ty| nameable(ty).to_token_stream()))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn output_of_bounds(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<Option<TokenStream>> {
    bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else {
            return None;
        };
        let last = bound.path.segments.last()?;
        if last.ident != "Future" {
            return None;
        }
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return Some(None);
        };
        Some(arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::AssocType(assoc) if assoc.ident == "Output" => {
                Some(nameable(&assoc.ty).to_token_stream())
            }
            _ => None,
        }))
    })
}

fn last_type(arguments: &AngleBracketedGenericArguments) -> Option<&Type> {
    arguments
        .args
        .iter()
        .rev()
        .find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(text: &str) -> Type {
        syn::parse_str(text).unwrap()
    }

    fn plain(tokens: impl ToTokens) -> String {
        tokens.to_token_stream().to_string().replace(' ', "")
    }

    #[test]
    fn impl_trait_is_left_to_inference_wherever_it_stands() {
        for (written, expected) in [
            ("Result<u8, E>", "Result<u8,E>"),
            ("impl Iterator<Item = u8> + 'a", "_"),
            ("Result<impl IntoResponse, E>", "Result<_,E>"),
            ("(impl A, [impl B; 2], &'a mut impl C)", "(_,[_;2],&'amut_)"),
            (
                "Box<dyn Iterator<Item = impl A>>",
                "Box<dynIterator<Item=_>>",
            ),
            ("Option<(impl A)>", "Option<(_)>"),
        ] {
            assert_eq!(plain(nameable(&ty(written))), expected);
        }
    }

    #[test]
    fn futures_are_recognised_with_their_output() {
        for (written, output) in [
            (
                "impl Future<Output = Result<u8, E>> + Send + 'a",
                "Result<u8,E>",
            ),
            (
                "Pin<Box<dyn Future<Output = u8> + Send + 'async_trait>>",
                "u8",
            ),
            (
                "::core::pin::Pin<Box<dyn ::core::future::Future<Output = ()>>>",
                "()",
            ),
            ("BoxFuture<'_, Result<u8, E>>", "Result<u8,E>"),
            ("futures::future::LocalBoxFuture<'static, ()>", "()"),
            ("impl Future<Output = impl Debug>", "_"),
        ] {
            let found = future_output(&ty(written)).expect(written).expect(written);
            assert_eq!(plain(found), output);
        }
        assert!(matches!(future_output(&ty("MyFuture")), Some(None)));
    }

    #[test]
    fn other_types_are_no_futures() {
        for written in [
            "Result<u8, E>",
            "Box<dyn Error>",
            "impl Iterator<Item = u8>",
            "Pin<&mut T>",
            "FutureId",
        ] {
            assert!(future_output(&ty(written)).is_none(), "{written}");
        }
    }
}
