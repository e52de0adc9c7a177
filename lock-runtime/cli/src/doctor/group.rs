//! Merges identical findings of several servers.

use std::fmt;

use super::finding::{Finding, Verdict};
use crate::output::escape;

/// How many different values of healthy servers are shown.
const VALUES: usize = 3;

/// The findings of one check with the same verdict and reason.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    findings: Vec<&'a Finding>,
    /// The number of servers.
    servers: usize,
}

/// Groups findings, in the order of the first of each group.
pub(crate) fn groups(findings: &[Finding], servers: usize) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in findings {
        match groups.iter_mut().find(|group| group.takes(finding)) {
            Some(group) => group.findings.push(finding),
            None => groups.push(Group {
                findings: vec![finding],
                servers,
            }),
        }
    }
    groups
}

impl Group<'_> {
    fn takes(&self, finding: &Finding) -> bool {
        let alike = |finding: &Finding| {
            let Finding {
                verdict,
                check,
                reason,
                change,
                ..
            } = finding;
            (*verdict, *check, reason.clone(), change.clone())
        };
        alike(self.findings[0]) == alike(finding)
    }

    /// The distinct values with their servers, in the order of the first server of each.
    fn values(&self) -> Vec<(&str, Vec<&str>)> {
        let mut values: Vec<(&str, Vec<&str>)> = Vec::new();
        for finding in &self.findings {
            match values.iter_mut().find(|(value, _)| *value == finding.value) {
                Some((_, servers)) => servers.push(&finding.server),
                None => values.push((&finding.value, vec![&finding.server])),
            }
        }
        values
    }
}

impl fmt::Display for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, _, ..] = self.findings[..] else {
            return write!(f, "{}", self.findings[0]);
        };
        let values = self.values();
        let is_all = self.findings.len() == self.servers;
        let shown = if is_all && (first.verdict == Verdict::Ok || values.len() == 1) {
            let mut texts: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
            let others = texts.len().saturating_sub(VALUES);
            texts.truncate(VALUES);
            let more = match others {
                0 => String::new(),
                others => format!(" and {others} others"),
            };
            format!("{}{more}  (all {} servers)", texts.join(", "), self.servers)
        } else {
            let texts = values
                .iter()
                .map(|(value, servers)| format!("{value}  ({})", servers.join(", ")));
            texts.collect::<Vec<_>>().join(", ")
        };
        first.write_head(f)?;
        write!(f, "{}", escape(&shown))?;
        first.write_rest(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(findings: &[Finding], servers: usize) -> Vec<String> {
        let groups = groups(findings, servers);
        groups.iter().map(ToString::to_string).collect()
    }

    /// A finding on each of the servers `a`, `b` and so on, with these values.
    fn on_each(finding: impl Fn(&str) -> Finding, values: &[&str]) -> Vec<Finding> {
        let servers = ["a", "b", "c", "d", "e"];
        let each = servers.iter().zip(values);
        each.map(|(server, value)| finding(value).on(server))
            .collect()
    }

    #[test]
    fn equal_findings_of_all_servers_share_a_line() {
        let ok = |value: &str| Finding::ok("version", value);
        assert_eq!(
            shown(&on_each(ok, &["7.0", "7.0", "7.0"]), 3),
            ["ok   version      7.0  (all 3 servers)"]
        );
        assert_eq!(
            shown(&on_each(ok, &["7.0", "7.2", "7.0"]), 3),
            ["ok   version      7.0, 7.2  (all 3 servers)"]
        );
        assert_eq!(
            shown(&on_each(ok, &["1", "2", "3", "4", "5"]), 5),
            ["ok   version      1, 2, 3 and 2 others  (all 5 servers)"]
        );
        assert_eq!(shown(&[ok("7.0")], 1), ["ok   version      7.0"]);
    }

    #[test]
    fn server_that_differs_is_named() {
        let ok = |value: &str| Finding::ok("memory", value);
        let warn = |value: &str| Finding::warn("memory", value).since("it fills", "raise it");
        let mut findings = on_each(ok, &["1 %", "2 %"]);
        findings.push(warn("91 %").on("c"));
        assert_eq!(
            shown(&findings, 3),
            [
                "ok   memory       1 %  (a), 2 %  (b)",
                "warn memory       91 %  (c)\n       it fills\n       raise it"
            ]
        );
        assert_eq!(
            shown(&on_each(warn, &["91 %", "92 %", "91 %"]), 3),
            ["warn memory       91 %  (a, c), 92 %  (b)\n       it fills\n       raise it"]
        );
        assert_eq!(
            shown(&on_each(warn, &["91 %", "91 %"]), 2),
            ["warn memory       91 %  (all 2 servers)\n       it fills\n       raise it"]
        );
    }

    #[test]
    fn different_reasons_stay_apart() {
        let failed = ["refused", "timed out"]
            .map(|reason| Finding::fail("server", "no answer").since(reason, "look at its log"));
        assert_eq!(shown(&failed, 2).len(), 2);
    }
}
