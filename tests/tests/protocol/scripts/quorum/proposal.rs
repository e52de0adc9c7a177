//! Tokens that clients propose, so that nodes agree on one. The first part of the script takes a free lock; with a
//! queue, the rest does: `enters` decides that.

use super::transcripts;

transcripts! { Node;
token_is_the_largest_of_clock_fence_and_proposal = "
    for queue in pass_1us, W_enters_zero+3600s_heartless
    for fence proposal token in 1 '0' now, 1 zero+300000 zero+300000, 1 zero+990000 zero+990000, 1 zero-300000 now, 1 =zero+300000 zero+300000, 1 =zero-300000 now, 1 =zero+9s zero+9s, zero-1s zero+300000 zero+300000, zero+400000 '0' zero+400016, zero+400000 zero+400015 zero+400016, zero+400000 zero+400017 zero+400017, zero+400000 =zero+300000 zero+400016, zero+2s =zero+9s zero+9s
    set F $fence
    $queue
    A acquire 0 p=$proposal |               | fence $token, remembered
    A acquire 0         |                   | fence $token"

guess_far_ahead_of_the_clock_is_ignored = "
    for queue in pass_1ms, W_enters_zero+3600s_heartless
    for delay ahead token in 60000 990000 zero+990000, 60000 1010000 now, 4000 990000 zero+990000, 4000 1010000 now, 400 90000 zero+90000, 400 110000 now, 0 990000 zero+990000, 0 1010000 now
    delay $delay
    $queue
    A acquire 0 p=zero+$ahead |             | fence $token"

known_token_is_a_number_below_the_bound = "
    for queue in pass_1ms, W_enters_zero+3600s_heartless
    for bad in =9007199254740960, =9{400}, =, =x, ==5, =-5, =1e3, =0x10, =~7, =7\\n, _, x, -5, 1.5
    $queue
    A acquire 0 p='$bad' | refused LOCKFENCE"

fence_that_is_no_token_is_refused = "
    for fence in 9007199254740960, _, -1, 1.5, 1e3, 0x10, ~7, nan
    set F '$fence'
    A acquire 0         | refused LOCKFENCE
    A hold 5            | refused LOCKFENCE
    lose F
    A acquire 0         | held
    set F '$fence'
    B acquire 0         | refused LOCKFENCE"

largest_known_token_is_taken = "
    A acquire 0 p==max  | held max"

guess_beyond_every_token_is_ignored = "
    A acquire 0 p='9{400}' | held now"

/// As text, the first two are less than the token.
proposal_of_more_digits_for_an_own_lock_is_refused_and_of_fewer_changes_nothing = "
    A acquire 0         | held a
    A acquire 0 p='=1{17}'  | refused LOCKFENCE
    A acquire 0 p='=1{400}' | refused LOCKFENCE
    A acquire 0 p='=9'      | held a
    A acquire 0 p='=9{15}'  | held a        | fence a"

fence_above_a_proposal_for_an_own_lock_stays = "
    A acquire 0
    set F zero+9s
    A acquire 0 p==zero+5s | held zero+5s   | A zero+5s, fence zero+9s"

/// Since September 2001 the seconds since 1970 have ten digits. A smaller number is not a token.
clock_of_fewer_digits_gives_a_token_of_as_many_as_ever = "
    back 946080000s
    A acquire 0         | held 1000000000s  | A 1000000000s, fence 1000000000s
    pass 61s
    A end
    A acquire 0         | held 1000000000s+16 | A 1000000000s+16, fence 1000000000s+16
    pass 946080000s"

clock_just_past_the_second_keeps_its_zeros = "
    pass to 20ms
    A acquire 0         | held now          | fence now"
}
