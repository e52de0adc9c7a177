//! Ends an owner on all nodes.

use crate::backend::redis::quorum::ballot::place::{Ended, Place, Standing};
use crate::backend::redis::quorum::ballot::{Ballot, Phase};
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::EndReply;
use crate::lease::record::Grant;

/// How an owner is ended on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstEnd {
    /// The owner holds the node with this grant, and no waiter is known.
    Release(Grant),
    End,
}

impl Ballot {
    /// Ends the owner: no acquire, yield or hold follows. Returns the nodes that may have something of it, and how to
    /// end it there; `None` if it was ended before.
    pub(crate) fn end(&mut self) -> Option<Vec<(usize, FirstEnd)>> {
        if self.phase == Phase::Ended {
            return None;
        }
        self.phase = Phase::Ended;
        let ending = |place: &Place| {
            if !place.outstanding.may_be_stored() {
                return None;
            }
            Some(match place.standing {
                Standing::Held { grant, .. }
                    if !place.is_contended() && !place.outstanding.may_arrive() =>
                {
                    FirstEnd::Release(grant)
                }
                _ => FirstEnd::End,
            })
        };
        let places = self.places.iter_mut().enumerate();
        let endings = places.filter_map(|(node, place)| {
            let ending = ending(place);
            if ending.is_none() {
                place.ended = Ended::Answered(Ok(EndReply::NotOurs));
            }
            Some((node, ending?))
        });
        Some(endings.collect())
    }

    /// Notes the answer of `node` to an end.
    pub(crate) fn note_end(&mut self, node: usize, ended: Result<EndReply, WireError>) {
        let place = &mut self.places[node];
        // On a node that an earlier end has freed, a later end finds nothing.
        if matches!(place.ended, Ended::Answered(Ok(_)) | Ended::Doubtful) {
            return;
        }
        let finds_nothing = matches!(ended, Ok(EndReply::NotOurs | EndReply::LeftQueue));
        place.ended = if finds_nothing && place.outstanding.may_have_ended() {
            Ended::Doubtful
        } else {
            Ended::Answered(ended)
        };
    }

    /// Forgets failed answers, so that the outcome waits for those nodes again.
    pub(crate) fn await_ends_again(&mut self) {
        for place in &mut self.places {
            if let Ended::Answered(Err(_)) = place.ended {
                place.ended = Ended::Unknown;
            }
        }
    }

    /// Returns whether an unanswered end may have freed the lock on any node.
    pub(crate) fn is_end_doubtful(&self) -> bool {
        let mut places = self.places.iter();
        places.any(|place| matches!(place.ended, Ended::Doubtful))
    }

    /// Returns the outcome of the end; `None` while nodes that have not answered may change it.
    pub(crate) fn ended(&self) -> Option<Result<EndReply, WireError>> {
        let count = |is: &dyn Fn(&Result<EndReply, WireError>) -> bool| {
            let places = self.places.iter();
            let of = |place: &&Place| matches!(&place.ended, Ended::Answered(ended) if is(ended));
            places.filter(of).count()
        };
        let handed_off = count(&|ended| matches!(ended, Ok(EndReply::HandedOff)));
        let freed = handed_off + count(&|ended| matches!(ended, Ok(EndReply::Freed)));
        let left = count(&|ended| matches!(ended, Ok(EndReply::LeftQueue)));
        let not_ours = left + count(&|ended| matches!(ended, Ok(EndReply::NotOurs)));
        let nodes = self.places.len();
        let majority = self.majority();
        if freed >= majority {
            return Some(Ok(match handed_off {
                0 => EndReply::Freed,
                _ => EndReply::HandedOff,
            }));
        }
        if not_ours > nodes - majority {
            return Some(Ok(match left {
                0 => EndReply::NotOurs,
                _ => EndReply::LeftQueue,
            }));
        }
        let is_unknown = |place: &Place| matches!(place.ended, Ended::Unknown);
        if self.places.iter().any(is_unknown) {
            return None;
        }
        let mut errors = self.places.iter().filter_map(|place| match &place.ended {
            Ended::Answered(Err(error)) => Some(error.clone()),
            _ => None,
        });
        Some(match errors.next_back() {
            Some(error) => Err(error),
            // Some nodes freed the lock, and the others did not have it.
            None => Ok(EndReply::NotOurs),
        })
    }
}
