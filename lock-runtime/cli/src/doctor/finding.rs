//! The result of one check.

use std::fmt;

use serde::Serialize;

use crate::output::escape;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Ok,
    /// Locks work, but may surprise their users.
    Warn,
    /// Locks do not work, or are not safe.
    Fail,
}

/// The result of a check on one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    /// The name of the check.
    pub(crate) check: &'static str,
    /// The server, as the client names it; empty if the finding concerns all.
    pub(crate) server: String,
    pub(crate) value: String,
    /// Why it matters; empty if all is well.
    pub(crate) reason: String,
    /// What to change; empty if nothing.
    pub(crate) change: String,
}

impl Finding {
    pub(crate) fn ok(check: &'static str, value: impl Into<String>) -> Finding {
        Finding {
            verdict: Verdict::Ok,
            check,
            server: String::new(),
            value: value.into(),
            reason: String::new(),
            change: String::new(),
        }
    }

    pub(crate) fn warn(check: &'static str, value: impl Into<String>) -> Finding {
        let verdict = Verdict::Warn;
        Finding {
            verdict,
            ..Finding::ok(check, value)
        }
    }

    pub(crate) fn fail(check: &'static str, value: impl Into<String>) -> Finding {
        let verdict = Verdict::Fail;
        Finding {
            verdict,
            ..Finding::ok(check, value)
        }
    }

    /// A check that the user has no right to run, by the text of the refusal.
    pub(crate) fn unchecked(check: &'static str, refusal: impl Into<String>) -> Finding {
        let refusal = refusal.into();
        let command = refusal.split_once("run the '");
        let command = command.and_then(|(_, rest)| rest.split_once('\''));
        let value = match command {
            Some((command, _)) => format!("not checked: needs +{command}"),
            None => "not checked".to_owned(),
        };
        Finding::warn(check, value).since(
            refusal,
            "run the doctor as a user with the right to check it: `lockctl acl viewer`",
        )
    }

    /// Adds why it matters, and what to change.
    pub(crate) fn since(mut self, reason: impl Into<String>, change: impl Into<String>) -> Finding {
        (self.reason, self.change) = (reason.into(), change.into());
        self
    }

    pub(crate) fn on(mut self, server: &str) -> Finding {
        self.server = server.to_owned();
        self
    }
}

impl Finding {
    /// Writes the verdict and the check.
    pub(super) fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            Verdict::Ok => "ok  ",
            Verdict::Warn => "warn",
            Verdict::Fail => "FAIL",
        };
        write!(f, "{verdict} {:<12} ", self.check)
    }

    /// Writes why it matters, and what to change.
    pub(super) fn write_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for text in [&self.reason, &self.change] {
            if !text.is_empty() {
                write!(f, "\n       {}", escape(text))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        write!(f, "{}", escape(&self.value))?;
        if !self.server.is_empty() {
            write!(f, "  ({})", escape(&self.server))?;
        }
        self.write_rest(f)
    }
}
