//! The model's scripts against the real ones on a real server: random sequences of commands, and of
//! what time, strangers and operators do between them, must lead to the same answers, the same
//! announcements and the same records.

use harness::{Answer, Listener, RawLock, RedisServer, owner};
use lock_model::server::{self, Command, Entry, Lock, Mode, Owner, Records, Rules, Site, Value};

const SEQUENCES: u64 = 200;
const STEPS: usize = 50;

/// A tick of the model is 100 ms here, and leases are so long that none ends by itself.
const TICK_MS: i64 = 100;
const TTL: i16 = 600;
const RULES: Rules = Rules {
    claim: 15,
    live: 60,
    turns: 16,
    seeded: None,
};

/// Each letter is an owner, and a process of its own. The first ones listen on their channels.
const LETTERS: [char; 7] = ['A', 'B', 'C', 'D', 'E', 'F', 'G'];
const LISTENING: u8 = 4;

/// What happens between commands.
#[derive(Clone, Copy, Debug)]
enum Event {
    Run(Command),
    LeaseEnds,
    HeartStops(Owner),
    FenceIsLost,
    QueueIsLost,
    StrangerTakes,
    Impair(Mode),
    Mend,
}

#[test]
fn the_twin_does_what_the_scripts_do() {
    let server = RedisServer::start();
    let mut listeners: Vec<Listener> = LETTERS[..usize::from(LISTENING)]
        .iter()
        .map(|&letter| Listener::new(&server, letter))
        .collect();
    let deletes = RawLock::new(&server, "order").can_delete();
    for seed in 1..=SEQUENCES {
        let mut twins = Twins {
            real: RawLock::new(&server, &format!("order:{seed}")),
            twin: Records::default(),
            mode: Mode::Normal,
            last: 0,
            told: Vec::new(),
            deletes,
        };
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut events = Vec::new();
        for _ in 0..STEPS {
            let event = dice.event(&twins);
            events.push(event);
            if let Err(difference) = twins.play(event).and_then(|()| twins.compare()) {
                panic!(
                    "seed {seed}: {difference}\nafter {events:#?}\n{:#?}",
                    twins.twin
                );
            }
            for owner_told in twins.told.drain(..) {
                let push = listeners[usize::from(owner_told.client)].next_push();
                assert_eq!(
                    push,
                    owner(letter(owner_told)) + &twins.real.k,
                    "seed {seed}"
                );
            }
        }
        if twins.mode != Mode::Normal {
            twins.play(Event::Mend).expect("it can be mended");
        }
    }
}

/// One lock, in Redis and in the model.
struct Twins {
    real: RawLock,
    twin: Records,
    mode: Mode,
    /// The last token that the real server granted.
    last: i64,
    told: Vec<Owner>,
    /// The real server compares and deletes.
    deletes: bool,
}

impl Twins {
    fn play(&mut self, event: Event) -> Result<(), String> {
        let (k, f, q) = (
            self.real.k.clone(),
            self.real.f.clone(),
            self.real.q.clone(),
        );
        match event {
            Event::Run(command) => return self.run(command),
            Event::LeaseEnds => {
                let _: i64 = self.real.command(&["DEL", &k]);
                self.twin.lock = None;
            }
            Event::HeartStops(who) => {
                self.real.stop_heart(letter(who));
                for entry in self
                    .twin
                    .queue
                    .iter_mut()
                    .filter(|entry| entry.owner == who)
                {
                    entry.live = 0;
                }
            }
            Event::FenceIsLost => {
                let _: i64 = self.real.command(&["DEL", &f]);
                self.twin.fence = None;
            }
            Event::QueueIsLost => {
                let _: i64 = self.real.command(&["DEL", &q]);
                self.twin.queue.clear();
            }
            Event::StrangerTakes => {
                let px = (i64::from(TTL) * TICK_MS).to_string();
                let taken: Option<String> =
                    self.real.command(&["SET", &k, "stranger", "NX", "PX", &px]);
                if taken.is_some() {
                    self.twin.lock = Some(Lock {
                        value: Value::Foreign,
                        rest: Some(TTL),
                    });
                }
            }
            Event::Impair(mode) => {
                self.mode = mode;
                match mode {
                    Mode::OutOfMemory => self.limit_memory("1"),
                    Mode::LockWrong => {
                        self.spoil(&k);
                        self.twin.lock = None;
                    }
                    Mode::FenceWrong => {
                        self.spoil(&f);
                        self.twin.fence = None;
                    }
                    Mode::QueueWrong => {
                        self.spoil(&q);
                        self.twin.queue.clear();
                    }
                    Mode::Normal | Mode::Migrating => {}
                }
            }
            Event::Mend => {
                match std::mem::take(&mut self.mode) {
                    Mode::OutOfMemory => self.limit_memory("0"),
                    Mode::LockWrong => self.delete(&k),
                    Mode::FenceWrong => self.delete(&f),
                    Mode::QueueWrong => self.delete(&q),
                    Mode::Normal | Mode::Migrating => {}
                };
            }
        }
        Ok(())
    }

    fn limit_memory(&mut self, bytes: &str) {
        let _: String = self.real.command(&["CONFIG", "SET", "maxmemory", bytes]);
    }

    fn delete(&mut self, key: &str) {
        let _: i64 = self.real.command(&["DEL", key]);
    }

    /// Puts a key of a type that the protocol does not know in the place of `key`.
    fn spoil(&mut self, key: &str) {
        self.delete(key);
        let _: i64 = self.real.command(&["LPUSH", key, "x"]);
    }

    /// Runs a script on both sides and compares the answers.
    fn run(&mut self, command: Command) -> Result<(), String> {
        let real = match command {
            Command::Acquire { owner, ttl, queue } if queue => {
                self.real.acquire(letter(owner), ms(ttl)).map(known)
            }
            Command::Acquire { owner, ttl, .. } => {
                self.real.try_acquire(letter(owner), ms(ttl)).map(known)
            }
            Command::Renew { owner, ttl } => {
                self.real
                    .renew(letter(owner), ms(ttl))
                    .map(|answer| match answer {
                        Some(text) => Known::Held(text.starts_with('+')),
                        None => Known::Nil,
                    })
            }
            Command::Release { owner } => self.real.release(letter(owner)).map(Known::Code),
            Command::Delete { owner, token } => {
                let deleted = self.real.delete(letter(owner), token > 0);
                deleted.map(|deleted| Known::Code(if deleted { 1 } else { 2 }))
            }
            Command::End { owner, next: None } => self.real.end(letter(owner)).map(known),
            Command::End {
                owner,
                next: Some((next, ttl)),
            } => {
                let (owner, next) = (letter(owner), letter(next));
                self.real.end_with_next(owner, next, ms(ttl)).map(known)
            }
        };
        let real = real.unwrap_or(Known::Refused);
        let site = Site {
            now: 0,
            receivers: (1 << LISTENING) - 1,
            mode: self.mode,
        };
        // Tokens are compared by how they rise, so the model's may start anew.
        self.twin.fence = self.twin.fence.map(|_| 16);
        let run = self.twin.run(command, &RULES, &site);
        self.told = run.told;
        agree("answer", real, twin(run.answer))
    }

    /// Compares what is in Redis with the model.
    fn compare(&mut self) -> Result<(), String> {
        if self.mode != Mode::LockWrong {
            self.compare_lock()?;
        }
        if self.mode != Mode::FenceWrong {
            agree(
                "fence",
                self.real.fence().is_some(),
                self.twin.fence.is_some(),
            )?;
        }
        if self.mode != Mode::QueueWrong {
            self.compare_queue()?;
        }
        Ok(())
    }

    fn compare_lock(&mut self) -> Result<(), String> {
        let value = self.real.value();
        let real = value.as_deref().map(|value| match value {
            "stranger" => None,
            ours => Some((ours.chars().next(), ours.as_bytes()[22] == b'+')),
        });
        let expected = self.twin.lock.map(|lock| match lock.value {
            Value::Foreign => None,
            Value::Ours { owner, flagged, .. } => Some((Some(letter(owner)), flagged)),
        });
        agree("lock", real, expected)?;
        let rest = self.real.pttl();
        if let Some(Lock {
            rest: Some(expected),
            ..
        }) = self.twin.lock
        {
            let expected = ms(expected);
            if rest > expected || rest <= expected / 2 {
                return Err(format!("a rest of {rest} ms and not {expected} ms"));
            }
        }
        self.compare_token(value.as_deref())?;
        self.confirm_claim();
        Ok(())
    }

    /// A token that was not there before is at least a whole range above the last.
    fn compare_token(&mut self, value: Option<&str>) -> Result<(), String> {
        let Some(digits) = value.and_then(|value| value.get(23..39)) else {
            return Ok(());
        };
        let token: i64 = digits.parse().map_err(|_| "no token")?;
        if token != self.last && token < self.last + i64::from(RULES.turns) {
            return Err(format!("token {token} after {}", self.last));
        }
        self.last = token;
        Ok(())
    }

    /// A claim is real time that a slow machine may outlive: goes on as if it were confirmed.
    fn confirm_claim(&mut self) {
        if let Some(lock) = &mut self.twin.lock
            && lock.rest == Some(RULES.claim)
        {
            lock.rest = Some(TTL);
            let (k, px) = (self.real.k.clone(), ms(TTL).to_string());
            let _: i64 = self.real.command(&["PEXPIRE", &k, &px]);
        }
    }

    fn compare_queue(&mut self) -> Result<(), String> {
        let members = self.real.queue_members();
        let lives = |who: char| {
            let twin = members.iter().find(|(member, _)| *member == owner(who));
            twin.is_some_and(|(_, score)| *score < -1)
        };
        let waiters = members.iter().filter(|(_, score)| *score > 0);
        let real: Vec<(char, bool)> = waiters
            .filter_map(|(entry, _)| entry.chars().next())
            .map(|who| (who, lives(who)))
            .collect();
        let expected = |entry: &Entry| (letter(entry.owner), entry.live > 0);
        let expected: Vec<_> = self.twin.queue.iter().map(expected).collect();
        agree("members", members.len(), 2 * expected.len())?;
        agree("queue", real, expected)
    }
}

/// What is compared of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    Held(bool),
    Waiting(i64),
    Nil,
    Code(i64),
    Refused,
}

fn known(answer: Answer) -> Known {
    match answer {
        Answer::Held { flag, .. } => Known::Held(flag == '+'),
        Answer::Waiting { position, .. } => Known::Waiting(position),
        Answer::Code(code) => Known::Code(code),
    }
}

fn twin(answer: server::Answer) -> Known {
    match answer {
        server::Answer::Held { flagged, .. } => Known::Held(flagged),
        server::Answer::Waiting { position } => Known::Waiting(position.into()),
        server::Answer::Nil => Known::Nil,
        server::Answer::Code(code) => Known::Code(code.into()),
        server::Answer::Refused | server::Answer::Unavailable => Known::Refused,
    }
}

fn letter(owner: Owner) -> char {
    LETTERS[usize::from(owner.client)]
}

fn ms(ticks: i16) -> i64 {
    i64::from(ticks) * TICK_MS
}

fn agree<T: PartialEq + std::fmt::Debug>(what: &str, real: T, twin: T) -> Result<(), String> {
    if real == twin {
        return Ok(());
    }
    Err(format!("{what}: Redis has {real:?}, the model {twin:?}"))
}

/// A reproducible source of chances: xorshift64*.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    fn who(&mut self) -> Owner {
        Owner {
            client: self.below(LETTERS.len() as u64) as u8,
            number: 0,
        }
    }

    /// Half of the time the holder, so that it is not a matter of luck to get anywhere.
    fn holder_or_any(&mut self, twins: &Twins) -> Owner {
        match twins.twin.holder() {
            Some(holder) if self.below(2) == 0 => holder,
            _ => self.who(),
        }
    }

    fn ttl(&mut self) -> i16 {
        TTL * (1 + self.below(3) as i16)
    }

    fn event(&mut self, twins: &Twins) -> Event {
        Event::Run(match self.below(26) {
            0..=8 => Command::Acquire {
                owner: self.who(),
                ttl: self.ttl(),
                queue: self.below(4) > 0,
            },
            9..=10 => Command::Renew {
                owner: self.holder_or_any(twins),
                ttl: self.ttl(),
            },
            11..=13 if twins.deletes && self.below(2) == 0 => Command::Delete {
                owner: self.holder_or_any(twins),
                token: match twins.twin.lock.map(|lock| lock.value) {
                    Some(Value::Ours { token, .. }) if self.below(4) > 0 => token,
                    _ => 0,
                },
            },
            11..=13 => Command::Release {
                owner: self.holder_or_any(twins),
            },
            14..=18 => {
                let owner = self.holder_or_any(twins);
                let heir = self.who();
                let next = (heir != owner && self.below(2) == 0).then(|| (heir, self.ttl()));
                Command::End { owner, next }
            }
            // What was put in a key's place stays there until it is mended.
            19.. if !matches!(twins.mode, Mode::Normal) => return Event::Mend,
            19..=20 => return Event::LeaseEnds,
            21 => return Event::HeartStops(self.who()),
            22 => return Event::FenceIsLost,
            23 => return Event::QueueIsLost,
            24 => return Event::StrangerTakes,
            _ => {
                let modes = [
                    Mode::OutOfMemory,
                    Mode::LockWrong,
                    Mode::FenceWrong,
                    Mode::QueueWrong,
                ];
                return Event::Impair(modes[self.below(4) as usize]);
            }
        })
    }
}
