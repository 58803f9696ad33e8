//! E: the control plane. C: crashes and leadership. S: what is stale, missed or out of order.

use super::Tried::{Missing, Plans, Test};
use super::{Row, row};

const LEASE: &str = "crates/kubewright/src/lease/election/tests.rs";

pub(super) const ROWS: &[Row] = &[
    row(
        "E1",
        "the API server is killed and comes back",
        &[
            it!("faults", "an_api_server_that_is_away_for_half_a_minute_is_waited_for"),
            long!("outages", "server_is_away"),
        ],
    ),
    row(
        "E2",
        "etcd is killed",
        &[own!("outages", "e2_a_store_that_is_killed_is_waited_for_and_no_status_flaps")],
    ),
    row(
        "E3",
        "etcd takes no writes",
        &[own!("refusals", "e3_a_store_without_space_is_asked_less_and_less_and_all_heals")],
    ),
    row(
        "E5",
        "the API server halts with its sockets open",
        &[
            it!("faults", "requests_to_a_paused_api_server_end_by_their_deadline"),
            Test(LEASE, "a_leader_whose_server_is_paused_stops_before_its_lease_is_over"),
            long!("outages", "server_halts"),
        ],
    ),
    row(
        "E6",
        "a request is sent and nothing comes back",
        &[
            Plans(".silence"),
            Plans(".answer-lost"),
            Plans(".truncated"),
            it!("faults", "a_write_whose_answer_is_lost_is_not_done_twice"),
        ],
    ),
    row(
        "E7",
        "a watch ends with 410",
        &[
            Plans(".expire"),
            it!("faults", "a_watch_that_expires_is_listed_again_once_and_nothing_is_deleted"),
        ],
    ),
    row("E9", "nothing but bookmarks", &[Plans(".bookmarks"), long!("outages", "nothing_happens")]),
    row(
        "E11",
        "429 with Retry-After on all writes",
        &[own!("refusals", "e11_a_server_that_asks_for_patience_is_given_it")],
    ),
    row(
        "E12",
        "5 s for every call",
        &[
            Test(LEASE, "a_server_that_takes_five_seconds_for_each_answer_costs_nobody_the_lease"),
            it!("faults", "a_slow_api_server_is_put_up_with"),
            long!("outages", "server_is_slow"),
        ],
    ),
    row(
        "E14",
        "ten conflicts in a row",
        &[own!("refusals", "e14_ten_conflicts_in_a_row_are_overcome_with_few_tries")],
    ),
    row(
        "E15",
        "certificates and tokens are replaced",
        &[long!("credentials", "keys_are_replaced")],
    ),
    row(
        "E16",
        "our definition is not served",
        &[
            own!("outages", "d8_a_definition_that_is_deleted_and_comes_back_is_followed"),
            long!("outages", "definition_is_away"),
            Missing("an API server one minor version older or newer in place of the one that runs"),
        ],
    ),
    row(
        "E18",
        "no DNS, wrong clock",
        &[long!("credentials", "clock_is_late"), long!("names", "name_is_not_found")],
    ),
    row("E19", "another client floods the API server", &[long!("flood", "others_flood")]),
    row("C1", "SIGKILL before, in and after each write", &[Plans(".kill-")]),
    row(
        "C3",
        "SIGTERM during a write",
        &[
            own!("stopping", "c3_a_write_on_its_way_is_finished_and_the_lease_given_back"),
            it!("restart", "stopping_waits_for_the_passes_that_run"),
        ],
    ),
    row("C4", "out of memory at the first list", &[long!("limits", "too_little_memory")]),
    row(
        "C5",
        "a pass panics",
        &[it!("isolation", "a_panicking_a_hanging_and_a_failing_object_leave_the_others_alone")],
    ),
    row(
        "C6",
        "a leader is cut off and lives on",
        &[
            it!("leader", "a_leader_that_is_cut_off_ends_and_writes_nothing_after_its_successor"),
            it!("leader", "a_leader_that_was_paused_ends_without_a_write"),
            Plans(".leader-change"),
        ],
    ),
    row(
        "C8",
        "the lease is deleted or changed by hand",
        &[
            Test(LEASE, "a_lease_that_is_deleted_by_hand_is_written_again_by_its_leader"),
            Test(LEASE, "a_leader_keeps_a_lease_whose_fields_were_removed_by_hand"),
            Test(
                LEASE,
                "a_leader_ends_when_the_record_names_another_and_a_standby_takes_over_later",
            ),
        ],
    ),
    row(
        "C10",
        "leaders are killed again and again",
        &[
            it!("leader", "a_killed_leader_is_succeeded_within_17_seconds_each_time"),
            it!("leader", "one_of_two_writes_and_the_other_takes_over_at_once_when_it_stops"),
            long!("restarts", "leaders_die"),
        ],
    ),
    row(
        "C12",
        "it is restarted again and again",
        &[
            it!("quiet", "a_restarted_operator_lists_once_and_writes_nothing"),
            e2e!("killing", "however_often_the_operator_is_killed_the_end_is_right"),
            long!("restarts", "restarted"),
        ],
    ),
    row(
        "S2",
        "a child is replaced between look and write",
        &[
            own!("stale", "s2_a_child_that_was_replaced_before_the_write_came_is_left_alone"),
            it!("ownership", "a_child_that_was_replaced_under_our_hands_is_not_deleted"),
        ],
    ),
    row("S3", "an event is never seen", &[Plans(".hide")]),
    row(
        "S4",
        "a hundred changes in a second",
        &[
            own!("refusals", "s4_a_hundred_sizes_in_a_second_cost_at_most_five_writes"),
            it!("spacing", "a_hundred_changes_in_a_second_cost_few_writes_and_the_last_is_right"),
        ],
    ),
    row(
        "S6",
        "one kind is not there yet at the start",
        &[own!("starting", "s6_nothing_is_written_before_all_kinds_are_listed")],
    ),
    row(
        "S7",
        "the write of a status is lost",
        &[Plans(".answer-lost"), Plans(".unsent")], // each write is a target, and with it each status
    ),
    row(
        "S8",
        "events twice and out of order",
        &[Plans(".duplicate"), Plans(".reorder"), Plans(".delay")],
    ),
    row("S10", "an older list during a change", &[Plans(".stale")]),
];
