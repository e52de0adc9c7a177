//! The scripts for Redisson's record. Tokens are the server's time, so two of one moment are equal.

use super::transcript::transcripts;

transcripts! { Redisson;
free_lock_becomes_a_hash_of_its_owner_with_the_servers_time_as_token = "
    A acquire           | held now          | fields A1, 60s"

acquire_that_is_sent_twice_counts_once_and_never_shortens_the_lease = "
    A acquire 15s       | held now
    pass 1ms
    A acquire           | held now          | 60s
    A acquire 15s       | held now          | fields A1, 60s
    A release           | freed             | free
    A release           | absent            | free"

lock_without_an_expiry_gets_one_from_its_owner = "
    put A1
    A acquire           | held now          | 60s
    persist K
    A renew             | held now          | fields A1, 60s"

held_lock_is_answered_with_its_holder_and_stays_as_it_is = "
    put B2
    A acquire           | waits hash:BBBB forever | fields B2
    shorten K 30s
    A acquire           | waits hash:BBBB 30s | same
    A renew 120s        | nil               | same
    A release           | another           | same"

lock_of_many_holders_is_answered_without_its_mode_and_unread_if_it_is_large = "
    put B1 mode=read
    A acquire           | waits hash:BBBB forever
    put 1=1 2=1 3=1 4=1 5=1 6=1 7=1
    A acquire           | waits holder=hash: | same"

string_of_another_program_is_a_held_lock = "
    set K 'foreign' 30s
    A acquire           | waits holder=string:foreign 30s | same
    A renew             | nil               | same
    A release           | another           | same
    revoke B2           | another           | same"

key_of_another_type_is_refused = "
    spoil K
    A acquire           | refused WRONGTYPE
    A renew             | nil               | same
    A release           | another           | same"

renewal_extends_the_lease_of_its_owner_and_of_no_other = "
    A renew             | nil               | free
    A acquire 15s       | held now
    pass 1ms
    A renew             | held now          | 60s
    A renew 15s         | held now          | 60s
    B renew 120s        | nil               | same"

release_is_announced_to_waiters_and_to_the_first_of_a_fair_lock = "
    monitor
    A acquire
    B release           | another           | announces -
    A release           | freed             | free, announces all
    A release           | absent            | announces -
    push C D
    A acquire
    A release           | freed             | announces all C
    # A queue that is none takes nothing from the release.
    lose Q
    set Q 'x'
    A acquire
    A release           | freed             | announces all"

server_out_of_memory_refuses_newcomers_and_lets_holders_go_on = "
    A acquire 15s
    full
    A acquire           | held now          | 60s
    A renew 120s        | held now          | 120s
    A release           | freed             | free
    A acquire           | refused OOM"

revoked_lock_is_free_and_its_waiters_are_woken = "
    for holders in A1, C3_mode=read
    monitor
    push C
    put $holders
    revoke $holders     | freed             | free, announces all C"

record_that_is_another_one_is_not_revoked = "
    revoke A1           | absent            | same
    put B2
    revoke A1           | another           | same
    revoke B1           | another           | same
    revoke B2 A1        | another           | same
    revoke B2 B2        | another           | same
    revoke              | another           | fields B2"
}
