//! What the program was told to do.

use std::path::PathBuf;

use crate::effort::Effort;
use crate::parts::Part;

pub(crate) const USAGE: &str = "\
usage: lock-bench [all|PART…] [--quick] [--markdown FILE] [--svg FILE] [--readme FILE]

parts: cycle callers network server instructions attribute spread transfers processes curve handoff
       crash crowd held growth
--quick     seconds instead of minutes: whether all of it works, and no figure to rely on
--markdown  writes the tables to FILE as Markdown
--svg       writes the plot of the part `curve` to FILE
--readme    writes the tables between the two marks `<!-- figures -->` of FILE";

/// What to measure, and where it goes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Args {
    pub(crate) parts: Vec<Part>,
    pub(crate) quick: bool,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) readme: Option<PathBuf>,
}

impl Args {
    /// None if they make no sense.
    pub(crate) fn parse(words: &[String]) -> Option<Args> {
        let mut args = Args::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "all" => args.parts.extend(Part::ALL),
                "--quick" => args.quick = true,
                "--markdown" => args.markdown = Some(words.next()?.into()),
                "--svg" => args.svg = Some(words.next()?.into()),
                "--readme" => args.readme = Some(words.next()?.into()),
                part => args.parts.push(Part::parse(part)?),
            }
        }
        if args.parts.is_empty() {
            args.parts.extend(Part::ALL);
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

    /// For what is put beside.
    pub(crate) fn effort_beside(&self) -> Effort {
        if self.quick {
            Effort::QUICK
        } else {
            Effort::BESIDE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Args> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Args::parse(&words)
    }

    #[test]
    fn everything_is_measured_if_nothing_is_said() {
        assert_eq!(parse("").unwrap().parts, Part::ALL);
        assert_eq!(parse("all --quick").unwrap().parts, Part::ALL);
    }

    #[test]
    fn parts_and_files_are_what_was_named() {
        let args = parse("crash cycle --svg plot.svg --readme README.md").unwrap();
        assert_eq!(args.parts, [Part::Crash, Part::Cycle]);
        assert_eq!(args.svg, Some("plot.svg".into()));
        assert_eq!(args.readme, Some("README.md".into()));
        assert_eq!((args.markdown, args.quick), (None, false));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["cycles", "--slow", "--svg", "all --markdown"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn the_usage_names_every_part() {
        for part in Part::ALL {
            assert!(USAGE.contains(part.name()), "{}", part.name());
        }
    }
}
