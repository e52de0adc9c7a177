//! The arguments of the program.

use std::path::PathBuf;

use crate::effort::Effort;
use crate::parts::Part;
use crate::readme;

pub(crate) const USAGE: &str = "\
usage: lock-bench [all|PART…] [--quick] [--markdown FILE] [--svg FILE] [--page FILE] [--readme FILE]

parts: cycle callers network server modes cluster quorum instructions attribute retained spread transfers processes
       curve handoff crash crowd held growth operators
--quick     seconds instead of minutes: whether all of it works, and no figure to rely on
--markdown  writes the tables to FILE as Markdown
--svg       writes the plot of the part `curve` to FILE
--page      writes the tables between the two marks `<!-- figures -->` of FILE
--readme    writes six rows between the two marks of FILE; needs the parts cycle, retained, spread,
            transfers and handoff";

/// The parts to measure, and the files to write.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Args {
    pub(crate) parts: Vec<Part>,
    pub(crate) quick: bool,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) page: Option<PathBuf>,
    pub(crate) readme: Option<PathBuf>,
}

impl Args {
    /// Returns `None` if the arguments are invalid.
    pub(crate) fn parse(words: &[String]) -> Option<Args> {
        let mut args = Args::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "all" => args.parts.extend(Part::ALL),
                "--quick" => args.quick = true,
                "--markdown" => args.markdown = Some(words.next()?.into()),
                "--svg" => args.svg = Some(words.next()?.into()),
                "--page" => args.page = Some(words.next()?.into()),
                "--readme" => args.readme = Some(words.next()?.into()),
                part => args.parts.push(Part::parse(part)?),
            }
        }
        if args.parts.is_empty() {
            args.parts.extend(Part::ALL);
        }
        if args.readme.is_some() && !readme::is_measured_by(&args.parts) {
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

    /// For the run that is shown beside the figures.
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
    fn parts_and_files_are_those_named() {
        let args = parse("crash cycle --svg plot.svg --page page.md").unwrap();
        assert_eq!(args.parts, [Part::Crash, Part::Cycle]);
        assert_eq!(args.svg, Some("plot.svg".into()));
        assert_eq!(args.page, Some("page.md".into()));
        assert_eq!(
            (args.markdown, args.readme, args.quick),
            (None, None, false)
        );
    }

    #[test]
    fn the_readme_takes_the_parts_that_measure_its_rows() {
        assert_eq!(parse("cycle --readme README.md"), None);
        for line in [
            "--readme README.md",
            "--readme README.md spread cycle retained handoff transfers",
        ] {
            assert_eq!(parse(line).unwrap().readme, Some("README.md".into()));
        }
    }

    #[test]
    fn invalid_arguments_are_refused() {
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
