//! Every metric of this process. Unlike the facade's own recorders, this one can be read without a
//! reset, so tests do not disturb each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// The values recorded under each name and its labels, written `name{label=value,…}`.
static VALUES: Mutex<BTreeMap<String, Vec<f64>>> = Mutex::new(BTreeMap::new());

fn values() -> MutexGuard<'static, BTreeMap<String, Vec<f64>>> {
    VALUES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records from now on, on every thread.
pub(crate) fn record() {
    static RECORDING: OnceLock<()> = OnceLock::new();
    RECORDING.get_or_init(|| metrics::set_global_recorder(Meter).expect("it is the only one"));
}

/// All values recorded under this name and these labels, oldest first.
pub(crate) fn recorded(series: &str) -> Vec<f64> {
    values().get(series).cloned().unwrap_or_default()
}

/// A counter or a gauge.
pub(crate) fn sum(series: &str) -> f64 {
    recorded(series).iter().sum()
}

/// Every name with its labels.
pub(crate) fn all() -> Vec<String> {
    values().keys().cloned().collect()
}

/// Every name that was described.
pub(crate) fn described() -> BTreeSet<String> {
    let all = all().into_iter();
    all.filter_map(|series| Some(series.split_once(' ')?.0.to_owned()))
        .collect()
}

struct Meter;

struct Series(String);

impl Series {
    fn new(key: &Key) -> Arc<Series> {
        let labels = key.labels();
        let labels: Vec<_> = labels
            .map(|l| format!("{}={}", l.key(), l.value()))
            .collect();
        Arc::new(Series(format!("{}{{{}}}", key.name(), labels.join(","))))
    }

    fn add(&self, value: f64) {
        values().entry(self.0.clone()).or_default().push(value);
    }
}

impl Recorder for Meter {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        let unit = unit.map_or("", |unit| unit.as_str());
        values().insert(format!("{} {unit}", name.as_str()), Vec::new());
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe_counter(name, unit, text);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe_counter(name, unit, text);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(Series::new(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(Series::new(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(Series::new(key))
    }
}

impl CounterFn for Series {
    fn increment(&self, value: u64) {
        self.add(value as f64);
    }

    fn absolute(&self, _: u64) {
        unreachable!("nothing sets a counter");
    }
}

impl GaugeFn for Series {
    fn increment(&self, value: f64) {
        self.add(value);
    }

    fn decrement(&self, value: f64) {
        self.add(-value);
    }

    /// No gauge is both set and changed.
    fn set(&self, value: f64) {
        self.add(value);
    }
}

impl HistogramFn for Series {
    fn record(&self, value: f64) {
        self.add(value);
    }
}
