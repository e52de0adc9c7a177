use super::*;

const TTL: Ticks = 3;

/// A ballot whose first round has these answers, in the order of the nodes.
fn asked(answers: &[Answer]) -> Ballot {
    let mut ballot = Ballot::new(answers.len(), 1, TTL);
    for node in 0..answers.len() {
        let command = ballot.poll(node, None).expect("nothing is under way");
        ballot.sent(node, command, 0);
    }
    for (node, &answer) in answers.iter().enumerate() {
        ballot.answered(node, answer, 1, None);
    }
    ballot
}

const fn held(token: Token) -> Answer {
    Answer::Held { token, early: 0 }
}

const fn waiting(holder: Owner) -> Answer {
    Answer::Waiting {
        holder: Some(holder),
        remaining: 1,
        position: 1,
    }
}

#[test]
fn majority_of_one_token_has_the_lock_until_a_ttl_after_the_request() {
    let has = Verdict::Has {
        token: 8,
        deadline: TTL,
    };
    let ballot = asked(&[held(8), waiting(7), held(8)]);
    assert_eq!(ballot.verdict(1, None), has);
    assert_eq!(ballot.verdict(TTL, None), Verdict::Open);
    assert_eq!(
        asked(&[held(8), waiting(7), waiting(7)]).verdict(1, None),
        Verdict::Open
    );
}

#[test]
fn largest_token_is_written_back_where_there_is_less() {
    let ballot = asked(&[held(8), held(9), waiting(7)]);
    assert_eq!(ballot.verdict(1, None), Verdict::Unequal(9));
    let repeated = ballot.next(0, 1, None);
    assert!(matches!(
        repeated,
        Some(Command::Acquire {
            proposal: Proposal::Known(9),
            ..
        })
    ));
    assert_eq!(ballot.next(1, 1, None), None);
}

#[test]
fn early_vote_counts_after_it_was_asked_for_again() {
    let early = Answer::Held { token: 8, early: 1 };
    let ballot = asked(&[held(8), early, waiting(7)]);
    assert_eq!(ballot.verdict(1, None), Verdict::Open);
    assert_eq!(ballot.next(1, 1, None), None);
    assert!(matches!(
        ballot.next(1, 2, None),
        Some(Command::Acquire { .. })
    ));
    assert_eq!(ballot.verdict(2, None), Verdict::Open);
}

#[test]
fn notified_node_is_ceded_while_another_owner_has_one() {
    let cede = Some(Command::Cede { token: 8, stamp: 1 });
    let mut ballot = asked(&[held(8), waiting(7), Answer::Nothing]);
    assert_eq!(ballot.next(0, 1, None), None);
    ballot.notified(0);
    assert_eq!(ballot.next(0, 1, None), cede);
    let mut alone = asked(&[held(8), Answer::Nothing, Answer::Nothing]);
    alone.notified(0);
    assert_eq!(alone.next(0, 1, None), None);
}

#[test]
fn kept_cede_leaves_the_vote_as_it_was() {
    let early = Answer::Held { token: 8, early: 1 };
    let mut ballot = asked(&[held(8), early, waiting(7)]);
    let before = [ballot.nodes[0].standing, ballot.nodes[1].standing];
    for node in [0, 1] {
        let cede = Command::Cede { token: 8, stamp: 1 };
        ballot.sent(node, cede, 2);
        ballot.answered(node, held(8), 2, None);
    }
    let after = [ballot.nodes[0].standing, ballot.nodes[1].standing];
    assert_eq!(after, before);
}

#[test]
fn nodes_are_ceded_after_a_fresh_look_at_a_split_vote() {
    let mut ballot = asked(&[held(8), waiting(6), waiting(7)]);
    for node in [1, 2] {
        assert_eq!(ballot.next(0, 1, None), None);
        let look = ballot.poll(node, None).expect("nothing is under way");
        ballot.sent(node, look, 1);
        ballot.answered(node, waiting(5 + node as Owner), 1, None);
    }
    assert!(matches!(
        ballot.next(0, 1, None),
        Some(Command::Cede { .. })
    ));
    let look = ballot.poll(2, None).expect("nothing is under way");
    ballot.sent(2, look, 1);
    ballot.answered(2, waiting(6), 1, None);
    assert_eq!(
        ballot.next(0, 1, None),
        None,
        "another owner has a majority"
    );
}

#[test]
fn token_that_an_unanswered_cede_named_does_not_count() {
    let mut ballot = asked(&[held(8), held(8), waiting(7)]);
    let cede = Command::Cede { token: 8, stamp: 1 };
    ballot.sent(0, cede, 1);
    assert_eq!(ballot.verdict(1, None), Verdict::Open, "a vote that goes");
    ballot.unanswered(0);
    let repeated = ballot.poll(0, None).expect("nothing is under way");
    assert!(matches!(
        repeated,
        Command::Acquire {
            proposal: Proposal::Known(9),
            ..
        }
    ));
    ballot.sent(0, repeated, 1);
    ballot.answered(0, held(8), 1, None);
    assert_eq!(ballot.verdict(1, None), Verdict::Open);
}

#[test]
fn absent_lock_is_written_by_a_valid_holder() {
    let mut ballot = asked(&[held(8), held(8), waiting(7)]);
    ballot.phase = Phase::Holds(8);
    let renewal = ballot.renewal(2).expect("nothing is under way");
    ballot.sent(2, renewal, 1);
    ballot.answered(2, Answer::Absent, 1, None);
    let hold = Command::Hold { ttl: TTL, token: 8 };
    assert_eq!(ballot.next(2, 1, None), Some(hold));
    assert_eq!(ballot.next(2, TTL, None), None, "the lock is lost");
}
