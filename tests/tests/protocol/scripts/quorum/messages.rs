//! Which owners are notified, and that no others are.

use super::transcripts;

transcripts! { Node;
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
}
