//! Analyses return types: their form inside the body, and whether they are futures.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    AngleBracketedGenericArguments, GenericArgument, Lifetime, Path, PathArguments, PathSegment,
    Token, Type, TypeInfer, TypeParamBound,
};

use crate::tokens;

/// The type with `_` for every `impl Trait` in it, which cannot be written outside a signature.
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

/// Whether a type could be a future, by its name: it has no open parts, and is neither `Result` nor
/// `!`.
pub(crate) fn may_be_future(ty: &Type) -> bool {
    let is_result = match bare(ty) {
        Type::Path(ty) => {
            let last = ty.path.segments.last();
            last.is_some_and(|last| last.ident == "Result")
        }
        _ => false,
    };
    !is_result && !is_never(ty) && !tokens::is_open(ty.to_token_stream())
}

/// The type without parentheses and the invisible groups of `macro_rules!`.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(ty) => bare(&ty.elem),
        Type::Paren(ty) => bare(&ty.elem),
        other => other,
    }
}

/// Whether a type is written as a future: `impl Future` or `dyn Future`. An alias may hide a future, and a
/// name such as `NearFuture` need not be one.
pub(crate) fn is_future(ty: &Type) -> bool {
    bounds(ty).is_some_and(|bounds| future_bound(bounds).is_some())
}

/// The output type of the future that a return type describes, if it can be written.
pub(crate) fn future_output(ty: &Type) -> Option<TokenStream> {
    match bounds(ty).map(future_bound) {
        Some(Some(bound)) => declared_output(bound),
        // Another trait, with `Future` as a supertrait.
        Some(None) => None,
        // The type may be an alias that adds a `Result`, so its arguments do not give the output.
        None => projection(ty),
    }
}

/// Whether a future is certainly `'static`: `BoxFuture<'static, T>`, `impl Future + 'static`, and
/// `Pin<Box<dyn Future>>` without a lifetime.
pub(crate) fn is_static(ty: &Type) -> bool {
    let is_static = |lifetime: &Lifetime| lifetime.ident == "static";
    if let Some(bounds) = bounds(ty) {
        let mut lifetimes = bounds.iter().filter_map(|bound| match bound {
            TypeParamBound::Lifetime(lifetime) => Some(lifetime),
            _ => None,
        });
        return match lifetimes.next() {
            Some(lifetime) => is_static(lifetime),
            None => !matches!(bare(ty), Type::ImplTrait(_)),
        };
    }
    let Type::Path(path) = bare(ty) else {
        return false;
    };
    let last = path.path.segments.last();
    is_boxed_future(ty)
        && last.is_some_and(|last| match &last.arguments {
            PathArguments::AngleBracketed(arguments) => matches!(
                arguments.args.first(),
                Some(GenericArgument::Lifetime(lifetime)) if is_static(lifetime)
            ),
            _ => false,
        })
}

/// The bounds of `impl Trait` or `dyn Trait`, also inside `Pin<Box<…>>`.
fn bounds(ty: &Type) -> Option<&Punctuated<TypeParamBound, Token![+]>> {
    match bare(ty) {
        Type::ImplTrait(ty) => Some(&ty.bounds),
        Type::TraitObject(ty) => Some(&ty.bounds),
        Type::Path(ty) => {
            let last = ty.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return None;
            };
            let is_pointer = last.ident == "Pin" || last.ident == "Box";
            is_pointer
                .then(|| last_type(arguments))
                .flatten()
                .and_then(bounds)
        }
        _ => None,
    }
}

/// `<T as Future>::Output`. `None` if a part of the type cannot be written.
fn projection(ty: &Type) -> Option<TokenStream> {
    let written = ty.to_token_stream();
    if nameable(ty).to_token_stream().to_string() != written.to_string() {
        return None;
    }
    let span = ty.span();
    let glue = Span::mixed_site().located_at(span);
    Some(quote_spanned!(glue=> <#written as ::core::future::Future>::Output))
}

/// Returns whether a type is a `Result` or an `Option` of a future, or of a boxed one from the `futures`
/// crate. Only the name decides, so a `JoinHandle` is allowed: the task of a returned handle already runs.
pub(crate) fn wraps_future(ty: &Type) -> bool {
    let Type::Path(ty) = bare(ty) else {
        return false;
    };
    let Some(last) = ty.path.segments.last() else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    let first = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    (last.ident == "Result" || last.ident == "Option")
        && first.is_some_and(|ty| is_future(ty) || is_boxed_future(ty))
}

fn is_boxed_future(ty: &Type) -> bool {
    let Type::Path(ty) = bare(ty) else {
        return false;
    };
    let last = ty.path.segments.last();
    last.is_some_and(|last| last.ident == "BoxFuture" || last.ident == "LocalBoxFuture")
}

/// The bound `Future<…>`, if there is one.
fn future_bound(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<&PathSegment> {
    bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last()?;
            (last.ident == "Future").then_some(last)
        }
        _ => None,
    })
}

/// `T` in `Future<Output = T>`.
fn declared_output(bound: &PathSegment) -> Option<TokenStream> {
    let PathArguments::AngleBracketed(arguments) = &bound.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(assoc) if assoc.ident == "Output" => {
            Some(nameable(&assoc.ty).to_token_stream())
        }
        _ => None,
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
    fn impl_trait_becomes_inferred_at_any_depth() {
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
    fn written_future_is_recognised_with_its_output() {
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
            ("impl Future<Output = impl Debug>", "_"),
        ] {
            assert!(is_future(&ty(written)), "{written}");
            let found = future_output(&ty(written)).expect(written);
            assert_eq!(plain(found), output);
        }
        assert!(is_future(&ty("impl Future")));
        assert!(future_output(&ty("impl Future")).is_none());
    }

    #[test]
    fn alias_of_a_future_yields_a_projection() {
        for written in [
            "BoxFuture<'_, Result<u8, E>>",
            "Pin<Box<MyFuture>>",
            "Shipping",
        ] {
            let found = future_output(&ty(written)).expect(written);
            let written = plain(ty(written));
            assert_eq!(
                plain(found),
                format!("<{written}as::core::future::Future>::Output")
            );
        }
        for written in ["MyFuture<impl A>", "impl Work", "Pin<Box<dyn Work>>"] {
            assert!(future_output(&ty(written)).is_none(), "{written}");
        }
    }

    #[test]
    fn type_that_may_be_a_future_is_recognised() {
        for (written, expected) in [
            ("Shipping", true),
            ("BoxFuture<'_, ()>", true),
            ("()", true),
            ("io::Result<()>", false),
            ("_", false),
            ("Option<_>", false),
            ("!", false),
        ] {
            assert_eq!(may_be_future(&ty(written)), expected, "{written}");
        }
    }

    #[test]
    fn static_future_is_recognised() {
        for (written, expected) in [
            ("Pin<Box<dyn Future<Output = &'a u8> + Send>>", true),
            ("Pin<Box<dyn Future<Output = u8> + 'static>>", true),
            ("BoxFuture<'static, u8>", true),
            ("impl Future<Output = u8> + 'static", true),
            ("Pin<Box<dyn Future<Output = u8> + '_>>", false),
            ("BoxFuture<'a, u8>", false),
            ("BoxFuture<u8>", false),
            ("impl Future<Output = u8>", false),
            ("Shipping<'static>", false),
        ] {
            assert_eq!(is_static(&ty(written)), expected, "{written}");
        }
    }

    #[test]
    fn future_inside_result_or_option_is_found() {
        for written in [
            "Result<impl Future<Output = ()>, E>",
            "io::Result<Box<dyn Future<Output = ()>>>",
            "io::Result<BoxFuture<'a, ()>>",
            "Option<Pin<Box<dyn Future<Output = ()>>>>",
        ] {
            assert!(wraps_future(&ty(written)), "{written}");
        }
        for written in [
            "Result<u8, impl Future>",
            "Option<u8>",
            "Vec<BoxFuture<'a, ()>>",
            "Result<NearFuture, E>",
            "Option<JoinHandle<()>>",
        ] {
            assert!(!wraps_future(&ty(written)), "{written}");
        }
    }

    #[test]
    fn other_type_is_not_a_future() {
        for written in [
            "Result<u8, E>",
            "Box<dyn Error>",
            "impl Iterator<Item = u8>",
            "Pin<&mut T>",
            "FutureId",
            "NearFuture",
        ] {
            assert!(!is_future(&ty(written)), "{written}");
        }
    }
}
