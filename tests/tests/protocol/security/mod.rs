//! The promises of the page `lock_runtime::docs::security`. Secrets in output are tested in `errors`.

mod keys;
mod memory;
mod rights;

const PAGE: &str = include_str!("../../../../lock-runtime/src/docs/security.md");
const README: &str = include_str!("../../../../README.md");
