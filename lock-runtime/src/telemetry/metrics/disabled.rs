//! Does nothing, without the feature `metrics`.

use std::sync::Arc;
use std::time::Duration;

pub(crate) const ENABLED: bool = false;

pub(crate) fn describe() {}

pub(crate) fn waiters(_template: &'static str, _more: f64) {}

pub(crate) fn acquisition(_template: &'static str, _outcome: &'static str, _waited: Duration) {}

pub(crate) fn lease(_template: &'static str, _outcome: &'static str, _held: Duration) {}

pub(crate) fn renewal(_template: &'static str, _outcome: &'static str) {}

pub(crate) fn loss(_template: &'static str, _reason: &'static str) {}

pub(crate) fn unconfirmed_release(_template: &'static str) {}

pub(crate) fn run(_template: &'static str, _outcome: &'static str, _took: Duration) {}

pub(crate) fn order_ring(_template: &'static str) {}

pub(crate) fn held(_more: f64) {}

pub(crate) fn connected(_server: &Arc<str>, _more: f64) {}

pub(crate) fn connection(_server: &Arc<str>, _outcome: &'static str) {}
