//! A lock that is taken by a plain command, and `mint`, which gives its holder a token.

use super::transcript::transcripts;

transcripts! { Lock;
lock_that_was_taken_without_a_token_gets_one_when_its_holder_asks = "
    A take              | held none         | A none, 60s, without F, without Q, label host-A
    pass 5s
    A mint              | held now          | A now, 55s, fence now, remembered
    A renew 120s        | held now          | 120s
    A release           | freed             | free, fence now"

token_is_given_once = "
    A take
    A mint              | held a
    pass 5s
    A mint              | held a            | same
    B acquire
    A mint              | held+ a           | same"

lock_that_was_granted_has_its_token = "
    A acquire           | held a
    pass 5s
    A mint              | held a            | same"

holder_alone_is_given_one = "
    A mint              | nil               | same
    A take
    B mint              | nil               | same
    B acquire
    B mint              | nil               | same
    expire
    A mint              | nil               | same
    B acquire           | held b
    A mint              | nil               | same
    set K 'A{21}'
    A mint              | nil               | same"

flag_of_a_waiter_stays = "
    A listen
    A take
    B acquire           | waits 1           | A+ none, told A
    A mint              | held+ a           | A+ a, fence a, queue B"

lock_is_taken_only_if_it_is_free_and_whoever_queues = "
    B listen
    A take
    A take              | nil               | same
    B take              | nil               | same
    B acquire           | waits 1
    expire
    C take              | held none         | C none, queue B
    # The next poll says so to the holder, and keeps its place.
    C listen
    B acquire           | waits 1           | C+ none, told C, queue B
    C end               | handed            | B b, fence b"

tokens_rise_among_those_who_ask = "
    A take
    A mint              | held a
    A release
    B take
    B release
    C take
    C mint              | held c
    C end
    D acquire           | held d            | fence d"

token_counts_on_where_the_fence_is_ahead_of_the_clock = "
    set F zero+1h
    A take              | held none         | fence zero+1h
    A mint              | held zero+3600000016 | A zero+3600000016, fence zero+3600000016, remembered"

fence_that_was_lost_is_made_anew = "
    A take
    A mint              | held a
    lose F
    A mint              | held a            | same
    expire
    pass 1ms
    B take
    B mint              | held b            | fence b, remembered"

fence_that_is_no_such_number_keeps_the_lock_without_a_token = "
    for fence in 9007199254740960, _, -1, 1.5, 1e3, 0x10, ~7, 7\\n, nan, 9{400}
    A take
    set F '$fence'
    A mint              | refused LOCKFENCE
    A renew             | held none
    A release           | freed"

record_of_another_type_is_refused = "
    A take
    spoil F
    A mint              | refused WRONGTYPE
    spoil K
    A mint              | refused WRONGTYPE
    A take              | nil"

server_out_of_memory_gives_no_token_and_keeps_the_lock = "
    A take
    full
    A mint              | refused OOM
    A renew             | held none
    B take              | refused OOM
    A release           | freed"

lock_at_rest_gets_none = "
    A take
    A rest 180s         | reserved          | reserved none, 180s
    A mint              | nil               | same"

lock_that_became_a_share_has_its_token = "
    A take
    A downgrade         | held a            | shared a, inside A, fence a
    A mint              | nil               | same"

owner_without_a_token_is_revoked_by_its_id = "
    AB listen
    A take
    B acquire           | waits 1           | told A
    revoke 17           | another           | same
    revoke 'B{22}' -2   | another           | same
    revoke 'A{22}' -2   | handed            | B b, notified A, fence b
    # Sent twice, it finds B.
    revoke 'A{22}' -2   | another           | same"

owner_that_asked_for_a_token_meanwhile_is_revoked_by_its_id = "
    A take
    A mint              | held a
    revoke 'A{22}' -2   | freed             | free, fence a"

owner_that_is_back_in_the_queue_is_not_served_by_its_revocation = "
    AB listen
    A take
    A enters zero-1s
    B acquire
    revoke 'A{22}' -2   | handed            | B b, queue -"
}
