//! Frames: who shares a hold inside a process, as `holds` in the runtime has it.
//!
//! A frame has a body, may be carried by futures that outlive it, and keeps its parent in being. It
//! occupies its parent's one turn, and gives that and the hold back when its last owner is gone.
//! There is no time and no server here: a hold that is given back is one that is released.

use crate::explore::{Model, Property, Until, search};

/// How many frames there may be, ended ones included.
const FRAMES: usize = 5;

/// How many futures may carry a frame at a time.
const CARRIED: u8 = 2;

/// A mistake in how frames are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Misshared {
    /// The hold is given back when the outermost body ends.
    EndsWithOutermost,
    /// The turn is given back when the body ends, whoever still carries its frame.
    TurnOfBody,
    /// A frame does not keep its parent in being.
    OutlivesParent,
}

/// Every way in which the frames of one hold can come and go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    /// A mistake.
    pub misshared: Option<Misshared>,
}

/// What runs under a frame's scope, and may call on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Caller {
    Body,
    Carried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Frame {
    /// The frame above, and what there called this one.
    parent: Option<(usize, Caller)>,
    /// Its body runs.
    runs: bool,
    /// Futures that carry it.
    carried: u8,
    /// Owners: its body, what carries it, and the frames below.
    owners: u8,
    /// A frame below has its turn.
    taken: bool,
    /// It has its parent's turn.
    has_turn: bool,
}

/// The frames of one hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    frames: Vec<Frame>,
    released: bool,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A nested call is made by the body of this frame.
    Call(usize),
    /// A nested call is made by a future that carries this frame.
    CallCarried(usize),
    /// The body hands its frame to a future that may outlive it.
    Carry(usize),
    /// The body ends, or is dropped: and with it the calls that it made itself.
    End(usize),
    /// A future that carries the frame and is in no call ends, or is dropped.
    Drop(usize),
    /// A future that carries the frame is dropped, and with it the call that it is in.
    DropCalling(usize),
}

impl Hold {
    fn outermost() -> Hold {
        let mut hold = Hold {
            frames: Vec::new(),
            released: false,
        };
        hold.open(None);
        hold
    }

    fn open(&mut self, parent: Option<(usize, Caller)>) {
        if let Some((above, _)) = parent {
            self.frames[above].taken = true;
            self.frames[above].owners += 1;
        }
        self.frames.push(Frame {
            parent,
            runs: true,
            carried: 0,
            owners: 1,
            taken: false,
            has_turn: parent.is_some(),
        });
    }

    /// What `caller` under this frame called itself goes with it.
    fn drop_calls(&mut self, frame: usize, caller: Caller, misshared: Option<Misshared>) {
        for below in 0..self.frames.len() {
            if self.frames[below].parent == Some((frame, caller)) && self.frames[below].runs {
                self.end(below, misshared);
            }
        }
    }

    fn drop_carried(&mut self, frame: usize, misshared: Option<Misshared>) {
        self.frames[frame].carried -= 1;
        self.disown(frame, misshared);
    }

    fn is_called_by(&self, caller: (usize, Caller)) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|frame| frame.runs && frame.parent == Some(caller))
    }

    fn end(&mut self, frame: usize, misshared: Option<Misshared>) {
        self.drop_calls(frame, Caller::Body, misshared);
        self.frames[frame].runs = false;
        match (misshared, self.frames[frame].parent) {
            (Some(Misshared::EndsWithOutermost), None) => self.released = true,
            (Some(Misshared::TurnOfBody), Some((above, _))) => self.give_turn(frame, above),
            _ => {}
        }
        self.disown(frame, misshared);
    }

    fn give_turn(&mut self, frame: usize, above: usize) {
        if std::mem::take(&mut self.frames[frame].has_turn) {
            self.frames[above].taken = false;
        }
    }

    fn disown(&mut self, frame: usize, misshared: Option<Misshared>) {
        self.frames[frame].owners -= 1;
        if self.frames[frame].owners > 0 {
            return;
        }
        match self.frames[frame].parent {
            None => self.released = true,
            Some((above, _)) => {
                self.give_turn(frame, above);
                if misshared != Some(Misshared::OutlivesParent) {
                    self.disown(above, misshared);
                }
            }
        }
    }

    fn is_above(&self, above: usize, mut frame: usize) -> bool {
        while let Some((parent, _)) = self.frames[frame].parent {
            if parent == above {
                return true;
            }
            frame = parent;
        }
        false
    }

    fn running(&self) -> impl Iterator<Item = usize> {
        (0..self.frames.len()).filter(|&frame| self.frames[frame].runs)
    }

    /// Of two bodies that run, one is nested in the other.
    fn is_nested(&self) -> bool {
        self.running().all(|one| {
            self.running()
                .all(|other| one == other || self.is_above(one, other) || self.is_above(other, one))
        })
    }

    fn is_used(&self) -> bool {
        self.frames
            .iter()
            .any(|frame| frame.runs || frame.carried > 0)
    }
}

impl Model for Frames {
    type State = Hold;
    type Action = Act;

    fn first(&self) -> Hold {
        Hold::outermost()
    }

    fn actions(&self, hold: &Hold, acts: &mut Vec<Act>) {
        let room = hold.frames.len() < FRAMES;
        for (index, frame) in hold.frames.iter().enumerate() {
            if frame.runs {
                acts.push(Act::End(index));
                if room && !frame.taken {
                    acts.push(Act::Call(index));
                }
                if frame.carried < CARRIED {
                    acts.push(Act::Carry(index));
                }
            }
            if frame.carried > 0 {
                let calling = hold.is_called_by((index, Caller::Carried));
                if calling {
                    acts.push(Act::DropCalling(index));
                }
                if frame.carried > u8::from(calling) {
                    acts.push(Act::Drop(index));
                }
                if room && !frame.taken {
                    acts.push(Act::CallCarried(index));
                }
            }
        }
    }

    fn next(&self, hold: &Hold, act: Act) -> Hold {
        let mut hold = hold.clone();
        match act {
            Act::Call(frame) => hold.open(Some((frame, Caller::Body))),
            Act::CallCarried(frame) => hold.open(Some((frame, Caller::Carried))),
            Act::Carry(frame) => {
                hold.frames[frame].carried += 1;
                hold.frames[frame].owners += 1;
            }
            Act::End(frame) => hold.end(frame, self.misshared),
            Act::Drop(frame) => hold.drop_carried(frame, self.misshared),
            Act::DropCalling(frame) => {
                hold.drop_calls(frame, Caller::Carried, self.misshared);
                hold.drop_carried(frame, self.misshared);
            }
        }
        hold
    }

    fn properties(&self) -> Vec<Property<Frames>> {
        vec![
            Property::always(
                "of two bodies that run one is nested in the other",
                |_, hold: &Hold, _| hold.is_nested(),
            ),
            Property::always(
                "whoever runs or is carried has the lock",
                |_, hold: &Hold, _| !hold.released || !hold.is_used(),
            ),
            Property::always(
                "the lock is given back with its last user",
                |_, hold: &Hold, _| hold.released || hold.is_used(),
            ),
            Property::sometimes(
                "a future outlives the outermost body",
                |_, hold: &Hold, _| !hold.frames[0].runs && hold.is_used(),
            ),
            Property::sometimes(
                "a frame outlives the one that called it",
                |_, hold: &Hold, _| {
                    let orphan = |frame: &Frame| {
                        let above = frame.parent.map(|(above, _)| &hold.frames[above]);
                        above.is_some_and(|above| !above.runs && above.parent.is_some())
                    };
                    hold.frames
                        .iter()
                        .any(|frame| frame.carried > 0 && orphan(frame))
                },
            ),
        ]
    }
}

impl Frames {
    /// How many states there are, and which rules are broken or which things never seen.
    pub fn explore(self) -> (usize, Vec<&'static str>) {
        let search = search(&self, Until::AnyBroken);
        let broken = search.broken.into_keys();
        (search.states, broken.chain(search.unseen).collect())
    }
}
