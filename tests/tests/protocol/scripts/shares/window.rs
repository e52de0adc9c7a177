//! Shares that are granted and not confirmed: 32, few enough that all can be confirmed within their claim. The crowd
//! are forty letters, in order of arrival.

use super::transcripts;

transcripts! { Lock;
end_of_a_writer_grants_32_shares_and_each_confirmation_one_more = "
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO listen
    A acquire w
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO acquire r
    A end w             | handed            | inside 32, queue HIJKLMNO
    a acquire r         | held+             | inside 33, queue IJKLMNO
    b acquire r         | held+             | inside 34
    cdefg acquire r     | held+             | inside 39, queue O
    h acquire r         | held              | inside 40, queue -
    i acquire r         | held              | inside 40"

share_that_ends_grants_as_much_as_it_took = "
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO listen
    A acquire w
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO acquire r
    A end w             | handed
    a end r             | handed            | inside 32, queue IJKLMNO"

permits_that_end_grant_as_much_as_they_took = "
    abcdef listen
    A acquire 3/4
    X acquire 1/4
    abcdef acquire 1/4
    A end 3/4           | handed            | inside Xabc"

poll_grants_32_shares_from_one_of_the_first_places_and_none_from_beyond = "
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOW listen
    X acquire r
    W acquire w
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO acquire r
    W dies
    O acquire r         | waits 40          | inside X
    # A newcomer grants one share and stays behind.
    Z try r             | waits 0           | inside Xa
    Z acquire r         | waits 39          | inside Xab
    c acquire r         | held+             | inside 35"

/// The forty are waiters of a process that was killed with a permit.
waiter_behind_forty_dead_ones_has_the_permit_that_is_free = "
    for lease passed answer in 3s 3001ms held+, 10s 10001ms held
    Y listen
    X acquire 4/5
    A acquire 1/5 $lease
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO acquire 1/5
    Y acquire 1/5       | waits 41
    pass $passed
    Y acquire 1/5       | $answer           | inside XY, sum 5"

waiters_behind_a_paused_writer_and_forty_dead_readers_go_in = "
    WYZ listen
    X acquire r
    W acquire w
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO acquire r
    YZ acquire r        |                   | inside X
    W silent
    Y acquire r         | held+             | inside XYZ, told Z"

dead_waiters_in_between_do_not_count_for_the_places_of_the_living = "
    Wabc listen
    X acquire r
    W acquire w
    defghijklmnopqrstuvwxyzBCDEFGHIJKLMN acquire r
    abc acquire r       |                   | inside X
    W dies
    c acquire r         | held+             | inside Xabc"

newcomer_to_a_free_lock_grants_32_shares_and_stays_behind = "
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO listen
    A acquire w
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO acquire r
    expire
    Z acquire r         | waits 9           | inside 32"

holder_that_becomes_a_reader_grants_32_shares_beside_its_own = "
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO listen
    A acquire w
    abcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNO acquire r
    A acquire r         | held+             | inside 33"
}
