//! The telemetry for operators: spans, events, metrics and errors.
//!
//! A binary of its own: the subscriber and the recorder serve the whole process, since the background thread reports
//! much of the telemetry. Each test looks for its own template or key.

mod errors;
mod journal;
mod log;
mod operations;
mod telemetry;

use std::sync::OnceLock;

use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::{self, format::FmtSpan};
use tracing_subscriber::layer::SubscriberExt;

/// Records spans, events and metrics from now on, on every thread: in the `journal` as values, in the `log` as text, for
/// OpenTelemetry, and in the `meter`.
fn record() {
    telemetry::meter::record();
    static RECORDING: OnceLock<()> = OnceLock::new();
    RECORDING.get_or_init(|| {
        let text = fmt::layer()
            // Includes fields that are recorded only on spans.
            .with_span_events(FmtSpan::FULL)
            .with_writer(|| log::Writer)
            .with_ansi(false);
        let subscriber = tracing_subscriber::registry()
            .with(LevelFilter::from_level(Level::TRACE))
            .with(journal::Journal)
            .with(tracing_opentelemetry::layer().with_tracer(telemetry::opentelemetry::tracer()))
            .with(text);
        tracing::subscriber::set_global_default(subscriber).expect("it is the only one");
    });
}
