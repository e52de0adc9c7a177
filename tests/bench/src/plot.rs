//! The plot of transfers per second against the number of waiters, as SVG.
//!
//! Written by hand: two logarithmic axes, colours for light and dark pages, and text that does not
//! depend on a font. Each plotting crate lacks one of these.

use crate::findings::Point;
use crate::number::Count;
use crate::stats::float;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 540.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 366.0;

/// The distance between the names of two curves.
const LINE: f64 = 17.0;

/// Curves keep these colours in their order. They are distinct on white and on black, and for
/// readers with red-green colour blindness.
///
/// Inside an HTML page, the text has the page's colour, and the picture fits its column. As a
/// standalone picture, which `:root` recognises, it follows the reader's preference.
const STYLE: &str = "\
.plot:root { color: #24292f } .plot:not(:root) { max-width: 100%; height: auto } \
.plot text { font: 13px system-ui, sans-serif; fill: currentColor } \
.plot .grid { stroke: #8c959f; stroke-opacity: .35 } \
.plot .curve { fill: none; stroke-width: 2 } \
.plot .c0 { stroke: #6e7781; stroke-dasharray: 6 4 } .plot .c1 { stroke: #009e73 } \
.plot .c2 { stroke: #3288cc } .plot .c3 { stroke: #e69f00 } .plot .c4 { stroke: #d55e00 } \
.plot .c5 { stroke: #cc79a7 } \
@media (prefers-color-scheme: dark) { .plot:root { color: #e6edf3 } }";

/// The picture, which depends only on the points.
pub(crate) fn svg(points: &[Point]) -> String {
    let scale = Scale::of(points);
    let mut picture = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="plot" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="plot-title">
<title id="plot-title">Transfers a second against the number of waiters</title>
<style>{STYLE}</style>
"#
    );
    for power in scale.powers() {
        let rate = 10_usize.pow(power);
        let y = scale.y(float(rate));
        picture += &path("grid", &format!("M{LEFT} {y:.1}H{RIGHT}"));
        picture += &text(LEFT - 8.0, y + 4.5, "end", &Count(rate).to_string());
    }
    for waiters in waiters(points) {
        let x = scale.x(waiters);
        picture += &text(x, BOTTOM + 20.0, "middle", &waiters.to_string());
    }
    let middle = f64::midpoint(LEFT, RIGHT);
    picture += &text(middle, HEIGHT - 10.0, "middle", "waiters");
    picture += &text(8.0, 14.0, "start", "transfers a second");
    let curves = curves(points);
    let end = |of: &Vec<&Point>| scale.y(of.last().map_or(1.0, |point| point.rate));
    let ends: Vec<f64> = curves.iter().map(|(_, of)| end(of)).collect();
    for (n, ((name, of), label)) in curves.iter().zip(apart(&ends)).enumerate() {
        let place = |point: &&Point| (scale.x(point.waiters), scale.y(point.rate));
        let line = of.iter().map(place).map(|(x, y)| format!("{x:.1} {y:.1}"));
        let line: Vec<String> = line.collect();
        let (class, from, to) = (format!("curve c{n}"), RIGHT + 10.0, RIGHT + 30.0);
        picture += &path(&class, &format!("M{}", line.join("L")));
        picture += &path(&class, &format!("M{from} {label:.1}H{to}"));
        picture += &text(to + 6.0, label + 4.5, "start", name);
    }
    picture + "</svg>\n"
}

fn path(class: &str, line: &str) -> String {
    format!("<path class=\"{class}\" d=\"{line}\"/>\n")
}

/// Contestants' names contain nothing to escape.
fn text(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
}

/// The logarithms of the shown ranges, and their positions.
struct Scale {
    waiters: (f64, f64),
    rates: (f64, f64),
}

impl Scale {
    /// From the smallest to the largest number of waiters; rates cover whole powers of ten.
    fn of(points: &[Point]) -> Scale {
        let (least, most) = limits(points.iter().map(|point| f64::from(point.waiters).log2()));
        let rates = limits(points.iter().map(|point| point.rate.max(1.0).log10()));
        let (low, high) = (rates.0.floor(), rates.1.ceil());
        Scale {
            waiters: (least, most.max(least + 1.0)),
            rates: (low, high.max(low + 1.0)),
        }
    }

    fn x(&self, waiters: u32) -> f64 {
        let (least, most) = self.waiters;
        LEFT + (f64::from(waiters).log2() - least) / (most - least) * (RIGHT - LEFT)
    }

    fn y(&self, rate: f64) -> f64 {
        let (low, high) = self.rates;
        BOTTOM - (rate.max(1.0).log10() - low) / (high - low) * (BOTTOM - TOP)
    }

    /// The powers of ten with a horizontal line.
    fn powers(&self) -> impl Iterator<Item = u32> {
        let (low, high) = self.rates;
        (0..20).filter(move |&power| (low..=high).contains(&f64::from(power)))
    }
}

fn limits(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(value), most.max(value)),
    );
    if ends.0 <= ends.1 { ends } else { (0.0, 1.0) }
}

fn waiters(points: &[Point]) -> Vec<u32> {
    let mut waiters: Vec<u32> = points.iter().map(|point| point.waiters).collect();
    waiters.sort_unstable();
    waiters.dedup();
    waiters
}

/// The points of each contestant, in the order of the input.
fn curves(points: &[Point]) -> Vec<(&str, Vec<&Point>)> {
    let mut curves: Vec<(&str, Vec<&Point>)> = Vec::new();
    for point in points {
        match curves
            .iter_mut()
            .find(|(name, _)| *name == point.contestant)
        {
            Some((_, of)) => of.push(point),
            None => curves.push((point.contestant, vec![point])),
        }
    }
    curves
}

/// Moves overlapping names down, and up again where there is no room.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| wanted[one].total_cmp(&wanted[other]));
    let mut places = wanted.to_vec();
    let mut free = f64::NEG_INFINITY;
    for &name in &order {
        places[name] = wanted[name].max(free);
        free = places[name] + LINE;
    }
    let mut free = BOTTOM + LINE / 2.0;
    for &name in order.iter().rev() {
        places[name] = places[name].min(free);
        free = places[name] - LINE;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_contestant_has_one_curve_that_rises_to_the_right() {
        let points = [("a", 1, 25.0), ("b", 1, 20.0), ("a", 1024, 830_000.0)];
        let points = points.map(|(contestant, waiters, rate)| Point {
            contestant,
            waiters,
            rate,
        });
        let scale = Scale::of(&points);
        assert_eq!((scale.x(1), scale.x(1024)), (LEFT, RIGHT));
        assert!(scale.y(25.0) > scale.y(830_000.0));
        assert!(scale.y(20.0) < BOTTOM && scale.y(830_000.0) > TOP);
        let picture = svg(&points);
        assert_eq!(picture.matches("class=\"curve").count(), 4, "{picture}");
        assert_eq!(picture.matches("L540.0").count(), 1, "{picture}");
    }

    #[test]
    fn names_never_overlap() {
        let places = apart(&[100.0, 101.0, 40.0, BOTTOM, BOTTOM]);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.into_iter().all(|gap| gap >= LINE - 1e-9), "{places:?}");
        assert!(sorted[4] <= BOTTOM + LINE / 2.0, "{places:?}");
        // Each stays on its side of the others.
        assert!(places[2] < places[0] && places[0] < places[1], "{places:?}");
    }
}
