//! How long an owner waits for nodes.

use std::time::Duration;

/// How often an owner looks at the nodes of others before it waits for messages alone.
pub(super) const LOOKS: u32 = 3;

/// How long an owner waits for nodes, by what their answers have taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// After this, a node without an answer is not waited for before the owner gives way.
    pub(crate) with_silence: Duration,
    /// The first time after which an owner that has some nodes looks at the others again.
    pub(crate) before_look: Duration,
}
