//! Counters, gauges and histograms, which are optional.

#[cfg(not(feature = "metrics"))]
mod disabled;
#[cfg(feature = "metrics")]
mod enabled;

#[cfg(not(feature = "metrics"))]
pub(crate) use disabled::*;
#[cfg(feature = "metrics")]
pub(crate) use enabled::*;
