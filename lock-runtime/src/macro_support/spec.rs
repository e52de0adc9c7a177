//! The attribute's keys and options for a call, and its client.

use std::iter;
use std::mem;
use std::panic::Location;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use super::locked_call::Call;
use super::template_writer::TemplateWriter;
use crate::client::{Acquire, CallOptions, LockClient, LockGuard};
use crate::error::LockError;
use crate::key::{KeyTemplate, LockKey};

/// The keys and the options of one call, before its client is known.
///
/// A spec owns its contents: it is complete before the first await, and only borrows arguments until then.
///
/// None of its methods is inlined: they are cheap to call once per lock, and would be code in every locked function.
/// Storing an option takes less code than a call.
#[derive(Debug)]
#[must_use]
pub struct Spec {
    /// The key of an expression; otherwise the writer has it.
    key: Option<LockKey>,
    /// The expansion writes templates into this.
    pub writer: TemplateWriter,
    /// The complete keys of a call for several locks.
    several: Option<Vec<LockKey>>,
    function: &'static str,
    template: &'static str,
    /// The template of each key; none for an element of `keys` that is an expression.
    templates: &'static [KeyTemplate],
    place: &'static Location<'static>,
    /// Set by the expansion, with [`set`].
    pub options: CallOptions,
}

impl Spec {
    /// Describes a lock that `function` acquires. `template` stands for the key where values must not be visible: in
    /// logs and metrics. `templates` has the template of each key.
    #[inline(never)]
    #[track_caller]
    pub fn new(
        &[function, template]: &'static [&'static str; 2],
        templates: &'static [KeyTemplate],
    ) -> Spec {
        Spec {
            key: None,
            writer: TemplateWriter::default(),
            several: None,
            function,
            template,
            templates,
            place: Location::caller(),
            options: CallOptions::default(),
        }
    }

    /// Describes the lock with the key of an expression.
    #[inline(never)]
    #[track_caller]
    pub fn keyed(names: &'static [&'static str; 2], key: LockKey) -> Spec {
        let mut spec = Spec::new(names, &[]);
        spec.key = Some(key);
        spec
    }

    /// Describes the locks with the keys of an expression.
    #[inline(never)]
    #[track_caller]
    pub fn several(names: &'static [&'static str; 2], keys: Vec<LockKey>) -> Spec {
        let mut spec = Spec::new(names, &[]);
        spec.several = Some(keys);
        spec
    }

    /// Ends a template of `keys`. Anything written afterwards belongs to the next one.
    #[inline(never)]
    pub fn next(&mut self) {
        let written = mem::take(&mut self.writer);
        self.key(written.finish());
    }

    /// Adds an element of `keys` that is an expression.
    #[inline(never)]
    pub fn key(&mut self, key: LockKey) {
        self.several.get_or_insert_default().push(key);
    }

    /// Acquires from the client of `client = …`.
    pub fn acquire<C: ClientRef + ?Sized>(self, client: &C) -> Call {
        self.acquire_from(client.client())
    }

    /// Acquires from the installed client; without one the call fails with `NotInstalled`.
    #[inline(never)]
    pub fn acquire_installed(self) -> Call {
        match LockClient::installed() {
            Ok(client) => self.acquire_from(&client),
            Err(error) => Call::new(std::future::ready(Err(error))),
        }
    }

    #[inline(never)]
    fn acquire_from(self, client: &LockClient) -> Call {
        Call::new(self.ask_client(client).acquire())
    }

    /// Makes the call for the client of `client = …`, without waiting yet: the client's owner must not be borrowed
    /// while the thread is blocked.
    pub fn ask<C: ClientRef + ?Sized>(self, client: &C) -> Acquire {
        self.ask_client(client.client())
    }

    /// Like [`acquire_installed`](Spec::acquire_installed), but blocks the thread.
    ///
    /// # Errors
    ///
    /// `NotInstalled`, and the errors of [`Acquire::acquire_blocking`].
    #[inline(never)]
    pub fn acquire_installed_blocking(self) -> Result<LockGuard, LockError> {
        self.ask_client(&LockClient::installed()?)
            .acquire_blocking()
    }

    #[inline(never)]
    fn ask_client(self, client: &LockClient) -> Acquire {
        let acquire = match self.several {
            None => {
                let key = self.key.unwrap_or_else(|| self.writer.finish());
                client.lock(with_template(key, self.templates.first()))
            }
            Some(keys) => {
                let templates = self.templates.iter().map(Some).chain(iter::repeat(None));
                let keys = keys.into_iter().zip(templates);
                client.lock_all(keys.map(|(key, template)| with_template(key, template)))
            }
        };
        acquire.described(self.options, self.function, self.template, self.place)
    }
}

/// Sets an option of [`Spec::options`]. As a function, so that the compiler reports a value of the wrong type as an
/// argument, and not as part of a `Some` that the user did not write.
pub fn set<T>(option: &mut Option<T>, value: T) {
    *option = Some(value);
}

/// The key, with the template that wrote it. An expression may yield a key that has one.
fn with_template(key: LockKey, template: Option<&'static KeyTemplate>) -> LockKey {
    match template {
        Some(template) if !template.is_none() => key.with_template(template),
        _ => key,
    }
}

/// A client, or a pointer to one. The client is only borrowed, so it may be `self.locks` or an argument.
#[diagnostic::on_unimplemented(
    message = "`client` must be a `lock_runtime::LockClient` or a reference to one",
    label = "this is a `{Self}`",
    note = "if it dereferences to a client, as `once_cell::sync::Lazy` does, write `client = *CLIENT`"
)]
pub trait ClientRef {
    /// Returns the client.
    fn client(&self) -> &LockClient;
}

impl ClientRef for LockClient {
    fn client(&self) -> &LockClient {
        self
    }
}

macro_rules! by_target {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: ClientRef + ?Sized> ClientRef for $pointer {
            fn client(&self) -> &LockClient {
                (**self).client()
            }
        }
    )*};
}

by_target!(&T, &mut T, Box<T>, Rc<T>, Arc<T>);

/// A static client that is made at its first use.
#[diagnostic::do_not_recommend]
impl<T: ClientRef, F: FnOnce() -> T> ClientRef for LazyLock<T, F> {
    fn client(&self) -> &LockClient {
        (**self).client()
    }
}
