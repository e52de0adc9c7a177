//! `runs`: shows the last runs of a lock.

use std::fmt;

use lock_runtime::inspect::{Rfc3339, Run};
use serde::Serialize;

use crate::args::{Connection, Runs};
use crate::exit::{Exit, Failure};
use crate::output::{Brief, Form, escape, print};

/// A run in one line.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Line<'a>(&'a Run);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Run {
            began,
            label,
            outcome,
            ..
        } = self.0;
        let (outcome, took) = (outcome.to_string(), Brief::of(self.0.took()).to_string());
        let label = escape(label);
        write!(f, "{}  {outcome:<9} {took:>7}  {label}", Rfc3339(*began))
    }
}

pub(crate) async fn runs(connection: &Connection, runs: Runs, form: Form) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let all = client.runs(runs.key).await?;
    for run in &all {
        print(form, &Line(run))?;
    }
    client.shutdown().await;
    Ok(if all.is_empty() {
        Exit::NEGATIVE
    } else {
        Exit::DONE
    })
}
