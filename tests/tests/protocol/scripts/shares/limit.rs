//! Permits: what is taken under which limit.

use super::transcripts;

transcripts! { Lock;
permits_are_had_up_to_the_limit = "
    AB acquire 1/2      | held a
    C acquire 1/2       | waits 1           | inside AB"

share_counts_as_often_as_it_takes = "
    A acquire 3/5       | held a
    B try 3/5           | waits 0
    C acquire 2/5       | held a
    D try 1/5           | waits 0           | sum 5
    A release 3/5       | freed             | sum 2
    B acquire 3/5       | held a            | inside BC, sum 5"

share_given_by_an_end_counts_as_often_as_it_takes = "
    BC listen
    A acquire 4/4
    B acquire 3/4
    C acquire 2/4
    A end 4/4           | handed            | inside B, sum 3"

limit_is_that_of_the_caller = "
    ABCD acquire 1/5    | held a
    # A deployment lowers the limit from 5 to 3 while 4 are taken.
    X try 1/3           | waits 0
    A release 1/5       | freed
    X try 1/3           | waits 0
    B release 1/5       | freed
    X acquire 1/3       | held a
    E acquire 1/5       | held a            | inside CDEX, sum 4"

readers_count_for_permits_and_have_no_limit_themselves = "
    ABC acquire r       | held a
    P try 1/3           | waits 0
    Q acquire 1/4       | held a
    D acquire r         | held a            | inside ABCDQ"

waiter_with_a_limit_learns_when_the_first_share_lapses = "
    A acquire 1/2 10s
    B acquire 1/2 60s
    C acquire 1/2       | waits 1 10s
    # Also if the lock itself does not expire.
    persist K
    C acquire 1/2       | waits 1 10s
    B renew 1/2
    W acquire w         | waits 2 60s
    pass 10001ms
    C acquire 1/2       | held              | inside BC"

/// No client asks for it. It must not block the queue of a free lock.
more_than_the_limit_is_had_alone = "
    B listen
    A acquire
    B acquire 5/3
    C acquire 1/3
    A end w             | handed            | inside B
    C acquire 1/3       | waits 1"
}
