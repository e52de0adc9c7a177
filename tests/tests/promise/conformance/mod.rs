//! One suite that runs on every backend: the behaviour that users may rely on wherever the locks are kept.
//!
//! A case is a function that takes a [`Store`](store::Store). Each backend is one line at the end of this file, and
//! each case one word. Behaviour of a single kind of store has a file of its own.
//!
//! Five backends differ in how they keep a lock, and play all cases. TLS, a socket, sentinels and a user with few
//! rights change how the bytes of the same commands travel, so these backends play the cases in which that could
//! matter, and all cases in `long`.

mod blocking;
mod campaigns;
mod dropping;
mod exclusion;
mod held_locks;
mod leases;
mod memory_time;
mod operation;
mod operations;
mod options;
mod permits;
mod readers;
mod reserve;
mod runs;
mod several;
mod share_callers;
mod share_leases;
mod share_order;
mod share_runs;
mod shutdown;
mod store;
mod testing;
mod tokens;
mod tools;
mod waiting;
mod watches;

macro_rules! suite {
    ($backend:ident) => {
        suite! { @with $backend;
            readers {
                readers_hold_the_lock_together, reader_and_writer_exclude_each_other,
                reader_and_writer_are_never_inside_at_once, tokens_rise_from_phase_to_phase,
                busy_error_of_a_writer_has_the_number_of_readers, busy_error_of_a_writer_has_the_rest_of_the_last_lease,
            }
            permits {
                permits_are_granted_up_to_their_limit, permits_count_as_many_as_they_take,
                caller_is_bound_by_its_own_limit, permit_and_plain_lock_exclude_each_other,
                more_than_the_limit_is_never_taken, busy_error_has_the_number_of_taken_permits,
            }
            share_order {
                writer_goes_in_before_readers_that_came_later, one_permit_does_not_overtake_three,
                readers_behind_a_writer_go_in_together,
                permits_that_fit_go_in_together, waiter_that_gives_up_admits_the_callers_behind_it,
                writer_that_is_not_polled_keeps_readers_out_only_for_its_wait,
                tokens_rise_among_holders_of_all_kinds,
            }
            share_leases {
                lapsed_share_frees_only_its_part, lost_share_drops_only_its_body,
                writer_waits_for_the_last_reader_to_lapse, renewal_extends_shares_past_their_ttl,
                every_end_of_a_share_releases_it,
            }
            share_callers {
                writer_dropped_behind_readers_admits_more_of_them, share_dropped_while_others_hold_theirs_is_released,
                blocking_calls_share_a_lock,
            }
            reserve {
                lock_stays_taken_until_its_minimum_is_over, longer_body_frees_the_lock_at_once,
                every_end_of_a_hold_reserves_the_lock,
                lost_lock_is_not_reserved, several_locks_are_reserved_together, impossible_minimum_is_refused,
                downgraded_writer_has_no_minimum,
            }
            several {
                one_guard_holds_all_and_frees_all, lock_that_is_named_twice_is_held_once,
                one_token_is_above_all_before_and_below_all_after,
                blocking_lock_is_named_and_the_others_are_released,
                locks_before_the_awaited_one_and_locks_that_are_held_are_renewed,
                callers_of_every_order_never_wait_for_each_other,
                lock_that_the_call_tree_holds_is_entered, caller_that_is_dropped_leaves_nothing_behind,
                thread_acquires_several_locks, keys_that_cannot_be_locked_together_are_refused,
                without_renewal_all_are_lost_at_their_ttl,
            }
            share_runs {
                readers_and_permits_have_a_run_each, writer_that_becomes_a_reader_has_one_run, reader_that_crashed_died,
                run_of_several_locks_is_recorded_for_each,
            }
            operations {
                readers_are_shown_and_revoked_together, permits_are_shown_with_what_they_take,
                revoked_lock_among_several_ends_the_call,
            }
        }
    };
    // The record has room for one holder only.
    (exclusive $backend:ident) => {
        suite! { @with $backend; }
    };
    (@with $backend:ident; $($more:tt)*) => {
        suite! { @cases $backend;
            $($more)*
            exclusion {
                two_are_never_inside_at_once, a_busy_error_names_the_holder, busy_error_has_the_rest_of_the_lease,
                every_end_of_a_hold_frees_the_lock, the_lock_is_free_when_the_last_guard_has_gone,
                keys_do_not_exclude_each_other,
            }
            waiting {
                a_wait_ends_in_time, a_waiter_is_served_when_the_holder_leaves,
                a_waiter_is_served_when_the_lease_ends, a_grant_that_is_not_fetched_ends_with_its_ttl,
                callers_are_served_in_order, a_waiter_that_gives_up_leaves_the_queue,
            }
            dropping {
                an_acquire_dropped_at_any_poll_leaves_nothing_behind,
                an_acquire_dropped_while_it_is_served_releases_the_lock, a_release_that_is_dropped_still_releases,
                a_renewal_that_is_dropped_does_not_outlive_the_release,
                a_guard_dropped_by_a_dying_runtime_is_released,
            }
            leases {
                lease_is_renewed_up_to_its_max_hold_or_once_by_hand, without_renewal_the_hold_is_lost_at_its_ttl,
                a_max_hold_below_the_ttl_ends_the_hold,
                a_body_is_dropped_when_its_lease_ends, a_body_that_ends_in_time_gives_its_result,
                a_guard_has_its_keys_and_remaining_time,
            }
            tokens {
                token_is_given_once_and_stays, tokens_rise_among_holders_that_ask, callers_in_a_local_queue_have_a_token_if_they_ask,
                nested_call_mints_the_token_of_the_outermost_call, holder_that_has_lost_its_lock_gets_no_token,
                thread_asks_for_a_token,
            }
            blocking {
                a_blocking_call_works_on_a_plain_thread, a_blocking_call_works_inside_a_current_thread_runtime,
                a_blocking_call_works_inside_a_worker_of_a_runtime, a_thread_waits_for_its_turn,
                a_blocking_body_runs_to_its_end_and_then_fails,
            }
            options {
                a_ttl_must_be_in_range, a_max_hold_must_leave_room_for_a_lease, a_key_must_be_usable,
                a_builder_checks_its_settings, defaults_come_from_the_client,
            }
            operation {
                every_store_answers_a_ping, held_lock_is_shown_with_its_holder, free_lock_is_shown_as_free,
                locks_that_are_held_are_listed, listing_has_pages_and_goes_on_from_its_position,
                locks_of_this_process_are_known_without_the_store, revoked_body_is_dropped_and_its_error_names_the_operator,
                revoked_lock_goes_to_the_next_waiter_with_a_higher_token, lock_of_another_holder_or_of_none_is_not_revoked,
                holder_that_was_seen_before_it_had_a_token_is_revoked,
                operation_is_in_the_audit_before_and_after, unusable_key_is_refused,
            }
            runs {
                each_end_of_a_run_is_recorded, run_has_its_times_and_its_holder,
                run_without_an_end_died_once_its_lock_is_over, nested_call_is_part_of_the_outermost_run,
                each_caller_of_a_client_has_a_run, only_the_last_runs_are_kept, number_of_runs_must_be_in_range,
            }
            held_locks { held_lock_is_known_to_its_call_tree, lost_lock_is_not_held }
            campaigns {
                stopped_leader_has_freed_its_lock, next_candidate_leads_when_the_leader_stops,
                stopped_candidate_leaves_the_queue, leader_that_loses_its_lock_stands_again_at_once,
                candidate_that_does_not_wait_asks_again, failure_of_a_lock_inside_the_body_ends_the_campaign,
                campaign_that_is_stopped_already_asks_for_nothing, result_of_a_leader_that_is_done_survives_a_stop,
                dropped_campaign_frees_its_lock,
                panic_of_a_leader_frees_its_lock,
            }
            watches {
                watch_tells_the_state_and_each_change_of_holder_once, each_watch_begins_with_the_current_state,
                client_that_waits_for_the_lock_learns_of_its_holder_at_once,
                lease_that_ends_by_itself_is_told, watch_ends_when_its_client_is_shut_down,
                impossible_interval_or_key_is_refused,
            }
            shutdown {
                nothing_begins_after_a_shutdown, a_waiter_fails_at_a_shutdown, a_body_may_finish_during_a_shutdown,
                a_body_that_goes_on_is_ended_by_a_shutdown, a_kept_guard_does_not_block_a_shutdown_for_ever,
            }
        }
    };
    // The bytes of a command take another way, or a right could be missing. Each case has its reason.
    (chosen $backend:ident) => {
        suite! { @cases $backend;
            exclusion {
                // Six connections log in at once, and make 60 hand-offs between them.
                two_are_never_inside_at_once,
                // The holder's label is read back from its record.
                a_busy_error_names_the_holder,
            }
            waiting {
                // A message without a request, on the subscription of the same connection.
                a_waiter_is_served_when_the_holder_leaves,
            }
            dropping {
                // A reply whose caller is gone, and a write that nobody polls any longer.
                an_acquire_dropped_while_it_is_served_releases_the_lock,
                // The connection outlives the runtime on which it was made.
                a_guard_dropped_by_a_dying_runtime_is_released,
            }
            tokens {
                // This has a script of its own.
                token_is_given_once_and_stays,
            }
            leases {
                // The background sends, while no caller polls the connection.
                lease_is_renewed_up_to_its_max_hold_or_once_by_hand,
            }
            blocking {
                // A thread uses the socket that otherwise its own runtime drives.
                a_blocking_call_works_inside_a_current_thread_runtime,
                // A thread waits for a message.
                a_thread_waits_for_its_turn,
            }
            options {
                // Keys of every byte, and the longest key.
                a_key_must_be_usable,
            }
            share_order {
                // The scripts of shares, and one command that sends five messages.
                readers_behind_a_writer_go_in_together,
            }
            reserve {
                // The script that reserves a lock.
                lock_stays_taken_until_its_minimum_is_over,
            }
            several {
                // The scripts of several locks: all are acquired and renewed,
                one_guard_holds_all_and_frees_all,
                // or the caller leaves a queue and gives back what it has.
                blocking_lock_is_named_and_the_others_are_released,
            }
            campaigns {
                // The release of a lock that was dropped is awaited.
                stopped_leader_has_freed_its_lock,
            }
            watches {
                // The background asks, with the rights of a viewer.
                watch_tells_the_state_and_each_change_of_holder_once,
            }
            operation {
                // A listing walks over the keys of the server that has them.
                locks_that_are_held_are_listed,
                // An operator's command sends messages to a holder and a waiter.
                revoked_lock_goes_to_the_next_waiter_with_a_higher_token,
                // The audit is a stream, which needs rights of its own.
                operation_is_in_the_audit_before_and_after,
            }
            runs {
                // The record is a stream, which needs a right of its own, and nobody waits for its answers.
                each_end_of_a_run_is_recorded,
            }
            shutdown {
                // The last commands leave before the connection is closed.
                a_waiter_fails_at_a_shutdown,
            }
        }
    };
    (@cases $backend:ident; $($topic:ident { $($case:ident),* $(,)? })*) => {
        mod $backend {
            $(mod $topic {
                $(#[tokio::test]
                async fn $case() {
                    crate::conformance::$topic::$case(crate::conformance::store::$backend()).await;
                })*
            })*
        }
    };
}

suite!(memory);
suite!(redis);
suite!(redis_cluster);
suite!(exclusive redissons_record);
suite!(exclusive quorum);
suite!(chosen redis_least_privileged);
suite!(chosen redis_over_tls);
suite!(chosen redis_sentinel);
#[cfg(unix)]
suite!(chosen redis_over_a_unix_socket);

mod long {
    suite!(redis_least_privileged);
    suite!(redis_over_tls);
    suite!(redis_sentinel);
    #[cfg(unix)]
    suite!(redis_over_a_unix_socket);
}
