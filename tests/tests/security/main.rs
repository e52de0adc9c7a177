//! What the page `lock_runtime::docs::security` promises, except for what is never shown: that is
//! in `errors`.

mod keys;
mod rights;

/// The page.
const PAGE: &str = include_str!("../../../lock-runtime/src/docs/security.md");
