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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_significant_digits() {
        let shown = [0.0, 0.0162, 1.234, 25.26, 325.4, 8_514.0, 1_648_000.0];
        let shown = shown.map(|value| Number(value).to_string());
        let expected = ["0", "0.016", "1.23", "25.3", "325", "8 510", "1 648 000"];
        assert_eq!(shown, expected);
        assert_eq!(Count(1_234_567).to_string(), "1 234 567");
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let shown = [400, 21_300, 1_200_000, 54_000_000, 12_000_000_000];
        let shown = shown.map(|nanos| Short(Duration::from_nanos(nanos)).to_string());
        assert_eq!(shown, ["0.40 µs", "21 µs", "1200 µs", "54 ms", "12 s"]);
    }
}
