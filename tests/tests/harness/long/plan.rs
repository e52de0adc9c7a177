//! The arguments of `lock-rounds`.

use harness::rounds::Plan;
use harness::rows;

#[test]
fn wrong_arguments_are_refused_with_the_mistake() {
    for (args, wrong) in [
        ("--rounds", "--rounds needs a value"),
        ("--rounds 0", "0 is no number above 0"),
        ("--at-once some", "some is no number above 0"),
        ("--budget 90", "90 is no time, such as 90s, 10m or 2h"),
        ("--budget m", "m is no time, such as 90s, 10m or 2h"),
        ("--client redisson", "no such client: redisson"),
        ("--client theirs", "no such client: theirs"),
        ("holder_paused no_row", "no such row: no_row"),
        ("--no-option", "no such row: --no-option"),
    ] {
        let words: Vec<_> = args.split(' ').map(str::to_owned).collect();
        let refused = Plan::parse(&words, &rows::table());
        assert_eq!(refused.err().as_deref(), Some(wrong), "{args}");
    }
}
