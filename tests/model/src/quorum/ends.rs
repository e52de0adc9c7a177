//! The ends of an owner: one per node, each run by the runtime's machine.

use std::time::Duration;

use super::UNIT;
use super::records::Owner;
use super::scripts::{Answer, Command};
use super::steps::may_store;
use super::world::{End, World};
use crate::backend::engine::NOW;
use crate::backend::engine::ending::{Ending, Event, Then};
use crate::backend::wire::reply::EndReply;

/// After this time no command of an owner can arrive.
const SETTLED: Duration = Duration::from_secs(10);

/// The model chooses the length of each pause.
const JITTER: f64 = 0.5;

impl World {
    pub(super) fn end(&mut self, id: Owner) {
        let owner = &mut self.owners[usize::from(id)];
        owner.renewal = None;
        owner.counts.fill(None);
        let endings = owner.ballot.end().expect("an owner is ended once");
        for (node, site) in self.nodes.iter_mut().enumerate() {
            let link = &mut site.links[usize::from(id)];
            link.push = false;
            let outstanding = &mut owner.ballot.place_mut(node).outstanding;
            for (command, ..) in link.down.drain(..) {
                if may_store(command) {
                    outstanding.answered(link.connection);
                }
            }
        }
        // A release either acts like an end, or is answered that an end must follow.
        for (node, _) in endings {
            let end = End {
                command: Command::End {
                    proposal: self.now * UNIT,
                },
                ending: Ending::of_node(true),
            };
            self.write_end(id, node, end);
        }
    }

    /// Writes an end behind the commands in flight.
    fn write_end(&mut self, id: Owner, node: usize, mut end: End) {
        // Late commands are either lost or carried out, and the horizon is nearer than the time
        // after which none can arrive. So that time counts as over if no command is late.
        let is_late = self.has_stray(id, node as u8);
        let now = if is_late { NOW } else { NOW + SETTLED };
        // The model sends an end even if the machine chose a release.
        end.ending.command(|| now);
        let link = &mut self.nodes[node].links[usize::from(id)];
        let place = self.owners[usize::from(id)].ballot.place_mut(node);
        place.outstanding.ending(link.connection);
        link.end = Some(end);
    }

    /// Processes the outcome of an end, and repeats the end if necessary.
    pub(super) fn end_came_to(&mut self, id: Owner, node: usize, mut end: End, event: Event) {
        let place = self.owners[usize::from(id)].ballot.place_mut(node);
        let then = end
            .ending
            .on(event, &place.outstanding, || NOW, || JITTER)
            .then;
        if !matches!(then, Then::Keep | Then::Over) {
            self.write_end(id, node, end);
        }
    }
}

/// The runtime's interpretation of the answer to an end.
pub(super) fn event_of(answer: Answer) -> Event {
    Event::Answered(match answer {
        Answer::Freed => EndReply::Freed,
        Answer::HandedOff => EndReply::HandedOff,
        Answer::Left => EndReply::LeftQueue,
        _ => EndReply::NotOurs,
    })
}
