//! The parts of the measurement: a file for each group of figures that need the same setup.

mod admitted;
mod attribute;
mod callers;
mod cluster;
mod contest;
mod crash;
mod crowd;
mod curve;
mod cycle;
mod growth;
mod handoff;
mod held;
mod instructions;
mod modes;
mod network;
mod operators;
mod processes;
mod quorum;
mod retained;
mod server;
mod spread;
mod transfers;

pub(crate) use instructions::{CYCLES, cycles};

use crate::effort::Effort;
use crate::findings::Findings;
use crate::program::Program;

/// A part of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Cycle,
    Callers,
    Network,
    Server,
    Modes,
    Cluster,
    Quorum,
    Instructions,
    Attribute,
    Retained,
    Spread,
    Transfers,
    Processes,
    Curve,
    Handoff,
    Crash,
    Crowd,
    Held,
    Growth,
    Operators,
}

/// How a part is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) effort: Effort,
    /// Whether this is the run beside the figures, which leaves peers out.
    pub(crate) beside: bool,
}

impl Part {
    pub(crate) const ALL: &[Part] = &[
        Part::Cycle,
        Part::Callers,
        Part::Network,
        Part::Server,
        Part::Modes,
        Part::Cluster,
        Part::Quorum,
        Part::Instructions,
        Part::Attribute,
        Part::Retained,
        Part::Spread,
        Part::Transfers,
        Part::Processes,
        Part::Curve,
        Part::Handoff,
        Part::Crash,
        Part::Crowd,
        Part::Held,
        Part::Growth,
        Part::Operators,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Cycle => "cycle",
            Part::Callers => "callers",
            Part::Network => "network",
            Part::Server => "server",
            Part::Modes => "modes",
            Part::Cluster => "cluster",
            Part::Quorum => "quorum",
            Part::Instructions => "instructions",
            Part::Attribute => "attribute",
            Part::Retained => "retained",
            Part::Spread => "spread",
            Part::Transfers => "transfers",
            Part::Processes => "processes",
            Part::Curve => "curve",
            Part::Handoff => "handoff",
            Part::Crash => "crash",
            Part::Crowd => "crowd",
            Part::Held => "held",
            Part::Growth => "growth",
            Part::Operators => "operators",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Part> {
        Part::ALL.iter().copied().find(|part| part.name() == name)
    }

    /// Whether it depends on the number of cores, so that it is also measured on all of them.
    pub(crate) fn is_put_beside(self) -> bool {
        !matches!(
            self,
            Part::Server
                | Part::Modes
                | Part::Cluster
                | Part::Instructions
                | Part::Curve
                | Part::Crash
                | Part::Crowd
                | Part::Held
                | Part::Growth
                | Part::Operators
        )
    }

    /// The program that it needs beside this one.
    pub(crate) fn program(self) -> Option<Program> {
        match self {
            Part::Attribute | Part::Held | Part::Quorum => Some(Program::COUNTING),
            Part::Operators => Some(Program::LOCKCTL),
            _ => None,
        }
    }

    pub(crate) fn measure(self, findings: &mut Findings, setting: Setting) {
        let measure = match self {
            Part::Cycle => cycle::measure,
            Part::Callers => callers::measure,
            Part::Network => network::measure,
            Part::Server => server::measure,
            Part::Modes => modes::measure,
            Part::Cluster => cluster::measure,
            Part::Quorum => quorum::measure,
            Part::Instructions => instructions::measure,
            Part::Attribute => attribute::measure,
            Part::Retained => retained::measure,
            Part::Spread => spread::measure,
            Part::Transfers => transfers::measure,
            Part::Processes => processes::measure,
            Part::Curve => curve::measure,
            Part::Handoff => handoff::measure,
            Part::Crash => crash::measure,
            Part::Crowd => crowd::measure,
            Part::Held => held::measure,
            Part::Growth => growth::measure,
            Part::Operators => operators::measure,
        };
        measure(findings, setting);
    }
}
