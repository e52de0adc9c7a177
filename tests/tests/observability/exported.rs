//! Every span of this process, as OpenTelemetry exports it.

use std::sync::OnceLock;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracer, SdkTracerProvider, SpanData};

/// Lives as long as the process, since dropping it would stop the export.
static EXPORT: OnceLock<(InMemorySpanExporter, SdkTracerProvider)> = OnceLock::new();

fn export() -> &'static (InMemorySpanExporter, SdkTracerProvider) {
    EXPORT.get_or_init(|| {
        let exporter = InMemorySpanExporter::default();
        let builder = SdkTracerProvider::builder().with_simple_exporter(exporter.clone());
        (exporter, builder.build())
    })
}

/// The exporting layer's tracer.
pub(crate) fn tracer() -> SdkTracer {
    export().1.tracer("locks")
}

/// The spans that have ended.
pub(crate) fn spans() -> Vec<SpanData> {
    let spans = export().0.get_finished_spans();
    spans.expect("the exporter was not shut down")
}
