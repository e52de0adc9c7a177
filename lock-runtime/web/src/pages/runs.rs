//! The last runs of a lock, on its page.

use lock_runtime::inspect::{Rfc3339, Run, RunOutcome};
use maud::{Markup, html};

use super::time;
use crate::brief::Brief;
use crate::plain::Plain;
use crate::routes::runs::Recorded;

pub(super) fn table(recorded: &Recorded) -> Markup {
    match recorded {
        Recorded::Runs(runs) if runs.is_empty() => html! {},
        Recorded::Unreadable(why) => html! { p.note { "Its runs cannot be read: " (Plain(why)) } },
        Recorded::Runs(runs) => html! {
            h2 { "Last runs" }
            table.cards {
                thead {
                    tr { th { "Began" } th { "Outcome" } th.number { "Took" } th { "Holder" } }
                }
                tbody { @for run in runs { (row(run)) } }
            }
        },
    }
}

fn row(run: &Run) -> Markup {
    let began = Rfc3339(run.began).to_string();
    html! {
        tr {
            td.time data-name="Began" { time datetime=(began) { (time(&began)) } }
            td data-name="Outcome" { (outcome(&run.outcome)) }
            td.number data-name="Took" {
                @if let Some(took) = run.took() { (Brief(took)) } @else { "–" }
            }
            td.label data-name="Holder" { span { (Plain(&run.label)) } }
        }
    }
}

fn outcome(outcome: &RunOutcome) -> Markup {
    let word = Plain(outcome.as_str());
    html! {
        @match outcome {
            RunOutcome::Done | RunOutcome::Running => (word),
            _ => span.bad { (word) },
        }
    }
}
