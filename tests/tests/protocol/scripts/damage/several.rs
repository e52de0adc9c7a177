//! Three locks that one owner holds together.

use lock_model::server::Branch;

use super::{Locks, Place, Stage, damage, moving_slot};

const STATES: &str = "
A all acquire
A all acquire, 1 B acquire, 2 C acquire, 3 G acquire
3 B acquire, A all acquire
2 B acquire, A all acquire, 1 C acquire
2 B acquire, A all acquire, 1 C acquire, 2 C acquire, 2 B end
1 B acquire, 1 C acquire, 1 lose K
2 B acquire, A all acquire, 2 C acquire, 2 lose K
2 B acquire, 2 C acquire, 2 C dies, 2 G acquire, 2 lose K
3 B acquire, 3 lose K, 3 back 60s
3 B acquire, 3 lose K, 3 back 60s, 3 B acquire, A all acquire, 3 lose K
2 stranger
A all acquire, 2 B acquire, 2 holder queues
A all acquire, 1 B acquire, 1 B dies, 2 B acquire, 2 B dies, 3 B acquire";

const DAMAGES: &str = "\
; 1 full; 1 lose K; 1 spoil K; 1 spoil F; 1 text F; 1 spoil Q; 2 spoil K; 2 spoil F; 2 text F; 2 spoil Q; 3 spoil K; \
3 spoil F; 3 text F; 3 spoil Q; 1 spoil F, 2 spoil Q; 2 lose K; 1 spoil K, 2 spoil K, 3 spoil K";

const MOVES: &str = "\
; 1 lose K; 2 lose K; 3 lose Q; 1 lose F; 1 lose Q, 2 lose Q, 3 lose Q";

pub(super) const COMMANDS: &str = "\
A all acquire; A all try; A all renew 120s; A all release; A all reserve; A all end; D all acquire; D all try; D all end; \
B all acquire; B all end";

#[test]
fn damaged_locks_are_refused_or_answered_like_the_model() {
    let stage = Stage::on(Place::real(), Locks::Several);
    damage(stage, STATES, DAMAGES, Branch::OF_KEYS);
}

#[test]
fn locks_whose_slot_moves_are_refused_or_answered_as_if_it_stayed() {
    moving_slot::play(Locks::Several, STATES, MOVES);
}
