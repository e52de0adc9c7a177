//! Notices that another macro dropped the statements before the async block of a locked function.

/// Stands before the block, as long as the statements do.
#[derive(Clone, Copy, Debug)]
pub struct Copies;

/// Implemented for [`Copies`] alone.
#[diagnostic::on_unimplemented(
    message = "an attribute below `#[distributed_lock]` drops the statements before the `async move` block",
    label = "this statement would be lost",
    note = "move it into the block, or make this an `async fn`"
)]
pub trait Survived {}

impl Survived for Copies {}

/// Takes the value that stands before the block.
pub fn copies_survive<T: Survived>(_: T) {}
