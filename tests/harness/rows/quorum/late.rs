//! Commands that arrive when their sender has lost patience.

use std::time::Instant;

use super::split::{Side, split};
use super::{follow, label_and_token, lock_at, roles};
use crate::proxy::{Mode, Proxy};
use crate::quorum::RedisQuorum;
use crate::rounds::{Class, Row};
use crate::rows::intrude;
use crate::wait::{PATIENCE, wait_until};

/// A process gives a node away, and the command is held back. Then the process has the lock after all, with that node,
/// and the command arrives: it names another token, and does nothing.
pub(in crate::rows) const CEDE_LATE: Row =
    Row::of_quorum("quorum_cede_late", Class::E, RedisQuorum::start, |round| {
        let nodes @ [_, ceded, third] = roles(round);
        // The node learns the script.
        let [mut first, mut second] = [Side::new(round), Side::new(round)];
        split(round, [&mut first, &mut second], nodes);
        first.proxies[ceded].heal();
        for side in [&mut first, &mut second] {
            round.granted(&side.worker);
            round.visit(&mut side.worker);
            round.release(&mut side.worker);
            side.proxies[third].heal();
        }
        let before = [first, second];

        let [mut first, mut second] = [Side::new(round), Side::new(round)];
        let near = Proxy::start(round.server.nodes[ceded].port());
        second.proxies[ceded].redirect(near.port());
        split(round, [&mut first, &mut second], nodes);
        let mut lock = lock_at(round, ceded);
        let record = lock.value().expect("it is held");
        let (label, token) = label_and_token(&record);
        near.requests(Mode::Hold);
        first.proxies[ceded].heal();
        let cede = format!("{label}\r\n$16\r\n{token}\r\n");
        wait_until("command that gives the node away", PATIENCE, || {
            near.has_held(&cede)
        });
        let mut at_third = lock_at(round, third);
        second.proxies[third].heal();
        wait_until("third node", PATIENCE, || {
            at_third.is_held_by(&second.worker)
        });
        second.proxies[ceded].redirect(round.server.nodes[ceded].port());
        second.proxies[ceded].kill_connections();
        round.granted(&second.worker);
        assert_eq!(second.worker.ask("look", PATIENCE), "looked");

        let mut monitor = round.server.nodes[ceded].monitor();
        near.heal();
        let cede = format!("{label}\" \"{token}\" \"");
        wait_until("late command", PATIENCE, || {
            let mut sent = monitor.take().into_iter();
            sent.any(|command| command.text.contains(&cede))
        });
        let is_left = lock.is_held_by(&second.worker);
        if !is_left {
            round.granted(&first.worker);
            intrude(&mut first.worker);
        }
        assert_eq!(second.worker.ask("write", PATIENCE), "written");
        assert!(is_left, "the node was taken from its holder");
        let released = Instant::now();
        round.release(&mut second.worker);
        follow(round, &mut first.worker, released);
        first.proxies[third].heal();
        for side in before.into_iter().chain([first, second]) {
            side.retire(round);
        }
    })
    .long();
