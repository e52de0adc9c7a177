//! Sums up all findings.

use std::fmt;

use super::finding::{Finding, Verdict};

/// The checks that ran, each with its worst verdict.
#[derive(Debug, Default)]
pub(crate) struct Summary(Vec<(&'static str, Verdict)>);

impl Summary {
    pub(crate) fn add(&mut self, finding: &Finding) {
        let mut checks = self.0.iter_mut();
        match checks.find(|(check, _)| *check == finding.check) {
            Some((_, worst)) => *worst = finding.verdict.max(*worst),
            None => self.0.push((finding.check, finding.verdict)),
        }
    }

    /// The worst verdict of all.
    pub(crate) fn worst(&self) -> Verdict {
        let verdicts = self.0.iter().map(|(_, verdict)| *verdict);
        verdicts.max().unwrap_or(Verdict::Ok)
    }

    /// The number of checks with a verdict, and their names.
    fn with(&self, verdict: Verdict) -> (usize, String) {
        let checks = self.0.iter().filter(|(_, of)| *of == verdict);
        let checks: Vec<&str> = checks.map(|(check, _)| *check).collect();
        (checks.len(), checks.join(", "))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.worst() {
            Verdict::Ok | Verdict::Warn => "fit for locks:",
            Verdict::Fail => "not fit for locks:",
        })?;
        let failures = self.with(Verdict::Fail);
        if failures.0 > 0 {
            write!(f, " {} FAIL ({}),", failures.0, failures.1)?;
        }
        let warnings = self.with(Verdict::Warn);
        if warnings.0 > 0 {
            write!(f, " {} warn ({}),", warnings.0, warnings.1)?;
        }
        write!(f, " {} ok", self.with(Verdict::Ok).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_counted_by_their_worst_verdict() {
        let mut summary = Summary::default();
        for finding in [
            Finding::ok("version", "7"),
            Finding::ok("memory", "1 %"),
            Finding::ok("memory", "2 %"),
        ] {
            summary.add(&finding);
        }
        assert_eq!(summary.to_string(), "fit for locks: 2 ok");
        summary.add(&Finding::warn("memory", "91 %"));
        assert_eq!(summary.to_string(), "fit for locks: 1 warn (memory), 1 ok");
        for check in ["eviction", "memory", "disk"] {
            summary.add(&Finding::fail(check, "x"));
        }
        summary.add(&Finding::warn("memory", "91 %"));
        assert_eq!(
            summary.to_string(),
            "not fit for locks: 3 FAIL (memory, eviction, disk), 1 ok"
        );
    }
}
