//! The meaning of one use of the attribute, after all checks.

use proc_macro2::{Ident, TokenStream};
use syn::Expr;

use crate::args::Settings;
use crate::item::{Item, Names, Output, Shape};
use crate::key::KeyList;

/// A function to lock, with its options.
pub(crate) struct Call {
    pub(crate) item: Item,
    pub(crate) shape: Shape,
    /// The names of the arguments at the place where the lock is acquired.
    pub(crate) names: Names,
    pub(crate) output: Output,
    /// The path of the runtime crate, `::lock_runtime` by default.
    pub(crate) runtime: TokenStream,
    pub(crate) keys: KeyList,
    pub(crate) options: Options,
}

/// All options except the keys. `None` stands for the client's default.
#[derive(Default)]
pub(crate) struct Options {
    /// The options that the runtime gets unchanged.
    pub(crate) settings: Settings,
    pub(crate) on_busy: OnBusy,
    pub(crate) on_lost: OnLost,
    pub(crate) or_else: Option<Expr>,
    pub(crate) guard: Option<Ident>,
    /// The name of the fencing token in the body.
    pub(crate) token: Option<Ident>,
    pub(crate) client: Option<Expr>,
}

/// The result of a call that finds the lock busy.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OnBusy {
    #[default]
    Error,
    Skip,
}

/// The treatment of a body whose lock is lost.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OnLost {
    #[default]
    Cancel,
    Finish,
}
