//! Explores frames to exhaustion: an outer body cancelled with a carried child, a grandchild that
//! outlives its parent, and everything else that five frames can do.

use std::io::Write;

use lock_model::frames::{Frames, Misshared};

#[test]
fn lease_is_shared_until_its_last_user_is_gone() {
    let (states, wrong) = Frames::default().explore();
    let line = format!("frames {states:>25} states\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("stderr is open");
    assert_eq!(wrong, [] as [&str; 0]);
}

#[test]
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
