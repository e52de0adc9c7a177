//! Whose failure ends a campaign, and when it stands again. In memory, mostly with paused time: what every backend must
//! do is in `conformance/campaigns`.

mod errors;
mod pauses;
mod places;
