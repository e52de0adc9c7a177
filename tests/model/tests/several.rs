//! Callers of several locks: every state of every configuration, and the mistakes that must be found.

use lock_model::Explore;
use lock_model::server::KeysMistake;
use lock_model::several::{
    ALL_FREED, ALL_RENEWED, CONFIGURATIONS, DEADLINE, EXCLUSION, IN_ORDER, LATER_SEEN, Mistake,
    PHANTOM, RECOVERY, Several, TOKENS_RISE,
};

fn named(name: &str) -> Several {
    let mut all = CONFIGURATIONS.iter();
    *all.find(|of| of.name == name).expect("a configuration")
}

#[test]
fn locks_are_held_together_or_not_at_all() {
    for configuration in CONFIGURATIONS {
        configuration.explore().expect_whole();
    }
}

#[test]
fn every_mistake_is_found() {
    let in_script = Mistake::InScript;
    let shows = [
        (Mistake::Unsorted, "opposite orders", RECOVERY),
        (Mistake::LossUnnoticed, "one lock each", IN_ORDER),
        (in_script(KeysMistake::LaterUnseen), "torn", LATER_SEEN),
        (in_script(KeysMistake::LeavesLeases), "renewal", DEADLINE),
        (
            in_script(KeysMistake::LeavesLeases),
            "one lock each",
            EXCLUSION,
        ),
        (
            in_script(KeysMistake::EarlierUnchecked),
            "one lock each",
            EXCLUSION,
        ),
        (
            in_script(KeysMistake::TokenOfTheLast),
            "one lock each",
            TOKENS_RISE,
        ),
        (
            in_script(KeysMistake::NoOwnerCompare),
            "deleted, renewal",
            ALL_RENEWED,
        ),
        (
            in_script(KeysMistake::RenewsTheFirst),
            "deleted, renewal",
            ALL_RENEWED,
        ),
        (in_script(KeysMistake::ReleasesAPart), "renewal", ALL_FREED),
        (in_script(KeysMistake::EndsAPart), "giving up", PHANTOM),
    ];
    for (mistake, name, rule) in shows {
        let report = named(name).with(mistake).explore_for(rule);
        report.expect_broken(rule, &mistake);
    }
}
