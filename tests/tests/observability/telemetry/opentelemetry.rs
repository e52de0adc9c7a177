//! Spans as OpenTelemetry receives them, through its layer for `tracing`.
//!
//! That layer turns unsigned numbers into text, and takes a span's status from a field with a special name.

use std::sync::LazyLock;

use lock_runtime::distributed_lock;
use opentelemetry::trace::{Status, TracerProvider};
use opentelemetry::{Array, Value};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracer, SdkTracerProvider, SpanData};

use super::{LockClient, LockError, delete, ms, server_and_client};

/// Every span of this process. It lives as long as the process, since dropping it would stop the export.
static EXPORT: LazyLock<(InMemorySpanExporter, SdkTracerProvider)> = LazyLock::new(|| {
    let exporter = InMemorySpanExporter::default();
    let builder = SdkTracerProvider::builder().with_simple_exporter(exporter.clone());
    (exporter, builder.build())
});

/// The exporting layer's tracer.
pub(crate) fn tracer() -> SdkTracer {
    EXPORT.1.tracer("locks")
}

/// The spans that have ended.
fn exported() -> Vec<SpanData> {
    let spans = EXPORT.0.get_finished_spans();
    spans.expect("the exporter was not shut down")
}

/// The spans named `name` of a template, in the order in which they end.
fn spans(name: &str, template: &str) -> Vec<SpanData> {
    let mut spans = exported();
    spans.retain(|span| {
        span.name == name && attribute(span, "template") == Some(&Value::from(template.to_owned()))
    });
    spans
}

fn attribute<'a>(span: &'a SpanData, name: &str) -> Option<&'a Value> {
    let mut attributes = span.attributes.iter();
    let named = attributes.find(|attribute| attribute.key.as_str() == name);
    named.map(|attribute| &attribute.value)
}

#[track_caller]
fn number(span: &SpanData, name: &str) -> i64 {
    match attribute(span, name) {
        Some(Value::I64(number)) => *number,
        other => panic!("`{name}` is {other:?}"),
    }
}

#[distributed_lock(key = "exported:<id>", wait = "0s", client = locks, token = _token)]
async fn exported_call(
    locks: &LockClient,
    id: u8,
    body: impl AsyncFnOnce(),
) -> Result<(), LockError> {
    body().await;
    Ok(())
}

#[tokio::test]
async fn numbers_arrive_as_numbers_and_a_lost_hold_as_an_error() {
    crate::record();
    let (server, locks) = server_and_client();
    exported_call(&locks, 1, async || tokio::time::sleep(ms(20)).await)
        .await
        .unwrap();
    let delete = async || delete(&server, "exported:1");
    let lost = exported_call(&locks, 1, delete).await;
    assert!(lost.unwrap_err().is_lost());

    let holds = spans("lock_hold", "exported:<id>");
    let [released, lost] = &holds[..] else {
        panic!("not two holds: {holds:?}");
    };
    assert_eq!(released.status, Status::Unset);
    assert!(matches!(lost.status, Status::Error { .. }), "{lost:?}");
    assert!(number(released, "held_ms") >= 20);
    assert!(number(lost, "token") > number(released, "token"));
    for acquire in spans("lock_acquire", "exported:<id>") {
        assert!(number(&acquire, "waited_ms") >= 0);
        assert_eq!(acquire.status, Status::Unset);
    }
    let losses = lost.events.iter().filter(|event| event.name == "lock_lost");
    let losses: Vec<_> = losses.collect();
    let [loss] = &losses[..] else {
        panic!("not one loss: {:?}", lost.events);
    };
    let mut attributes = loss.attributes.iter();
    let token = attributes.find(|attribute| attribute.key.as_str() == "token");
    let of_hold = Value::I64(number(lost, "token"));
    assert_eq!(token.map(|token| &token.value), Some(&of_hold), "{loss:?}");
    for span in exported() {
        let of_events = span.events.iter().flat_map(|event| &event.attributes);
        let texts = span.attributes.iter().chain(of_events).filter_map(text);
        let mut numbers = texts.filter(|(_, text)| text.parse::<f64>().is_ok());
        assert_eq!(numbers.next(), None, "a number that is a text: {span:?}");
    }
}

/// An attribute that is a text or contains texts. Templates and keys do not count: they may be numbers.
fn text(attribute: &opentelemetry::KeyValue) -> Option<(&str, &str)> {
    match (attribute.key.as_str(), &attribute.value) {
        ("template" | "key", _) => None,
        (name, Value::String(text)) => Some((name, text.as_str())),
        (name, Value::Array(Array::String(texts))) => Some((name, texts.first()?.as_str())),
        _ => None,
    }
}
