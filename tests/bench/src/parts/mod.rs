//! The parts of the measurement: a file for each group of figures that need the same setup.

mod attribute;
mod cluster;
mod contest;
mod crash;
mod curve;
mod cycle;
mod handoff;
mod held;
mod instructions;
mod modes;
mod quorum;
mod retained;
mod server;
mod spread;
mod transfers;

pub(crate) use instructions::{CYCLES, cycles};

use crate::effort::Effort;
use crate::findings::Findings;

/// A part of the figures.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// The question that its figures answer.
    pub(crate) question: &'static str,
    pub(crate) measure: fn(&mut Findings, Effort),
}

const FREE: &str = "What does a free lock cost?";
const NEXT: &str = "How soon has the next caller the lock?";
const MANY: &str = "How often does a lock change hands that many want?";
const AGAIN: &str = "What does a lock cost that one process takes again and again?";
const HELD: &str = "What does a held lock cost?";
const MODES: &str = "What do readers, several keys and Redisson's record cost?";
const CLUSTER: &str = "What does a cluster cost, and how soon does it go on?";
const QUORUM: &str = "What does a quorum cost, and what if a node stops?";

impl Part {
    pub(crate) const ALL: &[Part] = &[
        Part::new("cycle", FREE, cycle::measure),
        Part::new("attribute", FREE, attribute::measure),
        Part::new("spread", FREE, spread::measure),
        Part::new("server", FREE, server::measure),
        Part::new("instructions", FREE, instructions::measure),
        Part::new("handoff", NEXT, handoff::measure),
        Part::new("crash", NEXT, crash::measure),
        Part::new("transfers", MANY, transfers::measure),
        Part::new("curve", MANY, curve::measure),
        Part::new("retained", AGAIN, retained::measure),
        Part::new("held", HELD, held::measure),
        Part::new("modes", MODES, modes::measure),
        Part::new("cluster", CLUSTER, cluster::measure),
        Part::new("quorum", QUORUM, quorum::measure),
    ];

    const fn new(
        name: &'static str,
        question: &'static str,
        measure: fn(&mut Findings, Effort),
    ) -> Part {
        Part {
            name,
            question,
            measure,
        }
    }

    pub(crate) fn parse(name: &str) -> Option<&'static Part> {
        Part::ALL.iter().find(|part| part.name == name)
    }
}
