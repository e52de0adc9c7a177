//! Every span and event of this process, as a subscriber receives them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Fields by name. The message of an event is the field `message`.
#[derive(Clone, Debug, Default)]
struct Fields {
    texts: BTreeMap<&'static str, String>,
    /// The fields that were recorded as `i64`.
    numbers: BTreeMap<&'static str, i64>,
}

/// A span that has ended, or an event.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The name of a span; the message of an event.
    pub(crate) name: String,
    fields: Fields,
    /// The enclosing span.
    pub(crate) parent: Option<&'static str>,
}

impl Line {
    pub(crate) fn field(&self, name: &str) -> &str {
        let value = self.fields.texts.get(name);
        value.unwrap_or_else(|| panic!("no `{name}` in {self:?}"))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.texts.contains_key(name)
    }

    /// Every number must be recorded as `i64`: the OpenTelemetry layer turns other integers, and values
    /// recorded by `Display`, into text.
    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> i64 {
        let value = self.fields.numbers.get(name);
        *value.unwrap_or_else(|| panic!("`{name}` is no i64 in {self:?}"))
    }

    /// Whole milliseconds.
    pub(crate) fn time(&self, name: &str) -> std::time::Duration {
        harness::ms(
            self.number(name)
                .try_into()
                .expect("time does not run back"),
        )
    }

    /// Checks each field that looks like a number.
    #[track_caller]
    fn with_numbers(self) -> Line {
        for (name, text) in &self.fields.texts {
            if text.parse::<i128>().is_ok() {
                self.number(name);
            }
        }
        self
    }
}

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

fn lines() -> MutexGuard<'static, Vec<Line>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The records named `name` about `template`, oldest first.
pub(crate) fn told(name: &str, template: &str) -> Vec<Line> {
    told_of(name, "template", template)
}

/// The records named `name` with this field, oldest first.
pub(crate) fn told_of(name: &str, field: &str, value: &str) -> Vec<Line> {
    let of = |line: &&Line| line.fields.texts.get(field).is_some_and(|it| it == value);
    let told: Vec<Line> = {
        let lines = lines();
        let named = lines.iter().filter(|line| line.name == name);
        named.filter(of).cloned().collect()
    };
    told.into_iter().map(Line::with_numbers).collect()
}

/// The only record named `name` about `template`.
#[track_caller]
pub(crate) fn only(name: &str, template: &str) -> Line {
    match &told(name, template)[..] {
        [line] => line.clone(),
        lines => panic!("not one `{name}` of `{template}`: {lines:?}"),
    }
}

/// Whether any record contains `text`.
pub(crate) fn mentions(text: &str) -> bool {
    format!("{:?}", lines()).contains(text)
}

pub(crate) struct Journal;

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.texts.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.texts.insert(field.name(), value.to_owned());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.numbers.insert(field.name(), value);
        self.record_debug(field, &value);
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Journal {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let span = context.span(id).expect("it is new");
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).expect("it is open");
        let mut extensions = span.extensions_mut();
        let fields: &mut Fields = extensions.get_mut().expect("every span has them");
        record.record(fields);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        lines().push(Line {
            name: fields.texts.get("message").cloned().unwrap_or_default(),
            fields,
            parent: context.event_span(event).map(|span| span.name()),
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).expect("it is closing");
        let fields = span.extensions_mut().remove();
        let fields = fields.expect("every span has them");
        lines().push(Line {
            name: span.name().to_owned(),
            fields,
            parent: span.parent().map(|span| span.name()),
        });
    }
}
