//! Random sequences of scripts, and of what time and strangers do between them: the server and the
//! model must agree after every step.

use harness::{Answer, Listener, RawLock, RedisServer, owner};

use crate::model::{DEAF, Expected, Holder, LISTENING, Model, Waiter};
use crate::{CLAIM, TTL};

const SEQUENCES: u64 = 500;
const STEPS: usize = 50;

/// One step. Owners and times are chosen by the dice.
#[derive(Debug, Clone, Copy)]
enum Step {
    Acquire(char, i64),
    Try(char, i64),
    Renew(char, i64),
    Release(char),
    End(char),
    EndWithNext(char, char, i64),
    // What happens to the lock from outside.
    LeaseEnds,
    HeartStops(char),
    FenceIsLost,
    StrangerTakes,
}

#[test]
fn the_scripts_agree_with_the_model() {
    let server = RedisServer::start();
    let mut listeners: Vec<_> = LISTENING
        .chars()
        .map(|who| (who, Listener::new(&server, who)))
        .collect();
    for seed in 1..=SEQUENCES {
        let mut lock = RawLock::new(&server, &format!("order:{seed}"));
        let mut model = Model::new();
        let mut dice = Dice::new(seed);
        let mut last_token = 0;
        let mut steps = Vec::new();
        for _ in 0..STEPS {
            let step = dice.step(&model.holder);
            steps.push(step);
            (model.pushed, model.minted) = (Vec::new(), false);
            let outcome = play(step, &mut lock, &mut model)
                .and_then(|()| compare(&mut lock, &mut model, &mut last_token));
            if let Err(difference) = outcome {
                panic!("seed {seed}: {difference}\nafter {steps:#?}\nmodel {model:#?}");
            }
            for who in &model.pushed {
                let (_, listener) = listeners.iter_mut().find(|(l, _)| l == who).unwrap();
                assert_eq!(listener.next_push(), owner(*who) + &lock.k, "seed {seed}");
            }
        }
    }
    // No listener got more than it should: the next thing that each of them hears is this.
    let mut lock = RawLock::new(&server, "last");
    for (who, mut listener) in listeners {
        let receivers: i64 =
            lock.command(&["PUBLISH", &format!("lock:{}", &owner(who)[..8]), "last"]);
        assert_eq!((receivers, listener.next_push().as_str()), (1, "last"));
    }
}

/// Plays one step on both sides and compares the answers.
fn play(step: Step, lock: &mut RawLock, model: &mut Model) -> Result<(), String> {
    let (answer, expected) = match step {
        Step::Acquire(who, ttl) => (lock.acquire(who, ttl), model.acquire(who, ttl, true)),
        Step::Try(who, ttl) => (lock.try_acquire(who, ttl), model.acquire(who, ttl, false)),
        Step::End(who) => (lock.end(who), model.end(who, None)),
        Step::EndWithNext(who, next, ttl) => (
            lock.end_with_next(who, next, ttl),
            model.end(who, Some((next, ttl))),
        ),
        Step::Release(who) => (lock.release(who).map(Answer::Code), model.release(who)),
        Step::Renew(who, ttl) => {
            let answer = lock.renew(who, ttl).map_err(|error| error.to_string())?;
            let expected = match model.renew(who, ttl) {
                Expected::Held { flagged, .. } => Some(flagged),
                _ => None,
            };
            let flag = answer.as_ref().map(|answer| answer.starts_with('+'));
            return agree("renew", flag, expected);
        }
        outside => {
            happen(outside, lock, model);
            return Ok(());
        }
    };
    let answer = match answer.map_err(|error| error.to_string())? {
        Answer::Held { flag, .. } => Expected::Held {
            flagged: flag == '+',
            minted: model.minted,
        },
        Answer::Waiting { position, .. } => Expected::Waiting(position as usize),
        Answer::Code(code) => Expected::Code(Some(code)),
    };
    agree("answer", answer, expected)
}

/// What time and strangers do.
fn happen(step: Step, lock: &mut RawLock, model: &mut Model) {
    let (k, f) = (lock.k.clone(), lock.f.clone());
    match step {
        Step::LeaseEnds => {
            let _: i64 = lock.command(&["DEL", &k]);
            model.holder = Holder::Nobody;
        }
        Step::HeartStops(who) => {
            lock.stop_heart(who);
            for waiter in model.queue.iter_mut().filter(|waiter| waiter.who == who) {
                waiter.alive = false;
            }
        }
        Step::FenceIsLost => {
            let _: i64 = lock.command(&["DEL", &f]);
        }
        Step::StrangerTakes => {
            let taken: Option<String> =
                lock.command(&["SET", &k, "stranger", "NX", "PX", &TTL.to_string()]);
            if taken.is_some() {
                model.holder = Holder::Foreign;
            }
        }
        script => unreachable!("{script:?} is a script"),
    }
}

/// The lock's value and rest, its fence, and the members of its queue.
type Records = (Option<String>, i64, Option<String>, Vec<(String, i64)>);

/// Compares what is on the server with the model.
fn compare(lock: &mut RawLock, model: &mut Model, last_token: &mut i64) -> Result<(), String> {
    let (value, rest, fence, members): Records = redis::pipe()
        .cmd("GET")
        .arg(&lock.k)
        .cmd("PTTL")
        .arg(&lock.k)
        .cmd("GET")
        .arg(&lock.f)
        .cmd("ZRANGE")
        .arg(&[&lock.q, "0", "-1", "WITHSCORES"])
        .query(&mut lock.connection)
        .map_err(|error| error.to_string())?;

    let holder = match value.as_deref() {
        None => Holder::Nobody,
        Some("stranger") => Holder::Foreign,
        Some(ours) => Holder::Ours {
            who: letter(ours),
            flagged: ours.as_bytes()[22] == b'+',
            lease: lease(rest, &model.holder),
        },
    };
    agree("holder", &holder, &model.holder)?;

    let is_alive = |who| {
        members
            .iter()
            .any(|(member, score)| *member == owner(who) && *score < -1)
    };
    let queue: Vec<_> = members
        .iter()
        .filter(|(_, score)| *score > 0)
        .map(|(entry, _)| Waiter {
            who: letter(entry),
            alive: is_alive(letter(entry)),
        })
        .collect();
    agree("queue", &queue, &model.queue)?;
    agree("members", members.len(), 2 * queue.len())?;

    if model.minted {
        let value = value.ok_or("a token without a holder")?;
        let token: i64 = value[23..39].parse().map_err(|_| "no token")?;
        if token < *last_token + 16 {
            return Err(format!("token {token} after {last_token}"));
        }
        *last_token = token;
        agree("fence", fence.as_deref(), Some(&value[23..39]))?;
    }

    // A claim is real time that a slow machine may outlive: go on as if it were confirmed.
    if let Holder::Ours { lease, .. } = &mut model.holder
        && *lease == CLAIM
    {
        *lease = TTL;
        let k = lock.k.clone();
        let _: i64 = lock.command(&["PEXPIRE", &k, &TTL.to_string()]);
    }
    Ok(())
}

fn letter(text: &str) -> char {
    text.chars().next().expect("a value or an entry of ours")
}

/// The lease that the model expects if the server's rest may have come from it, else the rest.
fn lease(rest: i64, expected: &Holder) -> i64 {
    match expected {
        Holder::Ours { lease, .. } if rest <= *lease && rest > lease / 2 => *lease,
        _ => rest,
    }
}

fn agree<T: PartialEq + std::fmt::Debug>(what: &str, server: T, model: T) -> Result<(), String> {
    if server == model {
        return Ok(());
    }
    Err(format!(
        "{what}: the server says {server:?}, the model {model:?}"
    ))
}

/// A reproducible source of chances: xorshift64*.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    fn who(&mut self) -> char {
        let owners = [LISTENING, DEAF].concat();
        char::from(owners.as_bytes()[self.below(owners.len() as u64) as usize])
    }

    fn ttl(&mut self) -> i64 {
        TTL * (1 + self.below(3) as i64)
    }

    /// Half of the time the holder, so that it is not a matter of luck to get anywhere.
    fn holder_or_any(&mut self, holder: &Holder) -> char {
        match holder {
            Holder::Ours { who, .. } if self.below(2) == 0 => *who,
            _ => self.who(),
        }
    }

    fn step(&mut self, holder: &Holder) -> Step {
        match self.below(24) {
            0..=6 => Step::Acquire(self.who(), self.ttl()),
            7..=8 => Step::Try(self.who(), self.ttl()),
            9..=10 => Step::Renew(self.holder_or_any(holder), self.ttl()),
            11..=13 => Step::Release(self.holder_or_any(holder)),
            14..=16 => Step::End(self.holder_or_any(holder)),
            17..=18 => {
                let who = self.holder_or_any(holder);
                let next = std::iter::repeat_with(|| self.who()).find(|next| *next != who);
                Step::EndWithNext(who, next.expect("there are others"), self.ttl())
            }
            19..=20 => Step::LeaseEnds,
            21 => Step::HeartStops(self.who()),
            22 => Step::FenceIsLost,
            _ => Step::StrangerTakes,
        }
    }
}
