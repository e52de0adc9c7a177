//! Explores every event at every time, and counts the outstanding confirmations.

use std::collections::HashSet;

use super::*;

const TTL: Duration = Duration::from_secs(9);

const TURNS: u32 = 3;

/// How long the lease may be retained.
const RETAIN: Duration = Duration::from_secs(2);

/// Nothing changes in between.
const TICK: Duration = Duration::from_millis(500);

/// A held lock, and everything known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct World {
    holding: Holding,
    stage: Stage,
    /// The number of ticks since the grant, and the tick of the deadline.
    now: u32,
    deadline: u32,
    /// Renewals in flight, and how many of them are confirmations.
    renewals: u8,
    confirming: u8,
    /// The last confirmation was on a connection from before the break.
    in_doubt: bool,
    waiters_queue: bool,
    promoted: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Held,
    Retained { until: u32 },
    Lost,
}

impl World {
    fn begin(is_contended: bool, heads_queue: bool) -> World {
        World {
            holding: Holding::granted(at(0), is_contended, heads_queue),
            stage: Stage::Held,
            now: 0,
            deadline: 18,
            renewals: 0,
            confirming: 0,
            in_doubt: false,
            waiters_queue: is_contended,
            promoted: 0,
        }
    }

    fn next(&self) -> Vec<World> {
        let mut next = Vec::new();
        if self.now < self.deadline {
            next.push(self.with(|world| world.now += 1));
        }
        match self.stage {
            Stage::Lost => {}
            Stage::Retained { .. } => {
                for facts in self.facts() {
                    next.extend(self.resumed(TTL, &facts));
                    next.extend(self.resumed(TTL / 2, &facts));
                }
            }
            Stage::Held => {
                next.push(self.with(World::doubted));
                next.push(self.with(World::lost));
                for contended in [false, true] {
                    next.push(self.with(|world| {
                        world.holding.note_contended(contended);
                        world.waiters_queue |= contended;
                    }));
                }
                if self.renewals < 2 {
                    next.push(self.with(World::renews));
                    next.push(self.with(|world| {
                        world.holding.renews_out_of_turn();
                        world.renewals += 1;
                    }));
                }
                if self.renewals > 0 {
                    next.push(self.with(|world| world.answered(false)));
                    next.push(self.with(|world| world.answered(true)));
                    next.push(self.with(World::unanswered));
                }
                for facts in self.facts() {
                    for next_ttl in [None, Some(TTL), Some(TTL / 2)] {
                        next.extend(self.done(next_ttl, &facts));
                    }
                }
            }
        }
        next
    }

    fn with(&self, step: impl FnOnce(&mut World)) -> World {
        let mut world = *self;
        step(&mut world);
        world.check();
        world
    }

    /// Returns the facts that may be true of the lease in this world.
    fn facts(&self) -> Vec<Facts> {
        let facts = |flags: u32| Facts {
            now: at(self.now),
            deadline: at(self.deadline),
            ttl: TTL,
            is_named: flags & 1 != 0,
            reserves: flags & 2 != 0,
            // The lease may also be lost for another reason.
            is_over: self.now >= self.deadline || flags & 8 != 0,
            is_sure: flags & 4 != 0,
            turns: TURNS,
        };
        (0..16).map(facts).collect()
    }

    /// A caller may take the lease only if the server could have granted it the same one.
    fn check_taken(&self, ttl: Duration, facts: &Facts) {
        assert_eq!(ttl, TTL, "another ttl: {self:?}");
        assert!((self.deadline - self.now) * TICK >= TTL * 2 / 3, "{self:?}");
        assert!(!facts.reserves && !facts.is_over, "{facts:?}");
        assert!(u32::from(self.holding.turn()) + 1 < TURNS, "{self:?}");
        let others_wait = self.waiters_queue || facts.is_named;
        assert!(!others_wait || self.now * TICK < MAX_LOCAL_TIME, "{self:?}");
    }

    fn done(&self, next: Option<Duration>, facts: &Facts) -> Option<World> {
        match self.holding.done(next, RETAIN, facts) {
            Done::Ends => {
                let is_short = (self.deadline - self.now) * TICK < TTL * 2 / 3;
                let is_last = u32::from(self.holding.turn()) + 1 >= TURNS;
                let is_wanted = self.waiters_queue || facts.is_named;
                let is_unfair = is_wanted && self.now * TICK >= MAX_LOCAL_TIME;
                let is_unfit = is_short || is_last || facts.reserves || facts.is_over;
                match next {
                    Some(TTL) => assert!(is_unfit || is_unfair, "it fits: {self:?}"),
                    Some(_) => {}
                    None => {
                        let is_unsure = self.in_doubt || !facts.is_sure;
                        let has_room = (self.deadline - self.now) * TICK > TTL * 2 / 3;
                        let may_stay = has_room && !is_unfit && !is_wanted;
                        let is_unanswered = self.holding.is_renewing();
                        assert!(!may_stay || is_unsure || is_unanswered, "{self:?}");
                    }
                }
                None
            }
            Done::HandsOver => {
                self.check_taken(next.expect("there is a next caller"), facts);
                Some(self.with(World::handed_over))
            }
            Done::Retains(time) => {
                assert_eq!(next, None, "a caller waits: {self:?}");
                assert!(!facts.is_named && !self.waiters_queue, "{self:?}");
                assert!(!self.in_doubt && facts.is_sure, "{self:?}");
                assert!(!self.holding.is_renewing(), "{self:?}");
                assert!(!facts.reserves && !facts.is_over, "{facts:?}");
                assert!(time <= RETAIN, "{time:?}");
                let until = at(self.now) + time;
                let left = at(self.deadline).since(until);
                assert!(left >= TTL * 2 / 3, "no caller could have it: {self:?}");
                let ticks = u32::try_from(time.as_millis() / TICK.as_millis()).unwrap();
                Some(self.with(|world| {
                    world.stage = Stage::Retained {
                        until: world.now + ticks,
                    };
                }))
            }
        }
    }

    fn resumed(&self, ttl: Duration, facts: &Facts) -> Option<World> {
        let Stage::Retained { until } = self.stage else {
            return None;
        };
        if self.now >= until || !self.holding.may_go_to(ttl, facts) {
            return None;
        }
        self.check_taken(ttl, facts);
        Some(self.with(|world| {
            world.stage = Stage::Held;
            world.handed_over();
        }))
    }

    fn handed_over(&mut self) {
        let turn = self.holding.turn();
        self.confirming -= u8::from(self.holding.handed_over());
        assert_eq!(self.holding.turn(), turn + 1);
        if self.holding.is_in_doubt() {
            self.holding.doubted();
        }
        // The lease is confirmed for its next holder.
        assert_eq!(self.holding.is_unconfirmed(), self.in_doubt, "{self:?}");
    }

    fn doubted(&mut self) {
        self.holding.doubted();
        self.in_doubt = true;
    }

    fn renews(&mut self) {
        let confirms = self.holding.renews();
        assert!(!confirms || self.in_doubt, "{self:?}");
        self.confirming += u8::from(confirms);
        self.renewals += 1;
        assert!(!self.in_doubt || self.confirming == 1, "{self:?}");
    }

    fn answered(&mut self, is_stale: bool) {
        self.confirming -= u8::from(self.holding.confirmed(is_stale));
        self.renewals -= 1;
        self.in_doubt &= is_stale;
        assert!(!self.holding.is_renewing(), "{self:?}");
        if !is_stale {
            self.deadline = (self.now + 18).min(30);
        }
    }

    fn unanswered(&mut self) {
        self.confirming -= u8::from(self.holding.unanswered());
        self.renewals -= 1;
    }

    fn lost(&mut self) {
        self.promoted += u8::from(self.holding.lost());
        self.stage = Stage::Lost;
        self.confirming -= u8::from(self.holding.confirmation_is_over());
        assert!(!self.holding.lost(), "it promotes once: {self:?}");
    }

    fn check(&self) {
        let is_outstanding = self.holding.is_in_doubt() && !self.holding.is_unconfirmed();
        assert_eq!(self.confirming, u8::from(is_outstanding), "{self:?}");
        if self.stage == Stage::Held {
            assert_eq!(self.holding.is_in_doubt(), self.in_doubt, "{self:?}");
            assert_eq!(self.holding.is_contended(), self.waiters_queue, "{self:?}");
        }
        assert!(u32::from(self.holding.turn()) < TURNS, "{self:?}");
        assert!(self.promoted <= 1, "{self:?}");
        let promotes = self.promoted == 1;
        assert!(!promotes || !self.holding.heads_queue(), "{self:?}");
    }
}

fn at(ticks: u32) -> Moment {
    Moment::FIRST + ticks * TICK
}

#[test]
fn lease_goes_to_callers_that_could_be_granted_it_and_is_confirmed_or_ends() {
    let mut known = HashSet::new();
    for is_contended in [false, true] {
        for heads_queue in [false, true] {
            let begin = World::begin(is_contended, heads_queue);
            known.insert(begin);
            let mut open = vec![begin];
            while let Some(world) = open.pop() {
                for next in world.next() {
                    if known.insert(next) {
                        open.push(next);
                    }
                }
            }
            let lost = begin.with(World::lost);
            assert_eq!(lost.promoted, u8::from(heads_queue));
        }
    }
    assert!(known.len() > 1_000, "{}", known.len());
}
