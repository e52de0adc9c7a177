//! Explores frames to exhaustion: an outer body cancelled with a carried child, a grandchild that
//! outlives its parent, and everything else that five frames can do.

use libtest_mimic::Trial;
use lock_model::frames::{Frames, Misshared};

use crate::trial;

pub(crate) fn trials() -> [Trial; 2] {
    [
        trial(
            "lease_is_shared_until_its_last_user_is_gone",
            lease_is_shared_until_its_last_user_is_gone,
        ),
        trial(
            "mistakes_in_sharing_are_found",
            mistakes_in_sharing_are_found,
        ),
    ]
}

fn lease_is_shared_until_its_last_user_is_gone() {
    let (states, wrong) = Frames::default().explore();
    println!("frames {states:>25} states");
    assert_eq!(wrong, [] as [&str; 0]);
}

fn mistakes_in_sharing_are_found() {
    let rules = [
        (
            Misshared::EndsWithOutermost,
            "a frame that runs or is carried has the lock",
        ),
        (
            Misshared::PermitOfBody,
            "of two bodies that run one is nested in the other",
        ),
        (
            Misshared::OutlivesParent,
            "the lock is released with its last user",
        ),
    ];
    for (mistake, rule) in rules {
        let frames = Frames {
            misshared: Some(mistake),
        };
        let (_, wrong) = frames.explore();
        assert!(wrong.contains(&rule), "{mistake:?}: {wrong:?}");
    }
}
