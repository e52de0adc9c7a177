//! The scripts of several locks that one owner holds together: `keys_*.lua`.

use super::script::Script;
use super::{
    Answer, Branch, Command, Fence, Mode, OwnerId, Queue, Records, Refusal, Rules, Site, Taken,
    Ticks, Token, Value,
};
use crate::seeded::Seeded;

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeysRun {
    /// The answer. `Waiting` refers to the lock in the way.
    pub answer: Answer,
    /// Which lock is in the way, from 0.
    pub in_the_way: usize,
    /// Whether the owner also has a later lock.
    pub holds_later: bool,
    /// The owners that were announced, each with the lock, in order.
    pub announced: Vec<(usize, OwnerId)>,
    pub taken: Taken,
}

/// Runs one script on the records of several locks, in their order. An acquire takes or confirms
/// the locks up to the first that the owner cannot have; if it does not queue, all or none.
pub fn run_keys(locks: &mut [Records], command: Command, rules: &Rules, site: &Site) -> KeysRun {
    let mut run = Keys {
        locks,
        rules,
        site,
        announced: Vec::new(),
        taken: Taken::default(),
    };
    let (in_the_way, answer) = match command {
        Command::Acquire { owner, ttl, queue } => run.acquire(owner, ttl, queue),
        Command::Renew { owner, ttl } => (0, run.renew(owner, ttl)),
        Command::Release { owner } => (0, run.release(owner)),
        Command::End { owner, .. } => (0, run.end(owner)),
        Command::Reserve { owner, ttl } => (0, run.reserve(owner, ttl)),
        command => unreachable!("{command:?} of several locks"),
    };
    let is_waiting = matches!(answer, Answer::Waiting { .. });
    let holds_later = is_waiting && run.holds_later(in_the_way, command);
    let Keys {
        announced, taken, ..
    } = run;
    KeysRun {
        answer,
        in_the_way,
        holds_later,
        announced,
        taken,
    }
}

/// A script in progress.
struct Keys<'a> {
    locks: &'a mut [Records],
    rules: &'a Rules,
    site: &'a Site,
    announced: Vec<(usize, OwnerId)>,
    taken: Taken,
}

/// The state of one lock, as `acquire` finds it.
enum Found {
    /// The owner holds the lock, under this token.
    Mine(Token),
    /// The owner can take the lock. These entries of its queue are dead.
    Free(Vec<OwnerId>),
    /// Another owner holds it, or this waiter comes first.
    InTheWay(Option<OwnerId>, Vec<OwnerId>),
}

impl Keys<'_> {
    /// Runs a part of the script on one of the locks.
    fn on<T>(&mut self, number: usize, part: impl FnOnce(&mut Script<'_>) -> T) -> T {
        let mut script = Script::new(&mut self.locks[number], self.rules, self.site);
        let outcome = part(&mut script);
        let (announced, _, taken) = script.traces();
        let announced = announced.into_iter().map(|owner| (number, owner));
        self.announced.extend(announced);
        self.taken.add(taken);
        outcome
    }

    fn is_seeded(&self, mistake: Seeded) -> bool {
        self.rules.seeded == Some(mistake)
    }

    fn holds(&self, number: usize, me: OwnerId) -> bool {
        self.locks[number].holder() == Some(me)
    }

    /// Whether an acquire finds that its owner has a lock behind the one in the way: an answer was
    /// lost, and then an earlier lock.
    fn holds_later(&mut self, number: usize, command: Command) -> bool {
        let Command::Acquire { owner, .. } = command else {
            return false;
        };
        let mut later = number + 1..self.locks.len();
        let holds = later.any(|number| self.holds(number, owner));
        if holds {
            self.taken.insert(Branch::KeysHoldALaterOne);
        }
        holds && !self.is_seeded(Seeded::LaterUnseen)
    }

    fn answer(&mut self, branch: Branch, answer: Answer) -> Answer {
        self.taken.insert(branch);
        answer
    }

    fn acquire(&mut self, me: OwnerId, ttl: Ticks, queues: bool) -> (usize, Answer) {
        let (mut mine, mut new) = (Vec::new(), Vec::new());
        let mut in_the_way = None;
        let first = if self.is_seeded(Seeded::EarlierUnchecked) {
            let mut locks = 0..self.locks.len();
            locks.rfind(|&number| self.locks[number].names(me))
        } else {
            None
        };
        for number in first.unwrap_or(0)..self.locks.len() {
            match self.on(number, |script| script.look(me)) {
                Err((branch, refusal)) => {
                    return (0, self.answer(branch, Answer::Refused(refusal)));
                }
                Ok(Found::Mine(token)) => mine.push((number, token)),
                Ok(Found::Free(removed)) => new.push((number, removed)),
                Ok(Found::InTheWay(head, removed)) => {
                    in_the_way = Some((number, head, removed));
                    break;
                }
            }
        }
        let takes = queues || in_the_way.is_none();
        // The first write is refused if it needs memory.
        let needs_memory = match (takes && !new.is_empty(), takes && !mine.is_empty()) {
            (true, _) => true,
            (false, true) => false,
            (false, false) => queues,
        };
        if needs_memory && self.site.mode == Mode::OutOfMemory {
            let refused = Answer::Refused(Refusal::OutOfMemory);
            return (0, self.answer(Branch::KeysWithoutMemory, refused));
        }
        let minted = new.iter().map(|(number, _)| {
            let last = self.locks[*number].last_token();
            (last + self.rules.turns).max(self.site.now)
        });
        let had = mine.iter().map(|&(_, token)| token);
        let token = if self.is_seeded(Seeded::TokenOfTheLast) {
            had.chain(minted).last()
        } else {
            minted.chain(had).max()
        };
        let token = token.unwrap_or(0);
        if takes {
            self.take(me, ttl, token, &mine, &new, in_the_way.is_some());
        }
        let Some((number, head, removed)) = in_the_way else {
            let flagged = self.locks.iter().any(Records::is_flagged);
            return (0, Answer::Held { flagged, token });
        };
        let has_place = self.on(number, |script| script.place(me).is_some());
        self.taken.insert(match (queues, has_place) {
            (false, false) => Branch::KeysStayOutside,
            (false, true) => Branch::KeysTryFromTheQueue,
            (true, false) => Branch::KeysJoin,
            (true, true) => Branch::KeysPoll,
        });
        if head.is_some() {
            self.taken.insert(Branch::KeysServeTheHead);
        }
        let claim = self.rules.claim;
        let answer = self.on(number, |script| {
            // Written first, so that the record of a lock that is granted now has the flag from the
            // beginning.
            if queues {
                script.enqueue(me);
                script.set_flag();
            }
            if let Some(head) = head {
                script.drop_entries(&removed);
                script.grant(head, claim);
            }
            let lock = script.records.lock.expect("another holds it");
            Answer::Waiting {
                remaining: lock.rest,
                position: script.place(me).map_or(0, |place| place as u8 + 1),
            }
        });
        (number, answer)
    }

    /// Takes the new locks, and confirms those that the owner already has.
    fn take(
        &mut self,
        me: OwnerId,
        ttl: Ticks,
        token: Token,
        mine: &[(usize, Token)],
        new: &[(usize, Vec<OwnerId>)],
        is_part: bool,
    ) {
        match (is_part, new.is_empty(), mine.is_empty()) {
            (_, true, true) => {}
            (true, false, _) => self.taken.insert(Branch::KeysTakeAPart),
            (true, true, false) => self.taken.insert(Branch::KeysExtendAPart),
            (false, false, true) => self.taken.insert(Branch::KeysTakeAll),
            (false, false, false) => self.taken.insert(Branch::KeysTakeTheRest),
            (false, true, false) => self.taken.insert(Branch::KeysConfirm),
        }
        for (number, removed) in new {
            self.on(*number, |script| {
                script.drop_entries(removed);
                script.drop_entries(&[me]);
                script.set_fence(token);
                script.write(me, ttl, token);
            });
        }
        for &(number, before) in mine {
            let extends = !self.is_seeded(Seeded::LeavesLeases);
            self.on(number, |script| {
                if extends {
                    script.set_lease(ttl);
                }
                if before < token {
                    script.taken.insert(Branch::KeysRaiseAToken);
                    script.raise_token(token);
                }
            });
        }
    }

    fn renew(&mut self, me: OwnerId, ttl: Ticks) -> Answer {
        let looked_at = if self.is_seeded(Seeded::RenewsTheFirst) {
            1
        } else {
            self.locks.len()
        };
        for number in 0..looked_at {
            if self.on(number, |script| script.is_lock_wrong()) {
                let refused = Answer::Refused(Refusal::WrongType);
                return self.answer(Branch::KeysRenewOfASpoiledLock, refused);
            }
            let any = self.is_seeded(Seeded::NoOwnerCompare);
            let is_there = any && self.locks[number].holder().is_some();
            if !self.holds(number, me) && !is_there {
                return self.answer(Branch::KeysRenewOfALost, Answer::Nil);
            }
        }
        let (mut flagged, mut token) = (false, 0);
        for number in 0..self.locks.len() {
            if self.locks[number].holder().is_none() {
                continue;
            }
            let held = self.on(number, |script| {
                script.raise(ttl, Branch::RenewLengthens, Branch::RenewConfirms)
            });
            if let Answer::Held {
                flagged: this,
                token: of_this,
            } = held
            {
                flagged |= this;
                token = if number == 0 { of_this } else { token };
            }
        }
        self.answer(Branch::KeysRenew, Answer::Held { flagged, token })
    }

    fn release(&mut self, me: OwnerId) -> Answer {
        let mut held = 0;
        for number in 0..self.locks.len() {
            if self.holds(number, me) {
                held += 1;
                if self.locks[number].is_flagged() && !self.is_seeded(Seeded::ReleasesAPart) {
                    return self.answer(Branch::KeysReleaseOfAContended, Answer::Code(2));
                }
            }
        }
        if held == 0 {
            return self.answer(Branch::KeysReleaseOfNothing, Answer::Code(0));
        }
        if held < self.locks.len() {
            return self.answer(Branch::KeysReleaseOfAPart, Answer::Code(2));
        }
        for records in self.locks.iter_mut().filter(|it| !it.is_flagged()) {
            records.lock = None;
        }
        self.answer(Branch::KeysReleaseFrees, Answer::Code(1))
    }

    fn end(&mut self, me: OwnerId) -> Answer {
        let (mut held, mut handed_off, mut any) = (0, false, false);
        for number in 0..self.locks.len() {
            match self.on(number, |script| script.end_one(me)) {
                code @ (1 | 2) => {
                    held += 1;
                    handed_off |= code == 2;
                    any = true;
                }
                0 if self.is_seeded(Seeded::EndsAPart) => break,
                code => any |= code == 3,
            }
        }
        let (branch, code) = match (held == self.locks.len(), handed_off, held > 0, any) {
            (true, false, ..) => (Branch::KeysEndFrees, 1),
            (true, true, ..) => (Branch::KeysEndHandsOff, 2),
            (false, _, true, _) => (Branch::KeysEndOfAPart, 3),
            (false, _, false, true) => (Branch::KeysEndLeaves, 3),
            (false, _, false, false) => (Branch::KeysEndOfNothing, 0),
        };
        self.answer(branch, Answer::Code(code))
    }

    fn reserve(&mut self, me: OwnerId, ttl: Ticks) -> Answer {
        let (mut reserved, mut refused) = (0, None);
        for number in 0..self.locks.len() {
            match self.on(number, |script| script.reserve(me, ttl)) {
                Answer::Code(1) => reserved += 1,
                Answer::Refused(refusal) => refused = Some(refusal),
                _ => {}
            }
        }
        if let Some(refusal) = refused {
            return self.answer(Branch::KeysReserveOfASpoiledLock, Answer::Refused(refusal));
        }
        let (branch, code) = match reserved {
            0 => (Branch::KeysReserveOfNone, -1),
            reserved if reserved < self.locks.len() => (Branch::KeysReserveOfAPart, -1),
            _ => (Branch::KeysReserve, 1),
        };
        self.answer(branch, Answer::Code(code))
    }
}

impl Script<'_> {
    /// Looks at one of several locks. Writes nothing.
    fn look(&mut self, me: OwnerId) -> Result<Found, (Branch, Refusal)> {
        match self.records.lock.map(|lock| lock.value) {
            Some(Value::WrongType) => {
                return Err((Branch::KeysOfASpoiledLock, Refusal::WrongType));
            }
            Some(Value::Ours(ours)) if ours.owner == me => {
                return Ok(Found::Mine(ours.token));
            }
            _ => {}
        }
        match (self.records.fence, &self.records.queue) {
            (Some(Fence::WrongType), _) => {
                return Err((Branch::KeysWithASpoiledFence, Refusal::WrongType));
            }
            (Some(Fence::Text), _) => return Err((Branch::KeysWithABadFence, Refusal::BadFence)),
            (_, Queue::WrongType) => {
                return Err((Branch::KeysWithASpoiledQueue, Refusal::WrongType));
            }
            _ => {}
        }
        if self.records.lock.is_some() {
            return Ok(Found::InTheWay(None, Vec::new()));
        }
        let (head, removed) = self.choose(Some(me), None);
        Ok(match head {
            Some(head) if head != me => Found::InTheWay(Some(head), removed),
            _ => Found::Free(removed),
        })
    }

    /// Raises the token of a lock that the owner has.
    fn raise_token(&mut self, to: Token) {
        if let Some(ours) = self.records.ours_mut() {
            ours.token = to;
        }
        self.set_fence(to);
    }

    /// Ends an owner for one of several locks. Returns 1 freed, 2 handed off, 3 the owner left the
    /// queue, 0 none.
    fn end_one(&mut self, me: OwnerId) -> i8 {
        if self.records.holder() != Some(me) {
            if self.is_lock_wrong() {
                self.taken.insert(Branch::KeysEndOfASpoiledLock);
            }
            if self.records.queue == Queue::WrongType {
                self.taken.insert(Branch::KeysEndInASpoiledQueue);
                return 0;
            }
            let has_queued = self.place(me).is_some();
            self.drop_entries(&[me]);
            return if has_queued { 3 } else { 0 };
        }
        let is_bad_fence = matches!(self.records.fence, Some(Fence::WrongType | Fence::Text));
        if is_bad_fence || self.records.queue == Queue::WrongType {
            self.taken.insert(Branch::KeysEndWithASpoiledRecord);
            self.records.lock = None;
            return 1;
        }
        let (head, removed) = self.choose(None, Some(me));
        self.drop_entries(&[me]);
        self.drop_entries(&removed);
        match head {
            Some(head) => {
                self.grant(head, self.rules.claim);
                2
            }
            None => {
                self.records.lock = None;
                1
            }
        }
    }
}
