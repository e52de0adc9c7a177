//! Searches for the rings that a new edge closes.

use std::collections::VecDeque;

use super::bounds::Bounds;
use super::class::ClassId;
use super::crossing::Crossing;
use super::crossing::Step;
use super::edges::Edges;

/// The edges of a ring, each with the class that it starts from. The first is the new edge.
pub(super) type Path = Vec<(ClassId, Crossing)>;

/// The rings that a new edge closes, the shortest first, and whether these are all.
#[derive(Debug)]
pub(super) struct Closed {
    pub(super) rings: Vec<Path>,
    pub(super) extent: Extent,
}

/// How far a search went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    All,
    /// Up to the limit of paths.
    Part,
}

/// Searches for the rings that a new edge closes, as many as the bounds allow. No ring passes a class twice, and on
/// each lock of a ring the holding call blocks the waiting one. Calls that take all their locks together form no ring.
pub(super) fn rings(
    edges: &Edges,
    (from, to): (ClassId, ClassId),
    crossing: Crossing,
    bounds: &Bounds,
) -> Closed {
    let leading_back = edges.leading_to(from);
    let mut rings = Vec::new();
    let mut open = VecDeque::new();
    if leading_back.contains(&to) {
        open.push_back((vec![(from, crossing)], to));
    }
    let (mut paths, mut extent) = (0, Extent::All);
    while let Some((path, end)) = open.pop_front() {
        let (wait, needs) = (path[path.len() - 1].1.wait, needed_by(&path));
        let is_open = |next: &ClassId| {
            let is_passed = *next == end || path.iter().any(|(class, _)| class == next);
            *next == from || leading_back.contains(next) && !is_passed
        };
        let nexts = edges.after(end).iter().filter(|next| is_open(next));
        let ways = nexts.flat_map(|&next| {
            let ways = edges.ways((end, next), wait, needs);
            ways.map(move |way| (next, way))
        });
        for (next, way) in ways {
            let extended = || {
                let mut longer = path.clone();
                longer.push((end, *way));
                longer
            };
            if next == from {
                if way.step >= needs && way.wait.is_blocked_by(crossing.hold) {
                    add(&mut rings, extended());
                }
                if rings.len() == bounds.rings_of_a_call {
                    return Closed { rings, extent };
                }
                continue;
            }
            paths += 1;
            if paths > bounds.paths {
                extent = Extent::Part;
            } else {
                open.push_back((extended(), next));
            }
        }
    }
    Closed { rings, extent }
}

/// Returns the weakest step that may close the path to a ring.
fn needed_by(path: &Path) -> Step {
    if path.iter().any(|(_, way)| way.step == Step::Nested) {
        Step::Together
    } else {
        Step::Nested
    }
}

/// Adds a ring, unless other calls form the same one.
fn add(rings: &mut Vec<Path>, ring: Path) {
    let classes = |ring: &Path| ring.iter().map(|(class, _)| *class).collect::<Vec<_>>();
    let found = classes(&ring);
    if rings.iter().all(|known| classes(known) != found) {
        rings.push(ring);
    }
}
