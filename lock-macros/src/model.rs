//! What one use of the attribute means, once everything is checked.

use proc_macro2::{Ident, TokenStream};
use syn::Expr;

use crate::duration::Length;
use crate::item::{Item, Names, Output, Shape};
use crate::key::Key;

/// A function to be locked, and how.
pub(crate) struct Call {
    pub(crate) item: Item,
    pub(crate) shape: Shape,
    /// What the arguments are called where the lock is taken.
    pub(crate) names: Names,
    pub(crate) output: Output,
    /// The path of the runtime crate.
    pub(crate) runtime: TokenStream,
    pub(crate) key: Key,
    pub(crate) options: Options,
}

/// Everything but the key. `None` leaves the matter to the client.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) ttl: Option<Length>,
    pub(crate) wait: Option<Length>,
    pub(crate) renew: Option<bool>,
    pub(crate) max_hold: Option<Length>,
    pub(crate) retain: Option<Length>,
    pub(crate) reentrant: Option<bool>,
    pub(crate) on_busy: OnBusy,
    pub(crate) on_lost: OnLost,
    pub(crate) or_else: Option<Expr>,
    pub(crate) guard: Option<Ident>,
    pub(crate) client: Option<Expr>,
}

/// What a call does that finds the lock held.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OnBusy {
    #[default]
    Error,
    Skip,
}

/// What becomes of a body whose lock is lost.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OnLost {
    #[default]
    Cancel,
    Finish,
}
