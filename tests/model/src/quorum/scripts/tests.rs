use super::*;

const RULES: Rules = Rules {
    claim: 1,
    live: 3,
    delay: 4,
    ahead: UNIT,
    mistake: None,
};
const TTL: Ticks = 2;

/// A node that answers at times of the test's choice.
struct Node {
    records: Records,
    now: Ticks,
    boot: u8,
    pushes: Vec<Owner>,
}

impl Node {
    /// A node whose votes count, at tick 1.
    fn new() -> Node {
        let marker = Some(Marker { boot: 1, until: 0 });
        Node {
            records: Records {
                marker,
                ..Records::default()
            },
            now: 1,
            boot: 1,
            pushes: Vec::new(),
        }
    }

    fn run(&mut self, me: Owner, command: Command) -> Answer {
        let clock = (self.now, self.boot);
        run(
            &mut self.records,
            clock,
            &RULES,
            (me, command),
            &mut self.pushes,
        )
    }

    /// An owner's stamp is its number.
    fn acquire(&mut self, me: Owner, proposal: Proposal) -> Answer {
        self.run(
            me,
            Command::Acquire {
                ttl: TTL,
                queues: true,
                stamp: me.into(),
                proposal,
            },
        )
    }

    fn cede(&mut self, me: Owner, token: Token) -> Answer {
        self.run(
            me,
            Command::Cede {
                token,
                stamp: me.into(),
            },
        )
    }

    fn lock(&self) -> (Owner, Token) {
        let lock = self.records.lock.expect("the lock is taken");
        (lock.owner, lock.token)
    }
}

const NO_GUESS: Proposal = Proposal::Guess(0);

fn held(token: Token) -> Answer {
    Answer::Held { token, early: 0 }
}

fn waiting(holder: Option<Owner>, remaining: Ticks, position: u8) -> Answer {
    Answer::Waiting {
        holder,
        remaining,
        position,
    }
}

#[test]
fn free_lock_is_granted_with_the_clock_the_fence_or_the_proposal() {
    assert_eq!(Node::new().acquire(3, NO_GUESS), held(8));
    let mut node = Node::new();
    node.records.fence = 20;
    assert_eq!(node.acquire(3, NO_GUESS), held(21));
    assert_eq!(Node::new().acquire(3, Proposal::Guess(16)), held(16));
    assert_eq!(Node::new().acquire(3, Proposal::Guess(17)), held(8));
    assert_eq!(Node::new().acquire(3, Proposal::Known(90)), held(90));
}

#[test]
fn proposal_raises_token_and_fence_of_an_owned_lock() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    assert_eq!(node.acquire(3, Proposal::Known(40)), held(40));
    assert_eq!((node.lock(), node.records.fence), ((3, 40), 40));
    assert_eq!(node.acquire(3, Proposal::Known(30)), held(40));
}

#[test]
fn taken_lock_queues_by_stamp_and_notifies_its_owner_of_a_new_head() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    assert_eq!(node.acquire(5, NO_GUESS), waiting(Some(3), TTL, 1));
    assert_eq!(node.acquire(7, NO_GUESS), waiting(Some(3), TTL, 2));
    assert_eq!(node.acquire(5, NO_GUESS), waiting(Some(3), TTL, 1));
    assert_eq!(node.pushes, [3]);
    assert_eq!(node.acquire(1, NO_GUESS), waiting(Some(3), TTL, 1));
    assert_eq!(node.pushes, [3, 3]);
}

#[test]
fn acquire_without_queueing_leaves_no_entry() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    let command = Command::Acquire {
        ttl: TTL,
        queues: false,
        stamp: 1,
        proposal: NO_GUESS,
    };
    assert_eq!(node.run(1, command), waiting(Some(3), TTL, 0));
    assert!(!node.records.name(1));
}

#[test]
fn expired_lock_is_claimed_for_the_best_stamp() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    node.acquire(5, NO_GUESS);
    node.now += TTL;
    assert_eq!(node.acquire(7, NO_GUESS), waiting(Some(5), RULES.claim, 1));
    assert_eq!(node.pushes, [3, 5, 5], "the claim has a new head behind it");
    node.now += RULES.claim;
    assert_eq!(node.acquire(1, NO_GUESS), held(32));
}

#[test]
fn lock_is_ceded_to_a_better_stamp_by_its_exact_token() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    assert_eq!(node.cede(3, 8), held(8), "nobody queues");
    node.acquire(5, NO_GUESS);
    assert_eq!(node.cede(3, 8), held(8), "the head is worse");
    node.acquire(1, NO_GUESS);
    assert_eq!(node.cede(3, 7), held(8), "another token");
    assert_eq!(node.cede(3, 8), waiting(Some(1), RULES.claim, 1));
    assert_eq!((node.lock(), node.pushes.last()), ((1, 9), Some(&1)));
    assert_eq!(node.cede(3, 8), waiting(Some(1), RULES.claim, 1));
}

#[test]
fn hold_writes_an_absent_lock_and_raises_the_fence() {
    let mut node = Node::new();
    let hold = Command::Hold {
        ttl: TTL,
        token: 30,
    };
    assert_eq!(node.run(3, hold), held(30));
    assert_eq!((node.lock(), node.records.fence), ((3, 30), 30));
    node.now += 1;
    assert_eq!(node.run(3, hold), held(30));
    assert_eq!(node.records.lock.map(|lock| lock.expires_at), Some(4));
    assert_eq!(node.run(5, hold), Answer::Anothers);
}

#[test]
fn renewal_and_release_compare_the_owner() {
    let mut node = Node::new();
    let renew = Command::Renew { ttl: TTL };
    assert_eq!(node.run(3, renew), Answer::Absent);
    assert_eq!(node.run(3, Command::Release), Answer::Absent);
    node.acquire(3, NO_GUESS);
    assert_eq!(node.run(3, renew), held(8));
    assert_eq!(node.run(5, renew), Answer::Anothers);
    assert_eq!(node.run(5, Command::Release), Answer::Anothers);
    assert_eq!(node.run(3, Command::Release), Answer::Freed);
}

#[test]
fn contended_release_leaves_the_lock_to_an_end() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    node.acquire(5, NO_GUESS);
    assert_eq!(node.run(3, Command::Release), Answer::Contended);
    let end = Command::End { proposal: 12 };
    assert_eq!(node.run(3, end), Answer::HandedOn);
    assert_eq!(node.lock(), (5, 12));
    assert_eq!(node.run(5, end), Answer::Freed);
    assert_eq!(node.run(5, end), Answer::Nothing);
}

#[test]
fn end_of_a_waiter_removes_its_entry() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    node.acquire(5, NO_GUESS);
    assert_eq!(node.run(5, Command::End { proposal: 0 }), Answer::Left);
    assert!(!node.records.name(5));
}

#[test]
fn lock_of_a_node_that_lost_data_is_early_and_gets_a_new_token() {
    let mut node = Node::new();
    node.records = Records::default();
    let early = |early| Answer::Held { token: 8, early };
    assert_eq!(node.acquire(3, NO_GUESS), early(4));
    for left in [3, 2, 1] {
        node.now += 1;
        assert_eq!(node.acquire(3, NO_GUESS), early(left));
    }
    node.now += 1;
    assert_eq!(node.acquire(3, NO_GUESS), held(40));
}

#[test]
fn lock_that_another_boot_brought_back_is_early_to_each_command() {
    let mut node = Node::new();
    node.acquire(3, NO_GUESS);
    node.boot = 2;
    let early = Answer::Held { token: 8, early: 4 };
    assert_eq!(node.cede(3, 8), early);
    assert_eq!(node.run(3, Command::Renew { ttl: TTL }), early);
    assert_eq!(node.acquire(3, NO_GUESS), early);
}
