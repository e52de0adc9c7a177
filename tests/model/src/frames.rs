//! Frames: how nested calls share a lease inside a process, as in the runtime's `call_tree`.
//!
//! A frame has a body, may be carried by futures that outlive it, and keeps its parent alive. It takes
//! its parent's one permit. It gives back its permit, and the outermost frame its lease, when the last
//! reference to it is gone. This model has no time and no server: a lease that is
//! given back is released.

use crate::explore::{Model, Property, Until, search};

/// The number of frames that there may be, ended ones included.
const FRAMES: usize = 5;

/// The number of futures that may carry a frame at a time.
const CARRIED: u8 = 2;

/// A mistake in how frames are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Misshared {
    /// The lease is released when the outermost body ends.
    EndsWithOutermost,
    /// The permit is given back when the body ends, although a future still carries its frame.
    PermitOfBody,
    /// A frame does not keep its parent alive.
    OutlivesParent,
}

/// The model: every way in which the frames of one lease can come and go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    /// A mistake.
    pub misshared: Option<Misshared>,
}

/// Code in the scope of a frame, which may make nested calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Caller {
    Body,
    Carried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Frame {
    /// The parent frame, and the code in it that made this call.
    parent: Option<(usize, Caller)>,
    /// The body runs.
    runs: bool,
    /// The number of futures that carry the frame.
    carried: u8,
    /// References: the body, the futures that carry the frame, and the frames below.
    references: u8,
    /// A frame below has this frame's permit.
    permit_taken: bool,
    /// The frame has its parent's permit.
    has_permit: bool,
}

/// The frames of one lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedLease {
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
    /// The body makes a future carry its frame, which may outlive the body.
    Carry(usize),
    /// The body ends or is dropped, and with it the calls that it made itself.
    End(usize),
    /// A future that carries the frame and is in no call ends, or is dropped.
    Drop(usize),
    /// A future that carries the frame is dropped, and with it the call that it is in.
    DropCalling(usize),
}

impl SharedLease {
    fn outermost() -> SharedLease {
        let mut lease = SharedLease {
            frames: Vec::new(),
            released: false,
        };
        lease.open(None);
        lease
    }

    fn open(&mut self, parent: Option<(usize, Caller)>) {
        if let Some((above, _)) = parent {
            self.frames[above].permit_taken = true;
            self.frames[above].references += 1;
        }
        self.frames.push(Frame {
            parent,
            runs: true,
            carried: 0,
            references: 1,
            permit_taken: false,
            has_permit: parent.is_some(),
        });
    }

    /// Drops the calls that `caller` in this frame made itself.
    fn drop_calls(&mut self, frame: usize, caller: Caller, misshared: Option<Misshared>) {
        for below in 0..self.frames.len() {
            if self.frames[below].parent == Some((frame, caller)) && self.frames[below].runs {
                self.end(below, misshared);
            }
        }
    }

    fn drop_carried(&mut self, frame: usize, misshared: Option<Misshared>) {
        self.frames[frame].carried -= 1;
        self.drop_reference(frame, misshared);
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
            (Some(Misshared::PermitOfBody), Some((above, _))) => self.return_permit(frame, above),
            _ => {}
        }
        self.drop_reference(frame, misshared);
    }

    fn return_permit(&mut self, frame: usize, above: usize) {
        if std::mem::take(&mut self.frames[frame].has_permit) {
            self.frames[above].permit_taken = false;
        }
    }

    fn drop_reference(&mut self, frame: usize, misshared: Option<Misshared>) {
        self.frames[frame].references -= 1;
        if self.frames[frame].references > 0 {
            return;
        }
        match self.frames[frame].parent {
            None => self.released = true,
            Some((above, _)) => {
                self.return_permit(frame, above);
                if misshared != Some(Misshared::OutlivesParent) {
                    self.drop_reference(above, misshared);
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

    /// Whether of any two bodies that run one is nested in the other.
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
    type State = SharedLease;
    type Action = Act;

    fn first(&self) -> SharedLease {
        SharedLease::outermost()
    }

    fn actions(&self, lease: &SharedLease, acts: &mut Vec<Act>) {
        let room = lease.frames.len() < FRAMES;
        for (index, frame) in lease.frames.iter().enumerate() {
            if frame.runs {
                acts.push(Act::End(index));
                if room && !frame.permit_taken {
                    acts.push(Act::Call(index));
                }
                if frame.carried < CARRIED {
                    acts.push(Act::Carry(index));
                }
            }
            if frame.carried > 0 {
                let calling = lease.is_called_by((index, Caller::Carried));
                if calling {
                    acts.push(Act::DropCalling(index));
                }
                if frame.carried > u8::from(calling) {
                    acts.push(Act::Drop(index));
                }
                if room && !frame.permit_taken {
                    acts.push(Act::CallCarried(index));
                }
            }
        }
    }

    fn step(&self, lease: &mut SharedLease, act: Act) {
        match act {
            Act::Call(frame) => lease.open(Some((frame, Caller::Body))),
            Act::CallCarried(frame) => lease.open(Some((frame, Caller::Carried))),
            Act::Carry(frame) => {
                lease.frames[frame].carried += 1;
                lease.frames[frame].references += 1;
            }
            Act::End(frame) => lease.end(frame, self.misshared),
            Act::Drop(frame) => lease.drop_carried(frame, self.misshared),
            Act::DropCalling(frame) => {
                lease.drop_calls(frame, Caller::Carried, self.misshared);
                lease.drop_carried(frame, self.misshared);
            }
        }
    }

    fn reduce(&self, _: &mut SharedLease) {}

    fn properties(&self) -> Vec<Property<Frames>> {
        vec![
            Property::always(
                "of two bodies that run one is nested in the other",
                |_, lease: &SharedLease, _| lease.is_nested(),
            ),
            Property::always(
                "a frame that runs or is carried has the lock",
                |_, lease: &SharedLease, _| !lease.released || !lease.is_used(),
            ),
            Property::always(
                "the lock is released with its last user",
                |_, lease: &SharedLease, _| lease.released || lease.is_used(),
            ),
            Property::sometimes(
                "a future outlives the outermost body",
                |_, lease: &SharedLease, _| !lease.frames[0].runs && lease.is_used(),
            ),
            Property::sometimes(
                "a frame outlives the one that called it",
                |_, lease: &SharedLease, _| {
                    let orphan = |frame: &Frame| {
                        let above = frame.parent.map(|(above, _)| &lease.frames[above]);
                        above.is_some_and(|above| !above.runs && above.parent.is_some())
                    };
                    lease
                        .frames
                        .iter()
                        .any(|frame| frame.carried > 0 && orphan(frame))
                },
            ),
        ]
    }
}

impl Frames {
    /// The number of states, and the rules that are broken or never seen.
    pub fn explore(self) -> (usize, Vec<&'static str>) {
        let search = search(&self, Until::AnyBroken);
        let broken = search.broken.into_keys();
        (search.states, broken.chain(search.unseen).collect())
    }
}
