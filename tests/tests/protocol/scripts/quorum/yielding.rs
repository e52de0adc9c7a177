//! `yield`: an owner yields a node to a waiter with an earlier stamp.

use super::transcripts;

transcripts! { Node;
lock_goes_to_the_same_stamp_by_the_entry = "
    B listen
    C acquire 30        | held c
    B acquire 30
    C yield c 30        | waits 1 B"

lock_is_not_given_to_dead_or_deaf_waiters = "
    AE listen
    C acquire 30        | held c
    A acquire 10
    A dies
    B acquire 20
    C yield c 30        | held+ c           | same
    # Behind them is one that lives.
    E acquire 25
    C yield c 30        | waits 2 E         | queue BC"

owner_without_the_lock_changes_nothing = "
    A acquire 10        | held a
    B acquire 20
    C yield a 5         | waits 0 A         | same
    B yield a 5         | waits 1 A         | same
    expire
    A yield a 10        | waits 0 0s nobody | same
    B yield a 10        | waits 1 0s nobody | same
    set K 'stranger'
    A yield 5 0         | waits 0 stranger forever | same"

/// The caller may have waited that long on a node that has lost its entry since.
stamp_of_long_ago_is_compared_as_it_is = "
    B listen
    C acquire -90s      | held c
    B acquire -10
    C yield c -90s      | held+ c           | same"

stamp_ahead_of_the_clock_becomes_the_time = "
    B listen
    C acquire 0         | held c
    B acquire -10000
    C yield c +3600s    | waits 1 B         | stamp C now"
}
