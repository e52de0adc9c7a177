use super::first_end::FirstEnd;
use super::node_command::{HolderId, NodeReply, Proposal};
use super::progress::Progress;
use super::*;
use crate::backend::wire::outstanding::{ConnectionId, SendEvent};
use crate::backend::wire::reply::{EndReply, Waiting};
use crate::lease::record::Holder;

const TTL: Duration = Duration::from_secs(10);
const STAMP: u64 = 1_000;
const TOKEN: u64 = 5_000;
const ON: ConnectionId = ConnectionId(1);

fn at(ms: u64) -> Moment {
    Moment::from_nanos(ms * 1_000_000)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn grant(token: u64) -> Grant {
    Grant {
        contended: false,
        token: FencingToken::new(token),
    }
}

fn vote(token: u64) -> NodeReply {
    NodeReply::Held(grant(token))
}

fn early(left: u64) -> NodeReply {
    NodeReply::Early(ms(left))
}

fn of_another(holder: u64) -> NodeReply {
    NodeReply::Waiting {
        holder: HolderId(holder),
        waiting: Waiting {
            remaining: Some(ms(100 * holder)),
            position: 1,
            holder: Holder::Ours(format!("holder {holder}")),
            lock: 0,
            holds_later: false,
        },
    }
}

/// Creates an owner that has asked this many nodes at 0 ms.
fn asked(nodes: usize) -> Ballot {
    let patience = Patience {
        with_silence: ms(20),
        before_look: ms(2),
    };
    let mut ballot = Ballot::new(nodes, STAMP, TTL, patience);
    let commands = ballot.ask(true, at(0));
    assert_eq!(commands.len(), nodes);
    for (node, command) in commands {
        send(&mut ballot, node, command, 0);
    }
    ballot
}

fn send(ballot: &mut Ballot, node: usize, command: Command, now: u64) {
    ballot.sent(node, command, at(now));
    ballot
        .place_mut(node)
        .note(SendEvent::Sending(ON), TTL, true);
}

/// Creates an owner that the first nodes have answered at 1 ms, after commands at 0 ms.
fn answered(nodes: usize, replies: impl IntoIterator<Item = NodeReply>) -> Ballot {
    let mut ballot = asked(nodes);
    for (node, reply) in replies.into_iter().enumerate() {
        ballot.place_mut(node).outstanding.answered(ON);
        ballot.answered(node, at(0), reply, at(1));
    }
    ballot
}

fn acquire(proposal: Proposal) -> Command {
    let queue = true;
    Command::Acquire { queue, proposal }
}

fn unavailable() -> WireError {
    WireError::unavailable("the connection broke")
}

#[test]
fn majority_with_one_token_has_the_lock_from_the_time_of_its_last_vote() {
    let mut ballot = asked(5);
    for (node, sent) in [(0, 3), (1, 1), (4, 2)] {
        assert_eq!(ballot.verdict(at(4)), Verdict::Open);
        ballot.answered(node, at(sent), vote(TOKEN), at(4));
    }
    let has = |at| Verdict::Has {
        grant: grant(TOKEN),
        at,
    };
    assert_eq!(ballot.verdict(at(4)), has(at(1)));
    ballot.answered(2, at(4), vote(TOKEN), at(5));
    assert_eq!(ballot.verdict(at(5)), has(at(2)), "three votes are enough");
}

#[test]
fn largest_token_is_written_back_where_there_is_less() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN + 16)]);
    let largest = FencingToken::new(TOKEN + 16);
    assert_eq!(ballot.verdict(at(1)), Verdict::Unequal(largest));
    let again = acquire(Proposal::Known(TOKEN + 16));
    assert_eq!(ballot.due(true, at(1)), [(0, again)]);
    send(&mut ballot, 0, again, 1);
    ballot.answered(0, at(1), vote(TOKEN + 16), at(2));
    assert!(matches!(ballot.verdict(at(2)), Verdict::Has { .. }));
}

#[test]
fn first_proposal_is_a_guess_and_later_ones_are_tokens_of_nodes() {
    let mut ballot = Ballot::new(3, STAMP, TTL, asked(3).patience);
    let first = acquire(Proposal::Guess(STAMP + GUESS_AHEAD));
    assert_eq!(
        ballot.ask(true, at(0)),
        [(0, first), (1, first), (2, first)]
    );
    let mut ballot = answered(3, [vote(TOKEN)]);
    ballot.unanswered(1, &unavailable());
    let later = acquire(Proposal::Known(TOKEN));
    assert_eq!(ballot.ask(true, at(2)), [(0, later), (1, later)]);
}

#[test]
fn expired_vote_does_not_count() {
    let ballot = answered(3, [vote(TOKEN), vote(TOKEN)]);
    assert!(matches!(ballot.verdict(at(9_800)), Verdict::Has { .. }));
    assert_eq!(
        ballot.verdict(at(9_900)),
        Verdict::Open,
        "the margin counts"
    );
}

#[test]
fn early_node_does_not_vote_and_is_asked_again_by_the_next_attempt() {
    let mut ballot = answered(3, [vote(TOKEN), early(900), early(950)]);
    assert_eq!(ballot.verdict(at(1)), Verdict::Open);
    assert!(matches!(ballot.progress(at(1), false), Progress::TooFew));
    let early = ballot.reasons();
    assert_eq!(early.len(), 2);
    assert!(matches!(early[1], (2, Reason::Early(left)) if left == ms(950)));
    let commands = ballot.due(true, at(1));
    assert!(commands.is_empty(), "{commands:?}");
    assert_eq!(ballot.ask(true, at(600)).len(), 3);
}

/// The third node has no vote for a minute.
#[test]
fn owner_gives_way_although_a_node_is_early() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1), early(60_000)]);
    assert!(ballot.due(true, at(1)).is_empty());
    let looks = ballot.due(true, at(3));
    let nodes: Vec<usize> = looks.iter().map(|&(node, _)| node).collect();
    assert_eq!(nodes, [1]);
    send(&mut ballot, 1, looks[0].1, 3);
    ballot.answered(1, at(3), of_another(1), at(4));
    let token = FencingToken::new(TOKEN);
    assert_eq!(ballot.due(true, at(4)), [(0, Command::Yield { token })]);
}

#[test]
fn node_that_turns_out_to_be_early_has_no_vote() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN + 16), of_another(1)]);
    let (node, command) = ballot.due(true, at(1))[0];
    send(&mut ballot, node, command, 1);
    ballot.answered(node, at(1), early(60_000), at(2));
    assert_eq!(ballot.verdict(at(2)), Verdict::Open);
    assert!(matches!(ballot.reasons()[..], [(0, Reason::Early(_))]));
}

#[test]
fn node_is_yielded_to_an_earlier_waiter_that_a_message_announces() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1)]);
    assert!(ballot.due(true, at(1)).is_empty());
    ballot.notified(0);
    let yielding = Command::Yield {
        token: FencingToken::new(TOKEN),
    };
    assert_eq!(ballot.due(true, at(1)), [(0, yielding)]);
    assert!(ballot.is_contended());
}

#[test]
fn node_is_not_yielded_if_no_other_owner_has_a_node() {
    let mut ballot = answered(3, [vote(TOKEN)]);
    ballot.notified(0);
    assert!(ballot.due(true, at(1)).is_empty());
}

#[test]
fn vote_does_not_count_while_it_is_yielded() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1)]);
    let yielding = Command::Yield {
        token: FencingToken::new(TOKEN),
    };
    send(&mut ballot, 0, yielding, 1);
    ballot.answered(2, at(0), vote(TOKEN), at(2));
    assert_eq!(ballot.verdict(at(2)), Verdict::Open);
    ballot.answered(0, at(1), vote(TOKEN), at(3));
    let kept = Verdict::Has {
        grant: grant(TOKEN),
        at: at(0),
    };
    assert_eq!(ballot.verdict(at(3)), kept, "a kept yield raises no expiry");
}

#[test]
fn token_of_an_unanswered_yield_no_longer_counts() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1), vote(TOKEN)]);
    let yielding = Command::Yield {
        token: FencingToken::new(TOKEN),
    };
    send(&mut ballot, 0, yielding, 1);
    ballot.unanswered(0, &unavailable());
    let commands = ballot.ask(true, at(3));
    let above = acquire(Proposal::Known(TOKEN + 1));
    assert_eq!(commands[0], (0, above));
    send(&mut ballot, 0, above, 3);
    ballot.answered(0, at(3), vote(TOKEN), at(4));
    assert_eq!(
        ballot.verdict(at(4)),
        Verdict::Open,
        "the late yield would take it"
    );
    send(&mut ballot, 0, above, 5);
    ballot.answered(0, at(5), vote(TOKEN + 1), at(6));
    assert_eq!(
        ballot.verdict(at(6)),
        Verdict::Unequal(FencingToken::new(TOKEN + 1))
    );
}

#[test]
fn split_nodes_are_checked_again_before_the_owner_yields() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1), of_another(2)]);
    assert!(
        ballot.due(true, at(1)).is_empty(),
        "the first check is planned"
    );
    assert_eq!(ballot.next_time(at(1)), Some(at(3)));
    let looks = ballot.due(true, at(3));
    let nodes: Vec<usize> = looks.iter().map(|&(node, _)| node).collect();
    assert_eq!(nodes, [1, 2]);
    for (node, command) in looks {
        send(&mut ballot, node, command, 3);
    }
    ballot.answered(1, at(3), of_another(1), at(4));
    assert!(ballot.due(true, at(4)).is_empty(), "one has not answered");
    ballot.answered(2, at(3), of_another(2), at(4));
    let yields = ballot.due(true, at(4));
    assert!(
        matches!(yields[..], [(0, Command::Yield { .. })]),
        "{yields:?}"
    );
}

#[test]
fn owner_does_not_wait_for_a_silent_node_before_it_gives_way() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1)]);
    for (node, command) in [ballot.due(true, at(1)), ballot.due(true, at(3))].concat() {
        send(&mut ballot, node, command, 3);
        ballot.answered(node, at(3), of_another(1), at(4));
    }
    assert!(ballot.due(true, at(4)).is_empty());
    let due = ballot.due(true, at(21));
    assert!(matches!(due[0], (0, Command::Yield { .. })), "{due:?}");
}

#[test]
fn owner_keeps_its_nodes_while_another_has_a_majority() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1), of_another(1)]);
    for (node, command) in [ballot.due(true, at(1)), ballot.due(true, at(3))].concat() {
        send(&mut ballot, node, command, 3);
        ballot.answered(node, at(3), of_another(1), at(4));
    }
    let commands = ballot.due(true, at(4));
    let is_yield = |(_, command): &(usize, Command)| matches!(command, Command::Yield { .. });
    assert!(!commands.iter().any(is_yield), "{commands:?}");
    let Progress::Waits(waiting) = ballot.progress(at(4), false) else {
        panic!("not waiting for another owner");
    };
    assert_eq!(waiting.holder, Holder::Ours("holder 1".to_owned()));
    assert_eq!(waiting.remaining, Some(ms(100)), "one more node is enough");
}

#[test]
fn attempt_is_open_until_enough_nodes_answered() {
    let mut ballot = asked(3);
    assert!(matches!(ballot.progress(at(1), false), Progress::Open));
    ballot.answered(0, at(0), of_another(1), at(1));
    assert!(matches!(ballot.progress(at(1), false), Progress::Open));
    ballot.unanswered(1, &unavailable());
    assert!(matches!(ballot.progress(at(1), false), Progress::Open));
    assert!(
        matches!(ballot.progress(at(30), false), Progress::Open),
        "a majority needs the silent node"
    );
    assert!(matches!(ballot.progress(at(30), true), Progress::TooFew));
    ballot.answered(2, at(0), of_another(2), at(31));
    assert!(matches!(ballot.progress(at(31), false), Progress::Waits(_)));
    let reasons = ballot.reasons();
    assert!(
        matches!(&reasons[..], [(1, Reason::Failed(_))]),
        "{reasons:?}"
    );
}

#[test]
fn silent_node_is_not_waited_for_where_the_others_are_a_majority() {
    let ballot = answered(3, [of_another(1), of_another(2)]);
    assert!(matches!(ballot.progress(at(1), false), Progress::Open));
    assert!(matches!(ballot.progress(at(21), false), Progress::Waits(_)));
}

#[test]
fn busy_lock_is_unknown_once_a_majority_is_silent() {
    let mut ballot = answered(3, [of_another(1), of_another(1), of_another(1)]);
    assert!(matches!(ballot.progress(at(1), false), Progress::Waits(_)));
    for (node, command) in ballot.ask(true, at(100)) {
        send(&mut ballot, node, command, 100);
    }
    ballot.answered(0, at(100), of_another(1), at(101));
    assert!(matches!(ballot.progress(at(200), false), Progress::Open));
    assert!(matches!(ballot.progress(at(1_100), true), Progress::TooFew));
    let reasons = ballot.reasons();
    assert!(
        matches!(
            reasons[..],
            [(1, Reason::Failed(_)), (2, Reason::Failed(_))]
        ),
        "{reasons:?}"
    );
}

#[test]
fn refusing_nodes_are_distinguished_from_silent_nodes() {
    let mut ballot = asked(3);
    ballot.place_mut(0).outstanding.refused(ON);
    ballot.unanswered(0, &WireError::refused("no right"));
    ballot.unanswered(1, &unavailable());
    // A command that the node refused does not need repeated ends there.
    let may_hold = [0, 1].map(|node| ballot.place_mut(node).outstanding.may_hold());
    assert_eq!(may_hold, [false, true]);
    let reasons = ballot.reasons();
    assert!(
        matches!(
            reasons[..],
            [
                (0, Reason::Refused(_)),
                (1, Reason::Failed(_)),
                (2, Reason::Failed(_))
            ]
        ),
        "{reasons:?}"
    );
}

#[test]
fn ended_owner_asks_no_longer_and_is_ended_where_it_may_be() {
    let mut ballot = answered(5, [vote(TOKEN), of_another(1), vote(TOKEN)]);
    ballot.notified(2);
    ballot.unanswered(3, &unavailable());
    let ends = ballot.end().expect("the owner was not ended before");
    let release = FirstEnd::Release(grant(TOKEN));
    let end = FirstEnd::End;
    assert_eq!(ends, [(0, release), (1, end), (2, end), (3, end), (4, end)]);
    assert_eq!(ballot.end(), None);
    ballot.notified(0);
    assert!(ballot.due(true, at(50)).is_empty());
}

#[test]
fn node_that_was_never_asked_needs_no_end() {
    let patience = asked(3).patience;
    let mut ballot = Ballot::new(3, STAMP, TTL, patience);
    assert_eq!(ballot.end(), Some(Vec::new()));
    assert!(matches!(ballot.ended(), Some(Ok(EndReply::NotOurs))));
}

#[test]
fn lock_is_freed_when_a_majority_reports_it() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN), vote(TOKEN)]);
    ballot.end();
    ballot.note_end(0, Ok(EndReply::Freed));
    assert!(ballot.ended().is_none());
    ballot.note_end(1, Err(unavailable()));
    ballot.note_end(2, Ok(EndReply::NotOurs));
    assert!(matches!(ballot.ended(), Some(Err(_))), "it is not known");
    ballot.await_ends_again();
    assert!(ballot.ended().is_none());
    ballot.note_end(1, Ok(EndReply::HandedOff));
    assert!(matches!(ballot.ended(), Some(Ok(EndReply::HandedOff))));
}

#[test]
fn lock_was_lost_if_so_many_nodes_deny_it_that_no_majority_is_left() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN), vote(TOKEN)]);
    ballot.end();
    ballot.note_end(0, Ok(EndReply::NotOurs));
    assert!(ballot.ended().is_none());
    ballot.note_end(1, Ok(EndReply::LeftQueue));
    assert!(matches!(ballot.ended(), Some(Ok(EndReply::LeftQueue))));
}

#[test]
fn command_that_was_not_written_is_forgotten() {
    let mut ballot = asked(3);
    assert!(ballot.place_mut(0).forget_unwritten(), "it was written");
    ballot.place_mut(0).note(SendEvent::Unsent(ON), TTL, true);
    assert!(!ballot.place_mut(0).forget_unwritten());
    assert_eq!(
        ballot.ask(true, at(1)).len(),
        1,
        "only it may be asked again"
    );
}

#[test]
fn message_that_no_command_answers_does_not_keep_an_attempt_from_asking() {
    let mut ballot = answered(3, [vote(TOKEN)]);
    ballot.unanswered(1, &unavailable());
    ballot.unanswered(2, &unavailable());
    // A waiter queues at the owner's node, and a late command has queued the owner at another node.
    ballot.notified(0);
    ballot.notified(1);
    assert!(!ballot.has_message(at(2)));
    assert!(ballot.due(true, at(2)).is_empty());
    assert_eq!(ballot.ask(true, at(2)).len(), 3);
}

#[test]
fn message_of_a_node_is_answered_by_a_command_to_it() {
    let mut ballot = answered(3, [of_another(1), of_another(1), of_another(1)]);
    assert!(!ballot.has_message(at(2)));
    ballot.notified(2);
    assert!(ballot.has_message(at(2)));
    let asked = ballot.due(true, at(2));
    assert_eq!(asked, [(2, acquire(Proposal::Guess(STAMP + GUESS_AHEAD)))]);
    send(&mut ballot, 2, asked[0].1, 2);
    assert!(!ballot.has_message(at(2)), "it is in flight");
    ballot.notified(2);
    assert!(!ballot.has_message(at(2)));
    ballot.answered(2, at(2), of_another(1), at(3));
    assert!(ballot.has_message(at(3)), "it came after the command");
}

#[test]
fn attempt_that_begins_with_a_message_asks_all_nodes_unless_the_owner_has_one() {
    let numbers = |asked: Vec<(usize, Command)>| asked.iter().map(|asked| asked.0).collect();
    let mut ballot = answered(5, (0..5).map(|_| of_another(1)));
    ballot.notified(2);
    let asked: Vec<usize> = numbers(ballot.ask(true, at(2)));
    assert_eq!(asked, [0, 1, 2, 3, 4]);

    let replies = (0..5).map(|node| {
        if node == 0 {
            vote(TOKEN)
        } else {
            of_another(1)
        }
    });
    let mut ballot = answered(5, replies);
    ballot.notified(2);
    let asked: Vec<usize> = numbers(ballot.ask(true, at(2)));
    assert_eq!(asked, [2]);
}

/// Creates an owner that the first node has notified, and that has then asked all nodes at 2 ms.
fn told() -> Ballot {
    let mut ballot = answered(3, [of_another(1), of_another(1), of_another(1)]);
    ballot.notified(0);
    for (node, command) in ballot.ask(true, at(2)) {
        send(&mut ballot, node, command, 2);
    }
    ballot
}

#[test]
fn expected_message_does_not_make_the_owner_yield() {
    let mut ballot = told();
    ballot.notified(2);
    ballot.answered(1, at(2), of_another(1), at(3));
    ballot.answered(2, at(2), vote(TOKEN), at(3));
    assert!(ballot.is_split(at(3)));
    assert_eq!(ballot.due(true, at(3)), [], "it was just given the node");
    ballot.notified(2);
    let token = FencingToken::new(TOKEN);
    assert_eq!(ballot.due(true, at(3)), [(2, Command::Yield { token })]);
}

#[test]
fn node_that_was_asked_before_the_end_came_is_asked_again_at_its_message() {
    let mut ballot = told();
    ballot.answered(0, at(2), vote(TOKEN), at(3));
    ballot.answered(1, at(2), of_another(1), at(3));
    assert_eq!(ballot.due(true, at(3)), []);
    ballot.notified(1);
    let again = acquire(Proposal::Known(TOKEN));
    assert_eq!(ballot.due(true, at(3)), [(1, again)]);
}

#[test]
fn only_the_first_message_during_the_first_command_was_expected() {
    let mut ballot = told();
    ballot.notified(1);
    ballot.notified(1);
    ballot.answered(1, at(2), vote(TOKEN), at(3));
    assert!(ballot.place_mut(1).is_notified(), "the second one");

    let mut ballot = told();
    ballot.answered(2, at(2), vote(TOKEN), at(3));
    send(&mut ballot, 2, acquire(Proposal::Known(TOKEN)), 3);
    ballot.notified(2);
    ballot.answered(2, at(3), vote(TOKEN), at(4));
    assert!(ballot.place_mut(2).is_notified(), "during another command");
}

/// A message is noted when it is read, an answer only when its task is polled.
#[test]
fn message_before_an_earlier_answer_makes_the_owner_ask_the_node_again() {
    let mut ballot = told();
    ballot.answered(0, at(2), vote(TOKEN), at(3));
    ballot.notified(1);
    ballot.answered(1, at(2), of_another(1), at(3));
    let again = acquire(Proposal::Known(TOKEN));
    assert_eq!(ballot.due(true, at(3)), [(1, again)]);
}

#[test]
fn second_message_of_a_node_asks_to_yield_although_the_first_began_the_attempt() {
    let mut ballot = told();
    ballot.notified(0);
    ballot.answered(0, at(2), vote(TOKEN), at(3));
    ballot.answered(1, at(2), of_another(1), at(3));
    let token = FencingToken::new(TOKEN);
    assert_eq!(ballot.due(true, at(3)), [(0, Command::Yield { token })]);
}

#[test]
fn message_counts_where_the_command_for_it_was_not_written() {
    let mut ballot = answered(3, [of_another(1), of_another(1), of_another(1)]);
    ballot.unanswered(2, &unavailable());
    ballot.notified(0);
    let asked = ballot.ask(true, at(2));
    let nodes: Vec<usize> = asked.iter().map(|&(node, _)| node).collect();
    assert_eq!(nodes, [0, 1], "the third has failed");
    for (node, command) in asked {
        ballot.sent(node, command, at(2));
        ballot.place_mut(node).forget_unwritten();
    }
    ballot.notified(1);
    assert!(ballot.place_mut(1).is_notified());
    let again = acquire(Proposal::Guess(STAMP + GUESS_AHEAD));
    let all = [0, 1, 2].map(|node| (node, again));
    assert_eq!(ballot.ask(true, at(3)), all, "another attempt");
    send(&mut ballot, 1, again, 3);
    ballot.answered(1, at(3), vote(TOKEN), at(4));
    ballot.notified(1);
    assert!(ballot.place_mut(1).is_notified());
}

#[test]
fn command_that_failed_is_not_repeated_in_its_attempt() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN + 16)]);
    let (node, command) = ballot.due(true, at(1))[0];
    send(&mut ballot, node, command, 1);
    ballot.unanswered(node, &unavailable());
    assert!(ballot.due(true, at(2)).is_empty());
    assert!(ballot.ask(true, at(2)).contains(&(node, command)));
}

#[test]
fn node_that_became_free_is_asked_once_more() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1), of_another(2)]);
    let yielding = Command::Yield {
        token: FencingToken::new(TOKEN),
    };
    send(&mut ballot, 0, yielding, 1);
    ballot.answered(0, at(1), NodeReply::Absent, at(2));
    let again = acquire(Proposal::Known(TOKEN));
    assert_eq!(ballot.due(true, at(2)), [(0, again)]);
    send(&mut ballot, 0, again, 2);
    ballot.answered(0, at(2), NodeReply::Absent, at(3));
    assert_eq!(ballot.due(true, at(3)).len(), 1);
}

#[test]
fn vote_of_a_clock_that_turns_out_to_be_off_is_dropped() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN)]);
    ballot.drop_vote(0, &unavailable());
    assert_eq!(ballot.verdict(at(1)), Verdict::Open);
    let reasons = ballot.reasons();
    assert!(matches!(reasons[0], (0, Reason::Failed(_))), "{reasons:?}");
}

#[test]
fn grant_that_came_too_late_is_asked_for_again() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN)]);
    ballot.hold(FencingToken::new(TOKEN));
    assert!(ballot.due(true, at(20_000)).is_empty());
    ballot.begin_attempt(asked(3).patience, false);
    assert_eq!(ballot.phase(), Phase::Acquires);
}

#[test]
fn end_that_finds_nothing_after_a_lost_answer_denies_nothing() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN), of_another(1)]);
    ballot.end();
    ballot.note_end(0, Ok(EndReply::Freed));
    ballot.note_end(2, Ok(EndReply::NotOurs));
    // The first end may have freed the node.
    ballot.place_mut(1).outstanding.ending(ON);
    ballot.note_end(1, Err(unavailable()));
    ballot.place_mut(1).outstanding.ending(ON);
    ballot.place_mut(1).outstanding.ending_is_known();
    ballot.note_end(1, Ok(EndReply::NotOurs));
    assert!(ballot.is_end_doubtful());
    assert!(
        matches!(ballot.ended(), Some(Ok(EndReply::NotOurs))),
        "who asks must not believe it"
    );
}

#[test]
fn unanswered_yield_makes_no_majority_of_votes() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN), of_another(1)]);
    let token = FencingToken::new(TOKEN);
    send(&mut ballot, 1, Command::Yield { token }, 1);
    ballot.looks = LOOKS;
    let progress = ballot.progress(at(30), false);
    assert!(matches!(progress, Progress::Waits(_)), "{progress:?}");
}

/// Two owners may each have seen the other on nodes that it no longer has. If both gave up, neither would have the
/// lock.
#[test]
fn caller_that_tries_and_has_a_node_doubts_the_majority_of_another() {
    let answers = || [vote(TOKEN), of_another(1), of_another(1)];
    let is_open = |ballot: &Ballot, now| matches!(ballot.progress(at(now), false), Progress::Open);
    let mut ballot = answered(3, answers());
    assert!(!is_open(&ballot, 1), "its waiting goes on in any case");

    ballot.begin_attempt(asked(3).patience, true);
    let again = acquire(Proposal::Known(TOKEN));
    send(&mut ballot, 0, again, 1);
    ballot.answered(0, at(1), vote(TOKEN), at(2));
    assert!(is_open(&ballot, 2));
    assert!(ballot.due(true, at(2)).is_empty());
    let looks = ballot.due(true, at(4));
    assert_eq!(looks, [(1, again), (2, again)]);
    for (node, look) in looks {
        send(&mut ballot, node, look, 4);
        ballot.answered(node, at(4), of_another(1), at(5));
    }
    assert!(is_open(&ballot, 21));
    assert!(!is_open(&ballot, 22), "it has had it for long");
    assert!(matches!(ballot.progress(at(5), true), Progress::Waits(_)));

    let mut ballot = asked(3);
    ballot.begin_attempt(asked(3).patience, true);
    for node in 0..3 {
        ballot.answered(node, at(0), of_another(1), at(1));
    }
    assert!(!is_open(&ballot, 1), "it never had a node");
}

/// The nodes answer more slowly than before, so the owner looks again before its doubt ends.
#[test]
fn caller_that_tries_accepts_a_majority_during_its_check() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1), of_another(1)]);
    ballot.begin_attempt(asked(3).patience, true);
    ballot.had_a_node = true;
    assert!(ballot.due(true, at(1)).is_empty());
    for sent in [5, 20] {
        for (node, look) in ballot.due(true, at(sent)) {
            send(&mut ballot, node, look, sent);
        }
        ballot.due(true, at(sent + 1));
        for node in [1, 2] {
            ballot.answered(node, at(sent), of_another(1), at(sent + 12));
        }
    }
    assert!(matches!(ballot.progress(at(32), false), Progress::Waits(_)));
}

#[test]
fn node_that_has_notified_an_owner_is_not_counted_for_its_last_holder() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1), of_another(1)]);
    ballot.begin_attempt(asked(3).patience, true);
    ballot.had_a_node = true;
    ballot.due(true, at(1));
    ballot.notified(1);
    let again = acquire(Proposal::Known(TOKEN));
    assert_eq!(ballot.due(true, at(2)), [(1, again)]);
    send(&mut ballot, 1, again, 2);
    ballot.due(true, at(40));
    let progress = ballot.progress(at(40), false);
    assert!(matches!(progress, Progress::Open), "{progress:?}");
}

#[test]
fn node_that_is_kept_is_not_offered_again_at_once() {
    let mut ballot = answered(3, [vote(TOKEN), of_another(1)]);
    for (node, command) in [ballot.due(true, at(1)), ballot.due(true, at(3))].concat() {
        send(&mut ballot, node, command, 3);
        ballot.answered(node, at(3), of_another(1), at(4));
    }
    let token = FencingToken::new(TOKEN);
    let yielding = Command::Yield { token };
    let offered = |ballot: &mut Ballot, now| {
        let due = ballot.due(true, at(now));
        due.iter().any(|&(_, command)| command == yielding)
    };
    assert!(offered(&mut ballot, 21), "the last node is silent");
    send(&mut ballot, 0, yielding, 21);
    ballot.answered(0, at(21), vote(TOKEN), at(22));
    // The owner looks at the other node in between.
    for now in [23, 30, 31, 40] {
        for (node, command) in ballot.due(true, at(now)) {
            assert_ne!(command, yielding, "at {now}");
            send(&mut ballot, node, command, now);
            ballot.answered(node, at(now), of_another(1), at(now));
        }
    }
    assert!(ballot.next_time(at(41)) <= Some(at(42)));
    assert!(offered(&mut ballot, 43), "it is still silent");
}

#[test]
fn answer_of_a_silent_node_makes_an_attempt_wait_longer() {
    let mut ballot = asked(3);
    let patience = ballot.patience;
    ballot.answered(0, at(0), vote(TOKEN), at(20));
    assert_eq!(ballot.patience, patience, "it was not silent yet");
    ballot.answered(1, at(0), of_another(1), at(31));
    assert_eq!(ballot.patience, Patience::of(ms(31)));
    ballot.answered(2, at(0), of_another(1), at(5_000));
    assert_eq!(ballot.patience.with_silence, ms(200));
}

#[test]
fn command_that_a_message_asked_for_is_due_again_if_it_was_not_written() {
    let mut ballot = answered(3, [of_another(1), of_another(1), of_another(1)]);
    ballot.notified(1);
    let again = acquire(Proposal::Guess(STAMP + GUESS_AHEAD));
    assert_eq!(ballot.due(true, at(2)), [(1, again)]);
    ballot.sent(1, again, at(2));
    assert!(!ballot.place_mut(1).forget_unwritten());
    // Another node sends a message.
    ballot.notified(2);
    assert_eq!(ballot.due(true, at(3)), [(1, again), (2, again)]);
}

#[test]
fn node_that_comes_to_a_holder_is_confirmed_once() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN), of_another(1)]);
    ballot.notified(2);
    assert!(ballot.take_late_claims().is_empty(), "it has not won");
    ballot.hold(FencingToken::new(TOKEN));
    ballot.notified(0);
    assert_eq!(ballot.take_late_claims(), [2], "it has the first already");
    ballot.notified(2);
    assert!(ballot.take_late_claims().is_empty(), "it is in flight");
    assert_eq!(ballot.confirms_claim(2), Some(TTL));
    assert_eq!(ballot.take_late_claims(), [2]);
    ballot.end();
    assert_eq!(ballot.confirms_claim(2), None, "it has ended");
}

#[test]
fn answer_that_comes_to_a_holder_is_a_vote() {
    let mut ballot = answered(3, [vote(TOKEN), vote(TOKEN)]);
    ballot.hold(FencingToken::new(TOKEN));
    ballot.notified(2);
    assert!(ballot.take_late_claims().is_empty(), "it has not answered");
    ballot.answered(2, at(0), vote(TOKEN), at(30));
    assert!(ballot.place(2).held().is_some());
    assert!(ballot.take_late_claims().is_empty());
}
