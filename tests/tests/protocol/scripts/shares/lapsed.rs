//! Shares of crashed holders.

use super::transcripts;

transcripts! { Lock;
crashed_holder_frees_its_own_share_alone = "
    A acquire 2/3 10s
    B acquire 1/3
    pass 10001ms
    C acquire 2/3       | held              | inside BC, sum 3"

lapsed_shares_are_taken_off_by_each_script_that_writes = "
    for script in release, end
    A acquire 3/9 10s
    BC acquire r
    pass 10001ms
    B $script r         | freed             | inside C, sum 1
    C release r         | freed             | free"

lapsed_shares_are_taken_off_by_a_poll_behind_a_writer = "
    A acquire 3/9 10s
    BC acquire r
    pass 10001ms
    W acquire w
    B acquire r         | held+             | inside BC, sum 2
    W end w             | left              | inside BC"

last_share_frees_the_lock_after_others_have_lapsed = "
    for script in release, end
    X acquire r 10s
    A acquire r
    pass 10001ms
    A $script r         | freed             | only F"

lapsed_share_comes_again_and_counts_once = "
    A acquire 2/9 10s   | held a
    B acquire r         | held a
    pass 10001ms
    A acquire 2/9 10s   | held a            | inside AB, sum 3"

lapsed_share_that_ends_is_taken_off_once = "
    A acquire 2/9 10s
    B acquire 3/9
    pass 10001ms
    A end 2/9           | freed             | inside B, sum 3
    A end 2/9           | another           | same"

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
