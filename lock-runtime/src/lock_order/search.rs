//! Searches the rings that a new edge closes.

use std::collections::VecDeque;

use super::bounds::Bounds;
use super::class::ClassId;
use super::crossing::Crossing;
use super::edges::Edges;

/// The edges of a ring, each with the class that it leads from. The first is the new edge.
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

/// Searches the rings that a new edge closes, as many as the bounds allow. No ring passes a class twice, and on each of
/// its locks the call that waits is blocked by the one that holds it.
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
        let wait = path[path.len() - 1].1.wait;
        for &next in edges.after(end) {
            let Some(way) = edges.strongest((end, next), wait) else {
                continue;
            };
            let extended = || {
                let mut longer = path.clone();
                longer.push((end, *way));
                longer
            };
            if next == from {
                if way.wait.is_blocked_by(crossing.hold) {
                    rings.push(extended());
                }
                if rings.len() == bounds.rings_of_a_call {
                    return Closed { rings, extent };
                }
            } else if leading_back.contains(&next)
                && next != end
                && path.iter().all(|(class, _)| *class != next)
            {
                paths += 1;
                if paths > bounds.paths {
                    extent = Extent::Part;
                } else {
                    open.push_back((extended(), next));
                }
            }
        }
    }
    Closed { rings, extent }
}
