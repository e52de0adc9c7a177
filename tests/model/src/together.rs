//! Calls for several locks: their scripts, and the rules of each run.
//!
//! A client does the same as for one lock. A call for several is in no local queue, and takes its
//! locks in the same order everywhere. Messages add nothing, since polls come at any time.

use crate::audit::Breach;
use crate::conduct::Verdict;
use crate::configuration::Configuration;
use crate::faults::Fault;
use crate::network::{Incoming, Reply, Server};
use crate::server::{Answer, Command, KeysRun, Mode, OwnerId, Records, Token, run_keys};
use crate::world::World;

impl World {
    /// The server runs the script of a call for several locks.
    pub(crate) fn run_together(
        &mut self,
        id: u8,
        command: Command,
        configuration: &Configuration,
    ) -> KeysRun {
        // `last` stays 0 here, so its tokens come from the fences.
        let site = self.site(Server::Target, Mode::Normal, configuration);
        let mut locks: Vec<Records> = self.locks_of(id).cloned().collect();
        let before = locks.clone();
        let run = run_keys(&mut locks, command, &configuration.rules(), &site);
        self.audit_together(command, &before, &run, &locks);
        for (lock, records) in self.client(id).locks().to_vec().into_iter().zip(locks) {
            match usize::from(lock).checked_sub(1) {
                None => self.records = records,
                Some(lock) => self.beside[lock] = records,
            }
        }
        run
    }

    fn audit_together(
        &mut self,
        command: Command,
        before: &[Records],
        run: &KeysRun,
        after: &[Records],
    ) {
        let (Command::Acquire { owner, .. }
        | Command::Renew { owner, .. }
        | Command::Release { owner }
        | Command::End { owner, .. }) = command
        else {
            return;
        };
        let has = |records: &Records| records.holder() == Some(owner);
        let had_all = before.iter().all(has);
        let later = after.get(run.in_the_way + 1..).unwrap_or_default();
        let (is_broken, breach) = match (command, run.answer) {
            (Command::Acquire { .. }, Answer::Waiting { .. }) => (
                later.iter().any(has) && !run.holds_later,
                Breach::LaterUnseen,
            ),
            (Command::Acquire { .. }, Answer::Held { token, .. }) => (
                after.iter().any(|records| token_of(records) > token),
                Breach::TokenFell,
            ),
            (Command::Renew { .. }, Answer::Held { .. }) => (!had_all, Breach::PartRenewed),
            _ => (false, Breach::TokenFell),
        };
        if is_broken {
            self.breaches.add(breach);
        }
        for (before, after) in before.iter().zip(after) {
            let is_granted = after.holder().is_some() && after.holder() != before.holder();
            if is_granted && token_of(after) <= before.last_token() {
                self.breaches.add(Breach::TokenFell);
            }
        }
        if had_all && !after.iter().any(has) {
            self.note_freed_of(owner);
        }
    }

    /// A client reads a message. If the message reports a caller that waits for a lock, that caller
    /// holds no later lock. A late command may take one after the answer; the next poll reports it.
    pub(crate) fn receive_in_order(&mut self, id: u8, configuration: &Configuration) -> Verdict {
        let next = self.client(id).connection.down[0];
        self.client(id).receive(configuration)?;
        let late = [Fault::Tear, Fault::Timeout, Fault::Double];
        if let Incoming::Reply(Reply {
            number,
            answer: Some(Answer::Waiting { .. }),
            in_the_way,
            ..
        }) = next
            && !late.iter().any(|&late| configuration.budget.allows(late))
            && self.clients[usize::from(id)].waits_as(number)
        {
            let owner = OwnerId { client: id, number };
            let mut after = self.locks_of(id).skip(usize::from(in_the_way) + 1);
            if after.any(|records| records.holder() == Some(owner)) {
                return Err(Breach::OutOfOrder);
            }
        }
        Ok(())
    }
}

/// The token in the lock's record.
fn token_of(records: &Records) -> Token {
    records.ours().map_or(0, |ours| ours.token)
}
