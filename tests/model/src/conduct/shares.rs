//! Shares: each call has its own owner and its own place in the queue. Locks become shares.
//!
//! # A lock becomes a share
//!
//! The owner of a lock sends a downgrade. The server refuses it unless the owner holds the lock or
//! shares it already: a lost lock is not retaken, since another writer may have held it.
//!
//! - From then on every command of the owner is a share's. A plain renewal that arrives after the
//!   downgrade would find the lock held by a phase. The scripts of shares also recognise an owner
//!   that has the lock alone.
//! - The answer counts if it is read before the lock's deadline: an expired lease stays lost.
//! - Without an answer the downgrade is sent again. The client relies on the share when an answer
//!   comes.
//! - An end of the owner removes its share and its queue entry: a late plain acquire queues an
//!   owner that shares the lock.

use super::acquisition::{Passed, call};
use super::{Verdict, count_from};
use crate::backend::engine::competing::Competing;
use crate::backend::engine::holding::Holding;
use crate::client::{Client, Downgrade, Phase};
use crate::configuration::Configuration;
use crate::network::Kind;
use crate::seeded::Seeded;
use crate::server::{Answer, Share, Ticks};

impl Client {
    /// A caller comes that shares the lock. It waits in Redis, not in the local queue.
    pub(crate) fn arrive_to_share(&mut self, rules: &Configuration) -> Verdict {
        let share = self.shares_left.pop().expect("a call is left");
        let ttl = rules.ttls()[self.shares_left.len() % 2];
        let heads_queue = self.sharing.enter(u32::MAX);
        let competing = Competing::new(call(ttl, Some(share), true, rules), heads_queue);
        self.begin(ttl, Some(share), competing, rules)
    }

    /// Turns the lock into a share. From now on the owner sends only the commands of shares: a
    /// plain renewal would find the lock held by a phase.
    pub(crate) fn downgrade(&mut self, index: usize, rules: &Configuration) -> Verdict {
        let ttl = self.owners[index].ttl;
        let mut granted = self.owners[index].granted;
        self.owners[index].share = Some(Share::READ);
        if let Phase::Held(lease) = &mut self.owners[index].phase {
            lease.downgrades = Downgrade::Asked;
            if lease.token > 0 {
                granted = 0;
            }
        }
        let verdict = self.send(index, Kind::Downgrade { ttl, granted }, false);
        if rules.seeded == Some(Seeded::DowngradeRenewsAlone) {
            self.owners[index].share = None;
        }
        verdict
    }

    /// The lock is a share if the answer is read before the lock's deadline.
    pub(super) fn downgrade_answered(
        &mut self,
        index: usize,
        answer: Answer,
        age: Ticks,
        rules: &Configuration,
    ) -> Verdict {
        let owner = &mut self.owners[index];
        let ttl = owner.ttl;
        let Phase::Held(lease) = &mut owner.phase else {
            unreachable!("the lock is held");
        };
        match answer {
            Answer::Held { flagged, token } if lease.is_valid() => {
                owner.share = Some(Share::READ);
                lease.downgrades = Downgrade::Done;
                lease.token = token;
                let age = count_from(age, rules);
                lease.deadline = lease.deadline.max(ttl - age);
                let headed = lease.holding.heads_queue();
                let granted_at = rules.turns_in_time().granted_before(age);
                lease.holding = Holding::granted(granted_at, flagged, false);
                if headed {
                    // Readers do not head the queue of exclusive callers.
                    return self.promote_next(Passed::NOTHING, rules);
                }
                Ok(())
            }
            Answer::Unavailable => Ok(()),
            _ if lease.lost => Ok(()),
            _ => {
                owner.share = Some(Share::READ);
                lease.deadline = 0;
                self.lose(index, rules)
            }
        }
    }
}
