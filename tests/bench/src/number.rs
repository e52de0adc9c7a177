//! Numbers in readable form.

use std::fmt;
use std::time::Duration;

/// A number with three significant digits, and a gap between thousands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number(value) = *self;
        match value {
            10_000.0.. => f.write_str(&grouped(&round_to(value, 100.0))),
            1_000.0.. => f.write_str(&grouped(&round_to(value, 10.0))),
            100.0.. => write!(f, "{value:.0}"),
            10.0.. => write!(f, "{value:.1}"),
            0.1.. => write!(f, "{value:.2}"),
            _ if value == 0.0 => f.write_str("0"),
            _ => write!(f, "{value:.3}"),
        }
    }
}

/// A rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerSecond(pub(crate) f64);

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", Number(self.0))
    }
}

/// A count, with all of its digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count(pub(crate) usize);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(&self.0.to_string()))
    }
}

fn round_to(value: f64, step: f64) -> String {
    format!("{:.0}", (value / step).round() * step)
}

fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A time in a suitable unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short(pub(crate) Duration);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_secs_f64() * 1e6;
        if micros < 10.0 {
            write!(f, "{micros:.2} µs")
        } else if micros < 10_000.0 {
            write!(f, "{micros:.0} µs")
        } else if micros < 10_000_000.0 {
            write!(f, "{:.0} ms", micros / 1e3)
        } else {
            write!(f, "{:.0} s", micros / 1e6)
        }
    }
}
