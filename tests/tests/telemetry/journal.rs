//! Every span and event of this process, as a subscriber sees them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Fields by name, as text. The message of an event is the field `message`.
type Fields = BTreeMap<String, String>;

/// A span that has ended, or an event.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Of a span; the message of an event.
    pub(crate) name: String,
    pub(crate) fields: Fields,
    /// The span that it is in.
    pub(crate) parent: Option<&'static str>,
}

impl Line {
    pub(crate) fn field(&self, name: &str) -> &str {
        let value = self.fields.get(name);
        value.unwrap_or_else(|| panic!("no `{name}` in {self:?}"))
    }

    fn number(&self, name: &str) -> u64 {
        self.field(name).parse().expect("a number")
    }

    /// Whole milliseconds.
    pub(crate) fn time(&self, name: &str) -> std::time::Duration {
        crate::ms(self.number(name))
    }
}

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

fn lines() -> MutexGuard<'static, Vec<Line>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records from now on, on every thread.
pub(crate) fn record() {
    static RECORDING: OnceLock<()> = OnceLock::new();
    RECORDING.get_or_init(|| {
        let subscriber = tracing_subscriber::registry().with(Journal);
        tracing::subscriber::set_global_default(subscriber).expect("it is the only one");
    });
}

/// What was told under `name` about `template`, oldest first.
pub(crate) fn told(name: &str, template: &str) -> Vec<Line> {
    let of = |line: &&Line| line.fields.get("template").is_some_and(|t| t == template);
    let lines = lines();
    lines
        .iter()
        .filter(of)
        .filter(|line| line.name == name)
        .cloned()
        .collect()
}

/// The one thing that was told under `name` about `template`.
#[track_caller]
pub(crate) fn only(name: &str, template: &str) -> Line {
    match &told(name, template)[..] {
        [line] => line.clone(),
        lines => panic!("not one `{name}` of `{template}`: {lines:?}"),
    }
}

/// Whether `text` stands anywhere in what was told.
pub(crate) fn mentions(text: &str) -> bool {
    format!("{:?}", lines()).contains(text)
}

struct Journal;

struct Texts<'a>(&'a mut Fields);

impl Visit for Texts<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Journal {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Texts(&mut fields));
        let span = context.span(id).expect("it is new");
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).expect("it is open");
        let mut extensions = span.extensions_mut();
        let fields = extensions.get_mut().expect("every span has them");
        record.record(&mut Texts(fields));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut Texts(&mut fields));
        lines().push(Line {
            name: fields.get("message").cloned().unwrap_or_default(),
            fields,
            parent: context.event_span(event).map(|span| span.name()),
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).expect("it is closing");
        let fields = span.extensions_mut().remove().expect("every span has them");
        lines().push(Line {
            name: span.name().to_owned(),
            fields,
            parent: span.parent().map(|span| span.name()),
        });
    }
}
