//! `yield`: an owner yields a node to a waiter with an earlier stamp.

use super::transcripts;

transcripts! { Node;
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
}
