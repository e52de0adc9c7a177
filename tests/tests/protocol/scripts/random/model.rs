//! The model with the server's clock. A tick is a millisecond, and each letter an owner whose client is its own.

use lock_model::server::{
    Answer, Command, Mode, OwnerId, Records, Refusal, Rules, Share, ShareRules, Site, Taken, Ticks,
    Token,
};

/// Owners that listen on their channel, and owners that do not.
pub(crate) const LISTENING: &str = "ABCDEF";
pub(crate) const DEAF: &str = "GH";

pub(crate) const RULES: Rules = Rules {
    claim: 1_500,
    live: 6_000,
    queue: 7_000,
    fence: Some(86_400_000),
    turns: 16,
    seeded: None,
    shares: ShareRules::REAL,
};

#[derive(Debug, Clone)]
pub(crate) struct Model {
    /// The server's clock in µs.
    pub(crate) now: i64,
    pub(crate) records: Records,
    pub(crate) mode: Mode,
    /// The owner that the last command notified.
    pub(crate) pushed: Vec<char>,
    /// The owners that the last command then notified of a revocation.
    pub(crate) told: Vec<char>,
    /// The branches that the last command took.
    pub(crate) taken: Taken,
    /// The value of the lock that the server answered to the last command, if its caller must wait.
    pub(crate) shown: Option<String>,
    /// Some of the letters ask for shares.
    pub(crate) has_shares: bool,
}

impl Model {
    pub(crate) fn new(now: i64, has_shares: bool) -> Self {
        Self {
            now,
            records: Records::default(),
            mode: Mode::Normal,
            pushed: Vec::new(),
            told: Vec::new(),
            taken: Taken::default(),
            shown: None,
            has_shares,
        }
    }

    /// Forgets what the last command did.
    pub(crate) fn begin(&mut self) {
        self.pushed.clear();
        self.told.clear();
        self.taken = Taken::default();
        self.shown = None;
    }

    /// Sets the clock.
    pub(crate) fn pass(&mut self, now: i64) {
        let passed = now.div_euclid(1_000) - self.now.div_euclid(1_000);
        self.records.advance(ticks(passed));
        self.now = now;
    }

    pub(crate) fn run(&mut self, command: Command) -> Answer {
        let site = self.site();
        let rules = Rules {
            fence: Some(sender(&command).map_or(DAY, |owner| memory_of(letter_of(owner)))),
            ..RULES
        };
        let run = self.records.run(command, &rules, &site);
        self.pushed = run.announced.into_iter().map(letter_of).collect();
        self.told = run.told.into_iter().map(letter_of).collect();
        self.taken = run.taken;
        run.answer
    }

    pub(crate) fn site(&self) -> Site {
        Site {
            now: self.now,
            receivers: (1 << LISTENING.len()) - 1,
            mode: self.mode,
        }
    }

    /// The token in the lock's record.
    pub(crate) fn token(&self) -> Option<Token> {
        self.records.ours().map(|ours| ours.token)
    }

    /// The holder of the lock, if it holds the lock alone.
    pub(crate) fn holder(&self) -> Option<char> {
        let holder = self.records.holder();
        holder.filter(|owner| owner.is_of_a_client()).map(letter_of)
    }

    /// What a letter wants now: a holder that became a reader shares the lock.
    pub(crate) fn share(&self, letter: char) -> Option<Share> {
        if self.records.share(owner(letter)).is_some() {
            return share(letter).or(Some(Share::READ));
        }
        share(letter).filter(|_| self.has_shares)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.mode == Mode::OutOfMemory
    }
}

pub(crate) fn owner(letter: char) -> OwnerId {
    let place = [LISTENING, DEAF].concat().find(letter);
    OwnerId {
        client: place.expect("one of the letters") as u8,
        number: 0,
    }
}

pub(crate) fn letter_of(owner: OwnerId) -> char {
    let mut letters = LISTENING.chars().chain(DEAF.chars());
    letters
        .nth(owner.client.into())
        .expect("one of the letters")
}

/// What a letter wants where locks are shared; `None` is the whole lock.
pub(crate) fn share(letter: char) -> Option<Share> {
    let (take, limit) = match letter {
        'B' | 'F' => (1, 0),
        'C' => (1, 2),
        'D' | 'H' => (2, 3),
        'G' => (1, 3),
        _ => return None,
    };
    Some(Share { take, limit })
}

/// How long each letter's client keeps fences: a day, an hour, or a week.
pub(crate) fn memory_of(letter: char) -> Ticks {
    match letter {
        'B' | 'E' | 'G' => 3_600_000,
        'C' | 'D' => 604_800_000,
        _ => DAY,
    }
}

/// The default, which an operator's client has.
const DAY: Ticks = 86_400_000;

/// The owner whose client sends a command; `None` for an operator.
fn sender(command: &Command) -> Option<OwnerId> {
    Some(match *command {
        Command::Acquire { owner, .. }
        | Command::Take { owner, .. }
        | Command::Mint { owner, .. }
        | Command::Renew { owner, .. }
        | Command::Release { owner }
        | Command::Delete { owner, .. }
        | Command::End { owner, .. }
        | Command::Reserve { owner, .. }
        | Command::ShareAcquire { owner, .. }
        | Command::Downgrade { owner, .. }
        | Command::ShareRenew { owner, .. }
        | Command::ShareRelease { owner, .. }
        | Command::ShareEnd { owner, .. } => owner,
        Command::Revoke { .. } | Command::RevokeOwner { .. } => return None,
    })
}

pub(crate) fn ticks(ms: i64) -> Ticks {
    ms.try_into().expect("it is less than 24 days")
}

/// The server's text of a refusal.
pub(crate) fn refusal(code: &str) -> Option<Refusal> {
    match code {
        "WRONGTYPE" => Some(Refusal::WrongType),
        "LOCKFENCE" => Some(Refusal::BadFence),
        "OOM" => Some(Refusal::OutOfMemory),
        _ => None,
    }
}
