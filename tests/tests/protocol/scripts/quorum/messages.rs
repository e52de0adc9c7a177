//! Which owners are notified, and that no other one is.

use super::transcripts;

transcripts! { Node;
owner_is_told_of_the_first_waiter_and_of_each_new_head = "
    ABCM listen
    M acquire 50        |                   | tells -
    B acquire 20        |                   | tells M
    C acquire 30        |                   | tells -
    B acquire 20        |                   | tells -
    A acquire 10        |                   | tells M
    A acquire 10        |                   | tells -
    B acquire 5         |                   | tells -
    M acquire 50        |                   | tells -"

owner_is_told_of_a_head_that_is_worse_than_itself = "
    ABCM listen
    M acquire 50
    C acquire 90        |                   | tells M
    B acquire 80        |                   | tells M"

head_behind_dead_entries_is_the_first_live_one = "
    ABCM listen
    M acquire 50
    A acquire 10
    B acquire 15        |                   | tells M
    A dies
    # Behind B, which lives.
    C acquire 20        |                   | tells -
    C end
    B dies
    C acquire 20        |                   | tells M"

dead_entry_that_comes_back_is_a_new_head = "
    ABCM listen
    M acquire 50
    A acquire 10
    C acquire 30        |                   | tells M
    A dies
    A acquire 20        |                   | tells M
    A dies
    # C is before it.
    A acquire 40        |                   | tells -"

flag_that_was_lost_is_set_with_a_message = "
    ABCM listen
    M acquire 50
    A acquire 10        |                   | tells M
    unflag
    A acquire 10        |                   | tells M"

attempt_without_queueing_tells_no_owner = "
    ABCM listen
    M acquire 50
    A try 10            | waits 0           | tells -"

foreign_owner_is_told_nothing = "
    for value in stranger, X{22}+1{15}x~host-X
    ABX listen
    set K '$value'
    A acquire 10        |                   | tells -
    B acquire 5         |                   | tells -"

owner_of_a_claim_is_told_once = "
    ABCM listen
    M acquire 50
    A acquire 10        |                   | tells M
    expire
    B acquire 20        | waits 1 A         | tells A
    A acquire 10        |                   | tells -"

yield_tells_the_waiter_that_gets_the_lock = "
    ABCM listen
    M acquire 50        | held m
    B acquire 20        |                   | tells M
    A acquire 10        |                   | tells M
    M yield m+1 50      |                   | tells -
    # No stamp is better.
    M yield m 5         |                   | tells -
    M yield m 50        |                   | tells A"

end_tells_the_waiter_that_gets_the_lock = "
    ABCM listen
    M acquire 50
    C acquire 30        |                   | tells M
    B acquire 20        |                   | tells M
    C end               |                   | tells -
    M end               |                   | tells B"

hold_and_mark_tell_no_owner = "
    ABCM listen
    M acquire 50
    A acquire 10        |                   | tells M
    MB hold zero+1s     |                   | tells -
    expire
    M hold zero+1s      |                   | tells -
    mark                |                   | tells -"
}
