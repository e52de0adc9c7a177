//! Collects everything that is wrong, so that one compilation reports it all.

use proc_macro2::{Span, TokenStream};

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Diag {
    errors: Vec<syn::Error>,
}

impl Diag {
    pub(crate) fn error(&mut self, span: Span, message: impl std::fmt::Display) {
        self.errors.push(syn::Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// One `compile_error!` for each mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.errors
            .iter()
            .map(syn::Error::to_compile_error)
            .collect()
    }

    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.errors
            .iter()
            .flat_map(|error| error.clone().into_iter())
            .map(|error| error.to_string())
            .collect()
    }
}
