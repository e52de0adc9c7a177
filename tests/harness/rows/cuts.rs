//! A connection that breaks in mid-command: was it carried out or not?

use super::LONG;
use crate::proxy::Proxy;
use crate::rounds::{Class, Round, Row};

/// The acquire is carried out, and its answer is lost: asked again, it is the same holder.
pub(super) const REPLY_CUT: Row = Row::new("reply_cut", Class::E, reply_cut);

fn reply_cut(round: &mut Round<'_>) {
    let proxy = Proxy::start(round.server.port());
    let worker = round.worker_at(&proxy.url());
    proxy.cut_next_reply(&round.lock.k);
    let mut worker = round.hold(worker, LONG);
    assert_eq!(proxy.cuts(), 1, "the fault happened");
    let fence = round.lock.fence().expect("a token was minted");
    let value = round.lock.value().expect("it is held");
    assert_eq!(value[23..39], fence, "one acquisition, one token");
    round.visit(&mut worker);
    round.release(&mut worker);
    round.retire(worker);
}
