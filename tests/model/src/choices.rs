//! The actions that may come next, apart from faults.

use crate::client::{Body, Client, Downgrade, Lease, Owner, Phase};
use crate::configuration::Configuration;
use crate::faults::Fault;
use crate::seeded::Seeded;
use crate::world::{Action, World};

impl World {
    pub(crate) fn choices(&self, configuration: &Configuration, actions: &mut Vec<Action>) {
        if self.time_may_pass(configuration) {
            actions.push(Action::Tick);
        }
        for (id, client) in (0..).zip(&self.clients) {
            if !client.connection.up.is_empty() {
                actions.push(Action::Deliver(id));
            }
            if !client.connection.stray.is_empty() {
                actions.push(Action::DeliverStray(id));
            }
            if client.alive {
                if self.may_notice(client) {
                    actions.push(Action::NoticeTakeover(id));
                }
                self.of_client(id, client, configuration, actions);
            } else if client.subscribed {
                actions.push(Action::Notice(id));
            }
        }
    }

    /// A command arrives within a bounded time or is lost. Clients may be arbitrarily slow.
    fn time_may_pass(&self, configuration: &Configuration) -> bool {
        !self.is_notice_due()
            && self.clients.iter().all(|client| {
                let mut up = client.connection.up.iter();
                up.all(|request| request.age < configuration.delay)
            })
    }

    fn of_client(
        &self,
        id: u8,
        client: &Client,
        configuration: &Configuration,
        actions: &mut Vec<Action>,
    ) {
        if client.may_call() {
            actions.push(Action::Arrive(id));
        }
        if !client.shares_left.is_empty() {
            actions.push(Action::ArriveToShare(id));
        }
        if !client.connection.down.is_empty() {
            actions.push(Action::Receive(id));
        }
        for owner in &client.owners {
            let number = owner.number;
            match &owner.phase {
                Phase::Competing(_) if !owner.awaits_reply => {
                    actions.push(Action::Poll(id, number));
                }
                Phase::Ending(_) if !owner.awaits_reply => {
                    actions.push(Action::EndAgain(id, number))
                }
                Phase::Held(lease) => self.of_lease(id, owner, lease, configuration, actions),
                _ => {}
            }
        }
    }

    fn of_lease(
        &self,
        id: u8,
        owner: &Owner,
        lease: &Lease,
        configuration: &Configuration,
        actions: &mut Vec<Action>,
    ) {
        let number = owner.number;
        if lease.holding.is_unconfirmed() && lease.is_valid() {
            actions.push(Action::Confirm(id, number));
        }
        if lease.body == Body::Over {
            if lease.retained == 0 && configuration.seeded != Some(Seeded::RetainedForever) {
                actions.push(Action::EndRetained(id, number));
            }
            return;
        }
        let inside = lease.body == Body::Inside;
        let unchecked =
            configuration.seeded == Some(Seeded::TurnUnchecked) && lease.holding.turn() > 0;
        if !inside && (lease.is_valid() || unchecked) {
            actions.push(Action::Start(id, number));
        }
        if inside && (lease.is_valid() || configuration.synchronous) {
            actions.push(Action::Finish(id, number));
        }
        if lease.deadline == 0 && !lease.lost {
            actions.push(Action::Lose(id, number));
        }
        let may_begin = owner.share.is_none() && self.budget.allows(Fault::Downgrade);
        let downgrades = may_begin || lease.downgrades == Downgrade::Asked;
        if inside && lease.is_valid() && downgrades && !owner.awaits_reply {
            actions.push(Action::Downgrade(id, number));
        }
        let lacks_token = inside && lease.is_valid() && lease.token == 0 && !lease.minting;
        if lacks_token && self.budget.allows(Fault::Mint) {
            actions.push(Action::Mint(id, number));
        }
        // A lease without a body is not renewed: its caller may never take it.
        let due = inside
            && lease.is_valid()
            && lease.deadline < owner.ttl
            && !lease.holding.is_renewing();
        if due && self.budget.allows(Fault::Renew) {
            let ttls = [Some(owner.ttl), configuration.short_renewal];
            let renewals = ttls.into_iter().flatten();
            actions.extend(renewals.map(|ttl| Action::Renew(id, number, ttl)));
        }
    }
}
