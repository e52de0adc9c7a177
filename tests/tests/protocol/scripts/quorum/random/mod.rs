//! Random sequences of a node's scripts, with the effects of time, restarts and losses between them. The server and the
//! model must agree after every step: on answers, messages and all records.
//!
//! The model covers none of these: waiters whose process is not subscribed (see `choice`), foreign values (`acquire`),
//! damaged records and a server out of memory (`damage::node`).

mod answer;
mod node;
mod records;
mod step;

use std::cell::RefCell;
use std::collections::BTreeMap;

use harness::{Listener, owner};

use crate::scripts::random::stage::{agree, assert_silent, listen};
use crate::scripts::random::{Listeners, explore, sequences};
use crate::scripts::transcript::Place;
use node::Modelled;
use step::Step;

/// How often each command had each answer.
type Tally = BTreeMap<String, usize>;

/// The answers that a long run meets.
const ALL: &str = "\
Acquire Held, Acquire Early, Acquire Waiting, Yield Held, Yield Early, Yield Waiting, Hold Held, Hold Anothers, Renew Held, Renew Absent, \
Renew Anothers, Release Freed, Release Contended, Release Absent, Release Anothers, End Freed, End HandedOff, End Left, \
End Nothing";

struct Stage {
    server: Place,
    listeners: Listeners,
    sequences: usize,
}

#[test]
fn scripts_of_a_node_agree_with_the_model() {
    let server = Place::fake();
    let listeners = listen(&*server);
    let stage = RefCell::new(Stage {
        server,
        listeners,
        sequences: 0,
    });
    let tally = RefCell::new(Tally::default());
    explore(
        Step::any(),
        4 * sequences(),
        |steps| stage.borrow_mut().play(steps, &mut tally.borrow_mut()),
        || {
            let (all, tally) = (ALL.split(", "), tally.borrow());
            all.filter(|&branch| !tally.contains_key(branch)).collect()
        },
    );
    let Stage {
        server, listeners, ..
    } = stage.into_inner();
    assert_silent(&*server, listeners);
    for (branch, count) in &tally.into_inner() {
        println!("{count:>6} {branch}");
    }
}

impl Stage {
    /// Plays `steps` with a new node; the error describes where the server and the model differ.
    fn play(&mut self, steps: &[Step], tally: &mut Tally) -> Result<(), String> {
        self.sequences += 1;
        let outcome = self.play_all(steps, tally);
        if outcome.is_err() {
            // Messages that were not read must not reach the next sequence.
            self.listeners = listen(&*self.server);
        }
        outcome
    }

    fn play_all(&mut self, steps: &[Step], tally: &mut Tally) -> Result<(), String> {
        // Every fourth node never loses a write.
        let mut node = Modelled::new(&*self.server, self.sequences.is_multiple_of(4));
        for (number, step) in steps.iter().enumerate() {
            let before = node.records.clone();
            let now = node.now;
            step.play(&mut node, tally)
                .and_then(|()| node.compare())
                .and_then(|()| hear(&mut self.listeners, &node))
                .map_err(|difference| {
                    format!("step {number}, {step:?}: {difference}\nat {now}, before: {before:#?}")
                })?;
            node.leave_an_ambiguous_moment()?;
        }
        Ok(())
    }
}

/// Takes the messages that the model expects.
fn hear(listeners: &mut Listeners, node: &Modelled<'_>) -> Result<(), String> {
    for &who in &node.pushed {
        let mut listeners = listeners.iter_mut();
        let (_, listener): &mut (char, Listener) = listeners
            .find(|(letter, _)| *letter == who)
            .expect("every owner listens");
        let expected = owner(who) + &node.node.lock.k;
        agree("message", listener.next_push(), expected)?;
    }
    Ok(())
}
