//! The names that a function's arguments bind.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, FnArg, Pat, Signature};

/// A name that a placeholder may start with.
#[derive(Clone)]
pub(crate) struct Binding {
    pub(crate) ident: Ident,
    /// The argument's `#[cfg]`s: whatever mentions the name has to carry them too.
    pub(crate) cfgs: Vec<Attribute>,
}

/// What is in scope before the body's first statement.
#[derive(Clone, Default)]
pub(crate) struct Names {
    /// What `self` is called, which is not `self` in a body made by `#[async_trait]`.
    pub(crate) receiver: Option<Ident>,
    pub(crate) bindings: Vec<Binding>,
    /// A pattern is made by a macro, so there may be more names than these.
    pub(crate) incomplete: bool,
}

impl Names {
    /// The names of a signature.
    pub(crate) fn of(signature: &Signature) -> Names {
        let mut names = Names::default();
        for argument in &signature.inputs {
            match argument {
                FnArg::Receiver(receiver) => {
                    names.receiver = Some(Ident::new("self", receiver.self_token.span));
                }
                FnArg::Typed(argument) => {
                    let cfgs: Vec<_> = argument
                        .attrs
                        .iter()
                        .filter(|attr| attr.path().is_ident("cfg"))
                        .cloned()
                        .collect();
                    names.bind(&argument.pat, &cfgs);
                }
            }
        }
        names
    }

    /// Adds the names that a pattern binds.
    pub(crate) fn bind(&mut self, pattern: &Pat, cfgs: &[Attribute]) {
        match pattern {
            Pat::Ident(pattern) => {
                self.add(&pattern.ident, cfgs);
                if let Some((_, inner)) = &pattern.subpat {
                    self.bind(inner, cfgs);
                }
            }
            Pat::Or(pattern) => self.bind_all(&pattern.cases, cfgs),
            Pat::Paren(pattern) => self.bind(&pattern.pat, cfgs),
            Pat::Reference(pattern) => self.bind(&pattern.pat, cfgs),
            Pat::Slice(pattern) => self.bind_all(&pattern.elems, cfgs),
            Pat::Tuple(pattern) => self.bind_all(&pattern.elems, cfgs),
            Pat::TupleStruct(pattern) => self.bind_all(&pattern.elems, cfgs),
            Pat::Type(pattern) => self.bind(&pattern.pat, cfgs),
            Pat::Struct(pattern) => {
                self.bind_all(pattern.fields.iter().map(|field| &*field.pat), cfgs);
            }
            Pat::Macro(_) | Pat::Verbatim(_) => self.incomplete = true,
            // Literals, paths, `_`, `..`: nothing is bound.
            _ => (),
        }
    }

    fn bind_all<'a>(&mut self, patterns: impl IntoIterator<Item = &'a Pat>, cfgs: &[Attribute]) {
        for pattern in patterns {
            self.bind(pattern, cfgs);
        }
    }

    fn add(&mut self, ident: &Ident, cfgs: &[Attribute]) {
        // The sides of an or-pattern bind the same names.
        if self.find(&ident.to_string()).is_none() {
            self.bindings.push(Binding {
                ident: ident.clone(),
                cfgs: cfgs.to_vec(),
            });
        }
    }

    /// The argument of that name; `self` is none.
    pub(crate) fn find(&self, name: &str) -> Option<&Ident> {
        self.bindings
            .iter()
            .map(|binding| &binding.ident)
            .find(|ident| *ident == name)
    }
}

/// Replaces `self` by what it is called in the body.
pub(crate) fn rename_self(tokens: TokenStream, name: &Ident) -> TokenStream {
    crate::tokens::map_names(tokens, &mut |ident| {
        if ident == "self" {
            let mut renamed = name.clone();
            renamed.set_span(name.span().located_at(ident.span()));
            renamed
        } else {
            ident
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(signature: &str) -> Names {
        Names::of(&syn::parse_str::<Signature>(signature).unwrap())
    }

    fn bound(signature: &str) -> String {
        let names: Vec<_> = names(signature)
            .bindings
            .iter()
            .map(|binding| binding.ident.to_string())
            .collect();
        names.join(" ")
    }

    #[test]
    fn every_pattern_binds_its_names() {
        for (argument, expected) in [
            ("id: u64", "id"),
            ("mut id: u64", "id"),
            ("Path(id): Path<u64>", "id"),
            (
                "Order { id, lines: [first, .., last], .. }: Order",
                "id first last",
            ),
            ("(a, (b, &c)): T", "a b c"),
            ("Ok(x) | Err(x): Result<u8, u8>", "x"),
            ("whole @ Order { id: ref inner, .. }: Order", "whole inner"),
            ("_: T", ""),
            ("r#type: T", "r#type"),
            ("_tx: T", "_tx"),
        ] {
            // A parenthesised pattern, since an argument's own may not be an or-pattern.
            let (pattern, ty) = argument.rsplit_once(": ").unwrap();
            assert_eq!(
                bound(&format!("fn f(({pattern}): {ty})")),
                expected,
                "{argument}"
            );
        }
    }

    #[test]
    fn a_receiver_is_no_binding() {
        let names = names("fn f(self: Arc<Self>, id: u64)");
        assert!(names.receiver.is_some());
        assert_eq!(names.bindings.len(), 1);
        assert!(names.find("self").is_none());
    }

    #[test]
    fn conditional_arguments_keep_their_condition() {
        let names = names("fn f(#[cfg(unix)] #[doc = \"x\"] id: u64)");
        assert_eq!(names.bindings[0].cfgs.len(), 1);
    }

    #[test]
    fn a_macro_pattern_leaves_the_names_open() {
        assert!(names("fn f(pair!(a, b): T)").incomplete);
    }

    #[test]
    fn self_is_renamed_everywhere() {
        let tokens = "self.a(|| { self.b }) + this".parse().unwrap();
        let name = syn::parse_str("__self").unwrap();
        assert_eq!(
            rename_self(tokens, &name).to_string().replace(' ', ""),
            "__self.a(||{__self.b})+this"
        );
    }
}
