//! What may come next, faults aside.

use crate::client::{Body, Client, Episode, Hold, Phase, Step};
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
            if !client.link.up.is_empty() {
                actions.push(Action::Deliver(id));
            }
            if !client.link.stray.is_empty() {
                actions.push(Action::DeliverStray(id));
            }
            if client.alive {
                self.of_client(id, client, configuration, actions);
            } else if client.heard {
                actions.push(Action::Notice(id));
            }
        }
    }

    /// A command takes only so long to arrive, or it is lost. Clients may be as slow as they like.
    fn time_may_pass(&self, configuration: &Configuration) -> bool {
        self.clients.iter().all(|client| {
            let mut up = client.link.up.iter();
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
        if client.to_come > 0 {
            actions.push(Action::Arrive(id));
        }
        if !client.link.down.is_empty() {
            actions.push(Action::Receive(id));
        }
        for episode in &client.episodes {
            let number = episode.number;
            match &episode.phase {
                Phase::Competing { .. } if !episode.waiting => {
                    actions.push(Action::Poll(id, number));
                }
                Phase::Ending {
                    step: Step::Settle, ..
                } if !episode.waiting => actions.push(Action::EndAgain(id, number)),
                Phase::Held(hold) => self.of_hold(id, episode, hold, configuration, actions),
                _ => {}
            }
        }
    }

    fn of_hold(
        &self,
        id: u8,
        episode: &Episode,
        hold: &Hold,
        configuration: &Configuration,
        actions: &mut Vec<Action>,
    ) {
        let number = episode.number;
        if hold.body == Body::Over {
            if hold.retained == 0 && configuration.seeded != Some(Seeded::RetainedForever) {
                actions.push(Action::EndRetained(id, number));
            }
            return;
        }
        let inside = hold.body == Body::Inside;
        let unchecked = configuration.seeded == Some(Seeded::TurnUnchecked) && hold.turn > 0;
        if !inside && (hold.is_valid() || unchecked) {
            actions.push(Action::Start(id, number));
        }
        if inside && (hold.is_valid() || configuration.synchronous) {
            actions.push(Action::Finish(id, number));
        }
        if hold.deadline == 0 && !hold.lost {
            actions.push(Action::Lose(id, number));
        }
        // What was not handed over is not renewed: its caller may never come for it.
        let due = inside && hold.is_valid() && hold.deadline < episode.ttl && !hold.renewing;
        if due && self.budget.allows(Fault::Renew) {
            let ttls = [Some(episode.ttl), configuration.short_renewal];
            let renewals = ttls.into_iter().flatten();
            actions.extend(renewals.map(|ttl| Action::Renew(id, number, ttl)));
        }
    }
}
