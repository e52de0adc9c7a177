//! Random answers through the loops that were here before and through the machine: the same commands at the same times.

use super::*;
use crate::backend::wire::outstanding::ConnectionId;
use crate::lease::fencing_token::FencingToken;

type Ended = Result<EndReply, bool>; // Err(true): refused

#[derive(Clone)]
struct Env {
    seed: u64,
    now: u64,
    owner: Outstanding,
    connection: u64,
    log: Vec<String>,
    until: Option<u64>,
    quick: bool,
}

const MS: u64 = 1_000_000;

impl Env {
    fn random(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    fn of(&mut self, n: u64) -> u64 {
        (self.random() >> 16) % n
    }

    fn moment(&self) -> Moment {
        Moment::from_nanos(self.now)
    }

    fn sleep(&mut self, pause: Duration) {
        self.log.push(format!("{} sleeps {pause:?}", self.now));
        self.now += pause.as_nanos() as u64;
        // It may run late.
        if self.of(8) == 0 {
            self.now += self.of(9_000) * MS;
        }
    }

    /// The outcome, and whether the caller's time was up before that.
    fn send(&mut self, command: Command, counted: bool) -> (Ended, bool) {
        self.log
            .push(format!("{} {command:?} counted {counted}", self.now));
        self.owner.ending(ConnectionId(self.connection));
        let time = match self.of(4) {
            0 => self.of(3_000) * MS,
            1 => self.of(400) * MS,
            _ => self.of(3) * MS,
        };
        self.now += time + 1;
        let is_late = self.quick && self.until.is_some_and(|until| self.now >= until);
        let ended = match self.of(8) {
            0 => Err(true),
            1..=3 => Err(false),
            _ => Ok(match command {
                Command::Release => {
                    [EndReply::Freed, EndReply::Contended, EndReply::NotOurs][self.of(3) as usize]
                }
                Command::Rest(_) => [EndReply::Rests, EndReply::NotOurs][self.of(2) as usize],
                Command::End => [
                    EndReply::Freed,
                    EndReply::HandedOff,
                    EndReply::LeftQueue,
                    EndReply::NotOurs,
                ][self.of(4) as usize],
                Command::EndForSuccessor => [
                    EndReply::SuccessorHolds(Grant {
                        contended: false,
                        token: FencingToken::absent(7),
                    }),
                    EndReply::HandedOff,
                    EndReply::LeftQueue,
                    EndReply::NotOurs,
                ][self.of(4) as usize],
            }),
        };
        match ended {
            Err(false) => {
                if self.of(2) == 0 {
                    self.owner.ending_is_known(); // unsent
                }
                if self.of(2) == 0 {
                    self.connection += 1;
                }
            }
            _ => self.owner.ending_is_known(),
        }
        (ended, is_late)
    }
}

// ---- The loops as they were in remote/release.rs and remote/reaper.rs, without await.

struct OldReport {
    owed: bool,
}

impl OldReport {
    fn send(&mut self, env: &mut Env, outcome: Report) {
        if std::mem::replace(&mut self.owed, false) {
            env.log.push(format!("{} report {outcome:?}", env.now));
        }
    }
}

fn needs_another_end(ended: &Ended, owner: &Outstanding) -> bool {
    match ended {
        Ok(_) => false,
        Err(false) => true,
        Err(true) => owner.may_hold(),
    }
}

fn outcome_of(ended: &Ended) -> Report {
    match ended {
        Ok(EndReply::NotOurs | EndReply::LeftQueue) => Report::NotOurs,
        Ok(EndReply::Rests) => Report::Rests,
        Ok(_) => Report::Freed,
        Err(_) => Report::Unconfirmed,
    }
}

fn end_or_rest(env: &mut Env, rests_until: &mut Option<Moment>, counted: bool) -> (Ended, bool) {
    let rest = rests_until.map(|until| until.since(env.moment()));
    let Some(time) = rest.filter(|rest| *rest >= SHORTEST_REST) else {
        return env.send(Command::End, counted);
    };
    let rested = env.send(Command::Rest(time), counted);
    if rested.0.is_ok() {
        *rests_until = None;
    }
    rested
}

fn may_repeat(env: &mut Env, ended: &Ended, until: u64, failures: &mut u32) -> bool {
    if !matches!(ended, Err(false)) || env.now >= until {
        return false;
    }
    *failures += 1;
    let pause = env.now + 10 * MS * (1 << (*failures).min(5)) * 3 / 4;
    let pause = pause.min(until) - env.now;
    env.log.push(format!("{} backs off {pause}", env.now));
    env.now += pause;
    true
}

struct Begin {
    contended: bool,
    heads: bool,
    rests_until: Option<Moment>,
    mode: Mode,
    has_next: bool,
}

fn promote(env: &mut Env, head: &str) {
    env.log.push(format!("{} promotes {head}", env.now));
}

fn old_release(env: &mut Env, begin: &Begin, is_sticky: bool) {
    let (mut contended, mut heads, mut rests_until) =
        (begin.contended, begin.heads, begin.rests_until);
    let until = env.until.unwrap();
    let mut report = OldReport { owed: true };
    let rests = rests_until.is_some();
    let mut failures = 0;
    let outcome = 'first: {
        if heads && !rests && begin.mode != Mode::Write && begin.has_next {
            heads = false;
            contended = true;
            let (ended, late) = env.send(Command::EndForSuccessor, true);
            if late {
                report.send(env, Report::Unconfirmed);
            }
            match &ended {
                Ok(EndReply::SuccessorHolds(_)) => promote(env, "Granted"),
                Ok(EndReply::HandedOff) => promote(env, "Confirmed"),
                Err(_) => promote(env, "Queued"),
                Ok(_) => promote(env, "Fresh"),
            }
            if !may_repeat(env, &ended, until, &mut failures) {
                break 'first ended;
            }
        }
        loop {
            let (ended, late) = if contended || rests {
                end_or_rest(env, &mut rests_until, true)
            } else {
                env.send(Command::Release, true)
            };
            if late {
                report.send(env, Report::Unconfirmed);
            }
            match ended {
                Ok(EndReply::Contended) => contended = true,
                ended => {
                    if !may_repeat(env, &ended, until, &mut failures) {
                        break 'first ended;
                    }
                }
            }
        }
    };
    if heads {
        promote(env, "Fresh");
    }
    let told = match outcome_of(&outcome) {
        Report::NotOurs if env.owner.may_have_ended() => Report::Unconfirmed,
        told => told,
    };
    report.send(env, told);
    let is_unanswered = needs_another_end(&outcome, &env.owner);
    if is_unanswered || env.owner.is_tainted() {
        old_settle(env, is_unanswered, rests_until, is_sticky);
    }
}

fn old_reap(env: &mut Env, is_sticky: bool) {
    if !env.owner.may_be_stored() {
        return;
    }
    let (ended, _) = env.send(Command::End, true);
    let is_unanswered = needs_another_end(&ended, &env.owner);
    old_settle(env, is_unanswered, None, is_sticky);
}

fn old_settle(
    env: &mut Env,
    mut is_unanswered: bool,
    mut rests_until: Option<Moment>,
    is_sticky: bool,
) {
    env.quick = false;
    let mut settling = Settling::begin(&env.owner, env.moment());
    let mut counted = is_unanswered;
    while let Some(pause) = settling.pause(&env.owner, is_unanswered, env.moment(), || 0.5) {
        env.sleep(pause);
        let is_last = settling.is_last(env.moment());
        if is_last {
            counted = false;
        }
        let (ended, _) = end_or_rest(env, &mut rests_until, counted);
        if !needs_another_end(&ended, &env.owner) {
            (is_unanswered, counted) = (false, false);
            if is_last {
                break;
            }
        } else if !is_sticky {
            is_unanswered = true;
        }
    }
}

// ---- The loop as it was in redis/quorum/settling.rs.

fn old_node(env: &mut Env, mut ending: Command) {
    let mut settling: Option<Settling> = None;
    let mut counted = true;
    loop {
        let is_last = settling.is_some_and(|settling| settling.is_last(env.moment()));
        let (ended, _) = env.send(ending, counted && !is_last);
        if let Ok(EndReply::Contended) = ended {
            ending = Command::End;
            continue;
        }
        let (now, owner) = (env.moment(), &env.owner);
        let is_unanswered = needs_another_end(&ended, owner);
        let settling = settling.get_or_insert_with(|| Settling::begin(owner, now));
        let pause = settling.pause(owner, is_unanswered, now, || 0.5);
        if !is_unanswered || is_last {
            counted = false;
        }
        match pause.filter(|_| is_unanswered || !is_last) {
            Some(pause) => env.sleep(pause),
            None => break,
        }
        ending = Command::End;
    }
}

// ---- The machine.

fn event(ended: Ended) -> Event {
    match ended {
        Ok(answer) => Event::Answered(answer),
        Err(true) => Event::Refused,
        Err(false) => Event::Unavailable,
    }
}

fn report(env: &mut Env, report: Option<Report>) {
    if let Some(report) = report {
        env.log.push(format!("{} report {report:?}", env.now));
    }
}

fn drive(env: &mut Env, mut ending: Ending) {
    let now = env.moment();
    let mut command = ending.command(|| now);
    loop {
        let (ended, late) = env.send(command, ending.is_awaited());
        if late {
            let late = ending.late();
            report(env, late);
        }
        let now = env.moment();
        let reaction = ending.on(event(ended), &env.owner, || now, || 0.5);
        match reaction.promotes {
            None => {}
            Some(Head::Fresh) => promote(env, "Fresh"),
            Some(Head::Queued) => promote(env, "Queued"),
            Some(Head::Confirmed) => promote(env, "Confirmed"),
            Some(Head::Granted(_)) => promote(env, "Granted"),
        }
        report(env, reaction.reports);
        command = match reaction.then {
            Then::Send(command) => command,
            Then::BackOff(failures) => {
                let pause = env.now + 10 * MS * (1 << failures.min(5)) * 3 / 4;
                let pause = pause.min(env.until.unwrap()) - env.now;
                env.log.push(format!("{} backs off {pause}", env.now));
                env.now += pause;
                let now = env.moment();
                ending.command(|| now)
            }
            Then::Pause(pause) => {
                env.quick = false;
                env.sleep(pause);
                let now = env.moment();
                ending.command(|| now)
            }
            Then::Over => return,
        };
    }
}

#[test]
fn random_answers_make_the_old_loops_and_the_machine_send_the_same() {
    let seed = std::env::var("LOCK_TEST_SEED")
        .map_or(0x9e37_79b9_7f4a_7c15, |it| it.parse::<u64>().unwrap());
    let runs = std::env::var("RUNS").map_or(100_000, |it| it.parse::<u64>().unwrap());
    let (mut commands, mut differ, mut late, mut tainted) = (0, 0, 0, 0);
    for run in 0..runs {
        let mut env = Env {
            seed: (seed ^ (run + 1).wrapping_mul(0x2545_f491_4f6c_dd1d)).max(1),
            now: 1_000 * MS,
            owner: Outstanding::default(),
            connection: 3,
            log: Vec::new(),
            until: None,
            quick: false,
        };
        for _ in 0..10 {
            env.random();
        }
        let ttl = Duration::from_millis([500, 10_000, 30_000][env.of(3) as usize]);
        for _ in 0..1 + env.of(3) {
            let on = ConnectionId(env.connection - env.of(2));
            env.owner.sending(on, ttl, true);
            match env.of(4) {
                0 => {}
                1 => env.owner.refused(on),
                _ => env.owner.answered(on),
            }
        }
        if env.of(3) == 0 {
            env.owner.note_not_held();
        }
        let kind = env.of(4);
        let begin = Begin {
            contended: env.of(3) == 0,
            heads: env.of(2) == 0,
            rests_until: (env.of(4) == 0)
                .then_some(env.moment() + Duration::from_nanos(env.of(4_000) * MS)),
            mode: [Mode::Exclusive, Mode::Write][env.of(2) as usize],
            has_next: env.of(2) == 0,
        };
        if kind < 2 {
            env.until = Some(env.now + [20, 300, 1_000][env.of(3) as usize] * MS);
            env.quick = true;
        }
        let ending = match kind {
            0 | 1 => {
                let mut ending = Ending::of_holder(begin.contended, begin.heads, begin.rests_until);
                if ending.may_name_successor(begin.mode) && begin.has_next {
                    ending.name_successor();
                }
                Some(ending)
            }
            2 => Ending::of_owner(&env.owner),
            _ => Some(Ending::of_node(begin.contended)),
        };
        let old = |is_sticky| {
            let mut env = env.clone();
            match kind {
                0 | 1 => old_release(&mut env, &begin, is_sticky),
                2 => old_reap(&mut env, is_sticky),
                _ if begin.contended => old_node(&mut env, Command::End),
                _ => old_node(&mut env, Command::Release),
            }
            env
        };
        let mut new = env.clone();
        if let Some(ending) = ending {
            drive(&mut new, ending);
        }
        let before = old(false);
        assert_eq!(before.log, new.log, "run {run}, seed {seed}");
        let really = old(true);
        if really.log != new.log {
            differ += 1;
            assert!(new.owner.is_tainted(), "run {run}, seed {seed}");
        }
        commands += new
            .log
            .iter()
            .filter(|line| line.contains("counted"))
            .count();
        late += usize::from(new.log.iter().any(|line| line.contains("Unconfirmed")));
        tainted += usize::from(new.owner.is_tainted());
    }
    println!(
        "seed {seed}: {runs} runs, {commands} commands, {late} unconfirmed, {tainted} tainted, {differ} differ from the sticky loop"
    );
}
