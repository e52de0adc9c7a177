//! Shares of crashed holders.

use super::transcripts;

transcripts! { Lock;
waiters_go_in_when_a_share_lapses = "
    CDE listen
    A acquire 2/3 10s
    B acquire 1/3
    CDE acquire 1/3
    pass 9500ms
    CDE acquire 1/3
    pass 501ms
    C acquire 1/3       | held+             | inside BCD, queue E"

/// As if K had no expiry: the shares decide.
phase_whose_shares_have_all_lapsed_is_over = "
    for share in r, 1/1
    A acquire r 10s     | held a
    persist K
    persist R
    pass 10001ms
    B acquire $share    | held b            | inside B"

release_takes_lapsed_shares_off = "
    A acquire 2/5
    B acquire 2/5 10s
    C acquire 1/5
    pass 10001ms
    A release 2/5       | freed             | inside C, sum 1"

/// Only lapsed shares are left.
release_of_the_last_share_that_lives_frees_the_lock = "
    A acquire r
    B acquire r 10s
    pass 10001ms
    A release r         | freed             | free"

permits_of_300_crashed_holders_are_had_after_three_scripts = "
    A acquire r
    crash 300 zero+10s
    B try 1/300         | waits 0           | sum 301
    pass 10001ms
    # One script takes 128 off.
    B acquire 1/300     | held              | inside 174, sum 174
    C try 300/300       | waits 0           | inside 46
    C try 300/300       | waits 0           | inside 2
    C acquire 298/300   | held              | inside ABC, sum 300"

/// Sorted by their names, 128 lapsed shares come before this one.
own_share_that_lapsed_behind_many_others_counts_once = "
    for step sum in acquire_1/900 174, end_r 173
    X acquire r
    z acquire r 10s
    crash 300 with:z
    pass 10001ms
    z $step             |                   | inside ?, sum $sum"

waiter_whose_share_lapsed_behind_many_others_counts_once = "
    zW listen
    X acquire r
    z acquire r 10s
    crash 300 with:z
    pass 10001ms
    W acquire w
    z acquire r
    W end w             | left              | inside ?, shares zclaim"
}
