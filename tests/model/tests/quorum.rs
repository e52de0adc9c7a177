//! A lock on a majority of nodes: every state of every configuration, and the mistakes that must be found.

use lock_model::Explore;
use lock_model::quorum::{
    BACKED, CONFIGURATIONS, EXCLUSION, MAJORITY, Mistake, Quorum, TOKENS_RISE,
};

fn named(name: &str) -> Quorum {
    let mut all = CONFIGURATIONS.iter();
    *all.find(|of| of.name.strip_prefix("quorum, ") == Some(name))
        .expect("a configuration")
}

#[test]
fn majority_excludes_and_serves_in_every_state() {
    for configuration in CONFIGURATIONS {
        configuration.explore().expect_whole();
    }
}

#[test]
fn every_mistake_is_found() {
    let shows = [
        (Mistake::NoWriteBack, "two owners", TOKENS_RISE),
        (Mistake::FirstToken, "two owners", TOKENS_RISE),
        (Mistake::VotesAtOnce, "flushed", EXCLUSION),
        (Mistake::VotesAtOnce, "restarted", EXCLUSION),
        (Mistake::EarlyTokenKept, "after a loss", TOKENS_RISE),
        (Mistake::CedeWithoutToken, "a break and a poll", BACKED),
        (Mistake::CededVoteCounts, "a slow answer", BACKED),
        (Mistake::VoidTokenCounts, "a break and a poll", BACKED),
        (
            Mistake::LostHolderRecreates,
            "renewal of one tick",
            TOKENS_RISE,
        ),
        (Mistake::FenceNotRaised, "two owners", TOKENS_RISE),
        (Mistake::HalfIsEnough, "two owners", EXCLUSION),
        (Mistake::HalfIsEnough, "two owners", BACKED),
        (Mistake::HalfIsEnough, "two owners", MAJORITY),
        (Mistake::DeadlineFromReply, "two owners", BACKED),
    ];
    for mistake in Mistake::ALL {
        let mut shown = shows.iter().map(|show| show.0);
        assert!(
            shown.any(|of| of == mistake),
            "{mistake:?} is not in the table"
        );
    }
    for (mistake, name, rule) in shows {
        let report = named(name).with(mistake).explore_for(rule);
        report.expect_broken(rule, &mistake);
    }
}
