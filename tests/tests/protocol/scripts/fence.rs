//! Tokens, and the fence that makes them rise.

use super::transcript::transcripts;

transcripts! { Lock;
token_is_the_servers_clock_in_microseconds = "
    A acquire           | held now          | fence now, remembered
    A release
    # A clock just past the second keeps its zeros.
    pass to 20ms
    A acquire           | held now          | fence now"

/// Since September 2001 the seconds since 1970 have ten digits. A smaller number is not a token.
clock_of_fewer_digits_gives_a_token_of_as_many_as_ever = "
    back 946080000s
    A acquire           | held 1000000000s  | A 1000000000s, fence 1000000000s, remembered
    A release
    A take              | held none
    A mint              | held 1000000000s+16 | A 1000000000s+16, fence 1000000000s+16, remembered
    B acquire r
    A end w
    B acquire r         | held 1000000000s+32 | shared 1000000000s+32
    pass 946080000s"

largest_fence_still_gives_a_whole_grant = "
    set F max
    A acquire           | held max+16"

fence_that_is_no_such_number_is_refused = "
    for fence in 9007199254740960, _, -1, 1.5, 1e3, 0x10, ~7, 7\\n, nan, 9{400}
    set F '$fence'
    A acquire           | refused LOCKFENCE
    A acquire r         | refused LOCKFENCE"

fence_that_is_no_such_number_keeps_a_lock_from_its_next_owner = "
    for fence in 9007199254740990, x
    A acquire           | held a
    set F '$fence'
    B acquire           | refused LOCKFENCE
    revoke a            | refused LOCKFENCE"

token_that_is_asked_for_later_is_the_time_of_the_grant = "
    A take              | held none
    pass 5s
    A mint 3s           | held now-3s       | A now-3s, fence now-3s, expiry F 86400s
    A mint 1s           | held now-3s       | A now-3s, fence now-3s
    A end
    B acquire           | held b
    B end
    # It stays above those of earlier holders, by whatever clock.
    A take              | held none
    A mint 30s          | held b+16         | A b+16, fence b+16, remembered"

fence_is_kept_for_its_time_from_a_late_mint = "
    A take 604800s      | held none
    pass 172800s
    A mint 172800s      | held zero         | A zero, fence zero, expiry F 86400s"

reader_that_was_the_holder_has_the_next_token_however_late = "
    A acquire           | held a
    pass 5s
    A downgrade 5s      | held a+16         | shared a+16, fence a+16, expiry F 86400s
    A downgrade 1s      | held a+16         | shared a+16, fence a+16
    B acquire r         | held a+16
    A end r
    B end r
    C acquire           | held c
    lose F
    pass 5s
    C downgrade         | held c+16         | shared c+16, fence c+16"

reader_that_was_a_holder_without_a_token_has_the_time_of_the_grant = "
    A take              | held none
    pass 5s
    A downgrade 3s      | held now-3s       | shared now-3s, fence now-3s, expiry F 86400s
    A downgrade 1s      | held now-3s
    A end r
    B acquire           | held b
    B end
    # It stays above those of earlier holders, by whatever clock.
    A take              | held none
    A downgrade 30s     | held b+16         | shared b+16, fence b+16"

token_counts_on_where_the_fence_is_ahead_of_the_clock = "
    set F zero+1h
    A take              | held none         | fence zero+1h
    A mint              | held zero+3600000016 | A zero+3600000016, fence zero+3600000016, remembered"

fence_that_is_no_such_number_keeps_the_lock_without_a_token = "
    for fence in 9007199254740960, _, -1, 1.5, 1e3, 0x10, ~7, 7\\n, nan, 9{400}
    A take
    set F '$fence'
    A mint              | refused LOCKFENCE
    A renew             | held none
    A release           | freed"
}
