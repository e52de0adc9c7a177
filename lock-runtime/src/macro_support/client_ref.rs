//! Resolves `client = …`.

use std::rc::Rc;
use std::sync::Arc;

use crate::client::LockClient;

/// A client, or a pointer to one. The client is only borrowed, so it may be `self.locks` or an argument.
#[diagnostic::on_unimplemented(
    message = "`client` must be a `lock_runtime::LockClient` or a reference to one",
    label = "this is a `{Self}`"
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
