//! The arguments of the program.

use std::path::PathBuf;

use crate::effort::Effort;
use crate::parts::Part;

pub(crate) const USAGE: &str = "\
usage: lock-bench [PART…] [--quick] [--all-cores] [--write ROOT]

parts: cycle attribute spread server instructions handoff crash transfers curve retained held modes cluster quorum;
       without one, all of them
--quick      seconds instead of minutes: whether all of it works, and no figure to rely on
--all-cores  on all cores of the machine instead of one
--write      writes the figures of all parts between the marks `<!-- figures -->` of the page
             lock-runtime/src/docs/performance.md below ROOT, and the plot to pictures/transfers.svg there";

/// The parts to measure, and the path of the page with the figures.
#[derive(Debug, Default)]
pub(crate) struct Args {
    pub(crate) parts: Vec<&'static Part>,
    pub(crate) quick: bool,
    pub(crate) all_cores: bool,
    pub(crate) root: Option<PathBuf>,
}

impl Args {
    /// Returns `None` if the arguments are invalid.
    pub(crate) fn parse(words: &[String]) -> Option<Args> {
        let mut args = Args::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => args.quick = true,
                "--all-cores" => args.all_cores = true,
                "--write" => args.root = Some(words.next()?.into()),
                part => args.parts.push(Part::parse(part)?),
            }
        }
        if args.parts.is_empty() {
            args.parts.extend(Part::ALL);
        } else if args.root.is_some() {
            return None;
        }
        Some(args)
    }

    pub(crate) fn effort(&self) -> Effort {
        if self.quick {
            Effort::QUICK
        } else {
            Effort::FULL
        }
    }
}
