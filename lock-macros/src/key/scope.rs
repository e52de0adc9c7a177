//! The names that a template may use, and the words for them in messages.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;

use crate::item::Names;
use crate::suggest;

/// What the names of a template are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noun {
    Argument,
    Field,
    Variable,
}

impl Noun {
    pub(super) fn singular(self) -> &'static str {
        match self {
            Noun::Argument => "argument",
            Noun::Field => "field",
            Noun::Variable => "variable",
        }
    }

    pub(super) fn with_article(self) -> &'static str {
        match self {
            Noun::Argument => "an argument",
            Noun::Field => "a field",
            Noun::Variable => "a variable",
        }
    }

    /// The thing that has all these names.
    pub(super) fn owner(self) -> &'static str {
        match self {
            Noun::Argument | Noun::Variable => "this function",
            Noun::Field => "this struct",
        }
    }

    /// The roots of a value.
    pub(super) fn roots(self) -> &'static str {
        match self {
            Noun::Argument => "an argument, `self`, a constant or a path",
            Noun::Field => "a field, a constant or a path",
            Noun::Variable => "a variable, `self`, a constant or a path",
        }
    }

    /// What to do with a value that a template cannot compute.
    pub(super) fn instead(self) -> &'static str {
        match self {
            Noun::Argument => "pass the value as an argument",
            Noun::Field => "make the value a field",
            Noun::Variable => "store the value in a variable",
        }
    }
}

/// The names that a placeholder may start with.
pub(crate) trait Scope {
    fn noun(&self) -> Noun;

    /// The names as placeholders write them, in order.
    fn listed(&self) -> Vec<String>;

    /// Whether a name of the scope has this spelling. `self` does not count.
    fn has(&self, name: &str) -> bool;

    /// Whether a placeholder may start with `self`. `Err` explains why not.
    fn check_self(&self) -> Result<(), String>;

    /// Whether two values have this name.
    fn is_ambiguous(&self, _name: &str) -> bool {
        false
    }

    /// Whether there may be more names than these.
    fn is_open(&self) -> bool {
        false
    }

    /// The placeholder as Rust parses it. `Err` explains its mistake.
    fn parsable(&self, placeholder: &str) -> Result<String, String> {
        Ok(placeholder.to_owned())
    }

    /// The expression that a name in a template at `literal` stands for.
    fn value(&self, name: Ident, literal: Span) -> TokenStream;

    /// The message about a name that the scope does not have.
    fn no_such(&self, name: &str) -> String {
        let noun = self.noun();
        let (singular, listed) = (noun.singular(), self.listed());
        let is_number = name.starts_with(|first: char| first.is_ascii_digit());
        // A number is no misspelt number.
        let close =
            suggest::closest(name, listed.iter().map(String::as_str)).filter(|_| !is_number);
        match (close, &*listed) {
            (Some(close), _) => format!("no {singular} named `{name}`; did you mean `{close}`?"),
            (None, []) => format!("no {singular} named `{name}`; {} has none", noun.owner()),
            (None, [only]) => format!("no {singular} named `{name}`; there is `{only}`"),
            (None, several) => format!(
                "no {singular} named `{name}`; there are `{}`",
                several.join("`, `")
            ),
        }
    }
}

/// The arguments of a function.
impl Scope for Names {
    fn noun(&self) -> Noun {
        Noun::Argument
    }

    fn listed(&self) -> Vec<String> {
        let idents = self.bindings.iter().map(|binding| &binding.ident);
        idents.map(Ident::to_string).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn check_self(&self) -> Result<(), String> {
        match self.receiver {
            Some(_) => Ok(()),
            None => Err("this function has no `self`".to_owned()),
        }
    }

    fn is_ambiguous(&self, name: &str) -> bool {
        Names::is_ambiguous(self, name)
    }

    fn is_open(&self) -> bool {
        self.incomplete
    }

    /// The names of arguments get the hygiene of the argument and the place of the literal. The function may come from a
    /// `macro_rules!` macro, and a name from the macro or from its caller.
    fn value(&self, mut name: Ident, literal: Span) -> TokenStream {
        let original = if name == "self" {
            self.receiver.as_ref()
        } else {
            self.find(&name.to_string())
        };
        match original {
            Some(original) => {
                let mut adopted = original.clone();
                adopted.set_span(original.span().located_at(literal));
                adopted.into_token_stream()
            }
            None => {
                // The name may come from a pattern that a macro makes. Such a name resolves with the hygiene of the
                // literal.
                if self.incomplete {
                    name.set_span(literal);
                }
                name.into_token_stream()
            }
        }
    }
}

/// The variables around a macro, which it cannot see.
pub(crate) struct Surroundings;

impl Scope for Surroundings {
    fn noun(&self) -> Noun {
        Noun::Variable
    }

    fn listed(&self) -> Vec<String> {
        Vec::new()
    }

    fn has(&self, _name: &str) -> bool {
        false
    }

    fn check_self(&self) -> Result<(), String> {
        Ok(())
    }

    fn is_open(&self) -> bool {
        true
    }

    /// All names resolve with the hygiene of the literal.
    fn value(&self, mut name: Ident, literal: Span) -> TokenStream {
        name.set_span(literal);
        name.into_token_stream()
    }
}
