//! Longer texts. There is nothing here but documentation.

#[doc = include_str!("faults.md")]
pub mod faults {}
