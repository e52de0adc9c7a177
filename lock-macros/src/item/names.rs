//! The names that a function's arguments bind.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Attribute, FnArg, Pat, Signature};

use super::cfg;

/// A name that a placeholder may start with.
#[derive(Clone)]
pub(crate) struct Binding {
    pub(crate) ident: Ident,
    /// On what the argument or its part depends: whatever mentions the name has to carry it too.
    pub(crate) cfgs: Vec<Attribute>,
    /// It was written with `mut`.
    pub(crate) mutable: bool,
}

/// What is in scope before the body's first statement.
#[derive(Clone, Default)]
pub(crate) struct Names {
    /// What `self` is called, which is not `self` in a body made by `#[async_trait]`.
    pub(crate) receiver: Option<Ident>,
    /// It is `mut self`.
    pub(crate) mutable_receiver: bool,
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
                    names.mutable_receiver = receiver.mutability.is_some();
                }
                FnArg::Typed(argument) => {
                    names.bind(&argument.pat, &argument.attrs);
                }
            }
        }
        names
    }

    /// Adds the names that a pattern binds, on the conditions among its attributes.
    pub(crate) fn bind(&mut self, pattern: &Pat, attrs: &[Attribute]) {
        let mut found = Found::default();
        found.collect(pattern, &cfg::attributes_of(attrs));
        self.incomplete |= found.incomplete;
        self.bindings.extend(found.bindings);
    }

    /// Takes out a name that is about to be moved, on the conditions among these attributes.
    pub(crate) fn remove(&mut self, name: &Ident, attrs: &[Attribute]) {
        let cfgs = cfg::attributes_of(attrs);
        self.bindings
            .retain(|binding| binding.ident != *name || !same(&binding.cfgs, &cfgs));
    }

    /// The argument of that name; `self` is none.
    pub(crate) fn find(&self, name: &str) -> Option<&Ident> {
        self.bindings
            .iter()
            .map(|binding| &binding.ident)
            .find(|ident| *ident == name)
    }

    /// Whether two arguments have that name: a `macro_rules!` macro wrote one of them, and its
    /// caller the other. Under different conditions there is only one at a time.
    pub(crate) fn is_ambiguous(&self, name: &str) -> bool {
        let unconditional = |binding: &&Binding| binding.ident == name && binding.cfgs.is_empty();
        self.bindings.iter().filter(unconditional).count() > 1
    }
}

/// The names that one argument binds.
#[derive(Default)]
struct Found {
    bindings: Vec<Binding>,
    incomplete: bool,
}

impl Found {
    /// Adds the names of a pattern that depends on `cfgs`.
    fn collect(&mut self, pattern: &Pat, cfgs: &[Attribute]) {
        match pattern {
            Pat::Ident(pattern) => {
                let mutable = pattern.by_ref.is_none() && pattern.mutability.is_some();
                self.add(&pattern.ident, cfgs, mutable);
                if let Some((_, inner)) = &pattern.subpat {
                    self.collect(inner, cfgs);
                }
            }
            Pat::Or(pattern) => self.collect_all(&pattern.cases, cfgs),
            Pat::Paren(pattern) => self.collect(&pattern.pat, cfgs),
            Pat::Reference(pattern) => self.collect(&pattern.pat, cfgs),
            Pat::Slice(pattern) => self.collect_all(&pattern.elems, cfgs),
            Pat::Tuple(pattern) => self.collect_all(&pattern.elems, cfgs),
            Pat::TupleStruct(pattern) => self.collect_all(&pattern.elems, cfgs),
            Pat::Type(pattern) => self.collect(&pattern.pat, cfgs),
            Pat::Struct(pattern) => {
                for field in &pattern.fields {
                    let cfgs = [cfgs, &cfg::attributes_of(&field.attrs)].concat();
                    self.collect(&field.pat, &cfgs);
                }
            }
            Pat::Macro(_) | Pat::Verbatim(_) => self.incomplete = true,
            // Literals, paths, `_`, `..`: nothing is bound.
            _ => (),
        }
    }

    fn collect_all<'a>(&mut self, patterns: impl IntoIterator<Item = &'a Pat>, cfgs: &[Attribute]) {
        for pattern in patterns {
            self.collect(pattern, cfgs);
        }
    }

    /// The sides of an or-pattern bind the same names.
    fn add(&mut self, ident: &Ident, cfgs: &[Attribute], mutable: bool) {
        let known = |known: &Binding| known.ident == *ident && same(&known.cfgs, cfgs);
        if !self.bindings.iter().any(known) {
            self.bindings.push(Binding {
                ident: ident.clone(),
                cfgs: cfgs.to_vec(),
                mutable,
            });
        }
    }
}

fn same(left: &[Attribute], right: &[Attribute]) -> bool {
    let text = |attrs: &[Attribute]| quote!(#(#attrs)*).to_string();
    text(left) == text(right)
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
    fn what_may_be_assigned_to_is_known() {
        let names = names("fn f(mut self, mut a: A, b: B, (c, mut d): C, &mut ref e: &mut E)");
        let mutable: Vec<_> = names.bindings.iter().map(|name| name.mutable).collect();
        assert_eq!(mutable, [true, false, false, true, false]);
        assert!(names.mutable_receiver);
        assert!(!self::names("fn f(&mut self)").mutable_receiver);
        assert!(self::names("fn f(mut self: Box<Self>)").mutable_receiver);
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
    fn a_part_depends_on_its_own_condition_and_that_of_the_whole() {
        let names =
            names("fn f(#[cfg(unix)] Order { id, #[cfg(x)] a: (b, c), #[cfg(y)] d: b }: Order)");
        let found: Vec<_> = names
            .bindings
            .iter()
            .map(|Binding { ident, cfgs, .. }| quote!(#(#cfgs)* #ident).to_string())
            .collect();
        assert_eq!(
            found,
            [
                "# [cfg (unix)] id",
                "# [cfg (unix)] # [cfg (x)] b",
                "# [cfg (unix)] # [cfg (x)] c",
                "# [cfg (unix)] # [cfg (y)] b",
            ]
        );
    }

    #[test]
    fn alternatives_are_kept_apart() {
        let names = names("fn f(#[cfg(unix)] id: u64, #[cfg(windows)] id: u32)");
        assert_eq!(names.bindings.len(), 2);
        assert!(!names.is_ambiguous("id"));
    }

    #[test]
    fn two_arguments_of_one_name_are_ambiguous() {
        // Both sides of an or-pattern are one argument; two arguments can have one name only with
        // different hygiene, which this test cannot make.
        assert!(!names("fn f((Ok(x) | Err(x)): T)").is_ambiguous("x"));
        assert!(names("fn f(x: u8, x: u8)").is_ambiguous("x"));
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
