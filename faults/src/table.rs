//! The list of scenarios: each with the test or plans that try it, or why it is not tried yet. Data; a test
//! sees to it that what is named here is there.

use crate::report::say;

/// Where a scenario is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// By these tests, each as file and function.
    Tests(&'static [(&'static str, &'static str)]),
    /// By plans with these in their ids.
    Plans(&'static str),
    /// By `make bench`, which measures it.
    Bench(&'static str),
    /// It is about something that the operator does not have.
    NotApplicable(&'static str),
    /// It is not, for this reason.
    Missing(&'static str),
}

/// One scenario.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its id.
    pub id: &'static str,
    /// What happens.
    pub what: &'static str,
    /// Where it is tried.
    pub tried: Tried,
}

const fn row(id: &'static str, what: &'static str, tried: Tried) -> Row {
    Row { id, what, tried }
}

use Tried::{Bench, Missing, NotApplicable, Plans, Tests};

macro_rules! it {
    ($file:literal) => {
        concat!("crates/kubewright/tests/it/", $file, ".rs")
    };
}
macro_rules! own {
    ($file:literal) => {
        concat!("faults/tests/it/", $file, ".rs")
    };
}
macro_rules! e2e {
    ($file:literal) => {
        concat!("e2e/tests/it/", $file, ".rs")
    };
}

macro_rules! long {
    ($file:literal) => {
        concat!("faults/src/bin/long/", $file, ".rs")
    };
}

const LEASE: &str = "crates/kubewright/src/lease/election/tests.rs";
const ADMISSION: &str = "crates/memcached-operator/tests/it/admission.rs";
const VALUES: &str = "faults/src/schema/values.rs";
const ANY: &str = "crates/memcached-operator/src/desired/tests/any.rs";

/// All of them.
pub const TABLE: &[Row] = &[
    row(
        "E1",
        "the API server is killed and comes back",
        Tests(&[
            (it!("faults"), "an_api_server_that_is_away_for_half_a_minute_is_waited_for"),
            (long!("outages"), "server_is_away"),
        ]),
    ),
    row(
        "E2",
        "etcd is killed",
        Tests(&[(own!("outages"), "e2_a_store_that_is_killed_is_waited_for_and_no_status_flaps")]),
    ),
    row(
        "E3",
        "etcd takes no writes",
        Tests(&[(
            own!("refusals"),
            "e3_a_store_without_space_is_asked_less_and_less_and_all_heals",
        )]),
    ),
    row(
        "E5",
        "the API server halts with its sockets open",
        Tests(&[
            (it!("faults"), "requests_to_a_paused_api_server_end_by_their_deadline"),
            (LEASE, "a_leader_whose_server_is_paused_stops_before_its_lease_is_over"),
            (long!("outages"), "server_halts"),
        ]),
    ),
    row("E6", "a request is sent and nothing comes back", Plans("silence, answer-lost, truncated")),
    row("E7", "a watch ends with 410", Plans("expire")),
    row(
        "E9",
        "nothing but bookmarks",
        Tests(&[(long!("outages"), "nothing_happens")]), // and plans, for 5 s
    ),
    row(
        "E11",
        "429 with Retry-After on all writes",
        Tests(&[(own!("refusals"), "e11_a_server_that_asks_for_patience_is_given_it")]),
    ),
    row(
        "E12",
        "5 s for every call",
        Tests(&[
            (LEASE, "a_server_that_takes_five_seconds_for_each_answer_costs_nobody_the_lease"),
            (it!("faults"), "a_slow_api_server_is_put_up_with"),
            (long!("outages"), "server_is_slow"),
        ]),
    ),
    row(
        "E14",
        "ten conflicts in a row",
        Tests(&[(own!("refusals"), "e14_ten_conflicts_in_a_row_are_overcome_with_few_tries")]),
    ),
    row(
        "E15",
        "certificates and tokens are replaced",
        Tests(&[(long!("credentials"), "keys_are_replaced")]),
    ),
    row(
        "E16",
        "our definition is not served",
        Tests(&[(own!("outages"), "d8_a_definition_that_is_deleted_and_comes_back_is_followed")]),
    ),
    row(
        "E18",
        "no DNS, wrong clock",
        Tests(&[(long!("credentials"), "clock_is_late"), (long!("names"), "name_is_not_found")]),
    ),
    row("E19", "another client floods the API server", Tests(&[(long!("flood"), "others_flood")])),
    row(
        "C1",
        "SIGKILL before, in and after each write",
        Plans("kill-before, kill-after-send, kill-after-answer"),
    ),
    row(
        "C3",
        "SIGTERM during a write",
        Tests(&[(it!("restart"), "stopping_waits_for_the_passes_that_run")]),
    ),
    row("C4", "out of memory at the first list", Tests(&[(long!("limits"), "too_little_memory")])),
    row(
        "C5",
        "a pass panics",
        Tests(&[(
            it!("isolation"),
            "a_panicking_a_hanging_and_a_failing_object_leave_the_others_alone",
        )]),
    ),
    row(
        "C6",
        "a leader is cut off and lives on",
        Tests(&[
            (it!("leader"), "a_leader_that_is_cut_off_ends_and_writes_nothing_after_its_successor"),
            (it!("leader"), "a_leader_that_was_paused_ends_without_a_write"),
        ]),
    ),
    row(
        "C8",
        "the lease is deleted or changed by hand",
        Tests(&[
            (LEASE, "a_lease_that_is_deleted_by_hand_is_written_again_by_its_leader"),
            (LEASE, "a_leader_keeps_a_lease_whose_fields_were_removed_by_hand"),
            (LEASE, "a_leader_ends_when_the_record_names_another_and_a_standby_takes_over_later"),
        ]),
    ),
    row(
        "C10",
        "leaders are killed again and again",
        Tests(&[
            (it!("leader"), "a_killed_leader_is_succeeded_within_17_seconds_each_time"),
            (long!("restarts"), "leaders_die"),
        ]),
    ),
    row(
        "C12",
        "it is restarted again and again",
        Tests(&[
            (it!("quiet"), "a_restarted_operator_lists_once_and_writes_nothing"),
            (e2e!("killing"), "however_often_the_operator_is_killed_the_end_is_right"),
            (long!("restarts"), "restarted"),
        ]),
    ),
    row(
        "S2",
        "a child is replaced between look and write",
        Tests(&[(it!("ownership"), "a_child_that_was_replaced_under_our_hands_is_not_deleted")]),
    ),
    row("S3", "an event is never seen", Plans("hide")),
    row(
        "S4",
        "a hundred changes in a second",
        Tests(&[
            (own!("refusals"), "s4_a_hundred_sizes_in_a_second_cost_at_most_five_writes"),
            (it!("spacing"), "a_hundred_changes_in_a_second_cost_few_writes_and_the_last_is_right"),
        ]),
    ),
    row(
        "S6",
        "one kind is not there yet at the start",
        Tests(&[(own!("starting"), "s6_nothing_is_written_before_all_kinds_are_listed")]),
    ),
    row(
        "S7",
        "the write of a status is lost",
        Plans("create.w*.answer-lost on memcacheds/cache/status"),
    ),
    row("S8", "events twice and out of order", Plans("duplicate, reorder, delay")),
    row("S10", "an older list during a change", Plans("stale")),
    row(
        "O1",
        "a stranger has the child's name",
        Tests(&[(
            it!("ownership"),
            "a_strangers_object_under_our_name_is_left_alone_until_it_goes",
        )]),
    ),
    row(
        "O2",
        "another controller owns it",
        Tests(&[(it!("ownership"), "the_children_of_a_book_that_is_gone_are_not_its_namesakes")]),
    ),
    row("O5", "people change what is ours", Plans("drift")),
    row(
        "O6",
        "people add what is theirs",
        Tests(&[(it!("quiet"), "a_converged_book_is_left_alone_whatever_is_touched")]),
    ),
    row("O7", "people delete children", Plans("drift")),
    row(
        "O9",
        "another manager takes a field by force",
        Tests(&[(e2e!("autoscaling"), "an_autoscaler_on_the_deployment_is_undone_and_then_named")]),
    ),
    row(
        "O11",
        "a field that cannot be changed has to be",
        NotApplicable("selector and name follow from the object's name, which cannot change"),
    ),
    row("O12", "a paused object", NotApplicable("there is no pause")),
    row(
        "O13",
        "a quota refuses a child",
        Tests(&[(own!("refusals"), "o13_a_quota_that_forbids_a_child_is_told_and_its_end_heals")]),
    ),
    row(
        "O14",
        "something that is referred to is missing",
        NotApplicable("a cache refers to nothing"),
    ),
    row(
        "D1",
        "foreground, background, orphan",
        Tests(&[
            (own!("deletion"), "d1_children_go_with_their_cache_or_stay_as_they_are_told_to"),
            (own!("deletion"), "d1_without_a_finalizer_too"),
        ]),
    ),
    row(
        "D2",
        "a namespace goes with its caches",
        Tests(&[
            (
                e2e!("deletion"),
                "a_namespace_with_caches_goes_and_at_most_one_request_each_is_refused",
            ),
            (
                it!("terminating"),
                "a_namespace_with_twenty_books_goes_and_at_most_one_request_each_is_refused",
            ),
        ]),
    ),
    row(
        "D3",
        "the operator's namespace goes first",
        Tests(&[
            (e2e!("removal"), "nothing_hangs_when_the_operators_namespace_is_deleted_first"),
            (it!("leaving"), "a_namespace_goes_with_the_operator_and_its_books_in_it"),
            (it!("terminating"), "without_a_finalizer_a_deletion_writes_nothing"),
        ]),
    ),
    row(
        "D4",
        "the operator is uninstalled first",
        Tests(&[
            (e2e!("removal"), "nothing_hangs_when_the_operators_deployment_is_deleted_first"),
            (e2e!("removal"), "uninstall_works_after_the_operator_was_killed"),
            (it!("terminating"), "without_a_finalizer_a_deletion_writes_nothing"),
        ]),
    ),
    row(
        "D5",
        "deleted while it is made",
        Tests(&[(own!("deletion"), "d5_a_cache_that_is_deleted_while_it_is_made_leaves_nothing")]),
    ),
    row(
        "D8",
        "the definition goes and comes back",
        Tests(&[(own!("outages"), "d8_a_definition_that_is_deleted_and_comes_back_is_followed")]),
    ),
    row(
        "D9",
        "many are deleted at once (forty here)",
        Tests(&[(
            own!("deletion"),
            "d9_many_caches_deleted_at_once_cost_three_requests_each_or_none",
        )]),
    ),
    row(
        "D10",
        "the garbage collector is late",
        Tests(&[
            (
                it!("ownership"),
                "an_object_that_was_created_anew_goes_on_as_soon_as_the_old_child_is_gone",
            ),
            (long!("outages"), "nobody_collects"),
        ]),
    ),
    row(
        "I1",
        "sizes",
        Tests(&[
            (ADMISSION, "what_is_out_of_bounds_is_refused_with_the_field_and_the_bound"),
            (VALUES, "every_leaf_of_the_kind_has_values_on_both_sides_of_its_bounds"),
        ]),
    ),
    row("I2", "memory", NotApplicable("the memory of the server is not a field")),
    row(
        "I4",
        "requests above limits",
        Tests(&[(ADMISSION, "what_is_out_of_bounds_is_refused_with_the_field_and_the_bound")]),
    ),
    row("I5", "item sizes", NotApplicable("not a field")),
    row("I6", "threads, connections", NotApplicable("not fields")),
    row(
        "I7",
        "ports",
        Tests(&[(ADMISSION, "what_is_out_of_bounds_is_refused_with_the_field_and_the_bound")]),
    ),
    row("I8", "extra arguments", NotApplicable("there are none")),
    row("I10", "environment variables", NotApplicable("there are none")),
    row(
        "I12",
        "long names",
        Tests(&[(e2e!("serving"), "a_cache_of_any_name_serves_and_is_found_by_it")]),
    ),
    row("I13", "labels and annotations of pods", NotApplicable("there are none")),
    row(
        "I15",
        "control characters in texts",
        Tests(&[
            (ANY, "any_object_is_served_or_told_what_is_wrong_with_it"),
            (it!("logs"), "each_action_is_one_line_with_kind_namespace_and_name"),
        ]),
    ),
    row(
        "I16",
        "images",
        Tests(&[
            (ADMISSION, "images_and_resources_as_people_write_them_are_accepted"),
            (
                e2e!("rollout"),
                "an_image_that_is_not_there_costs_one_instance_and_is_named_until_it_is_put_right",
            ),
        ]),
    ),
    row("I17", "affinity, priority, node selectors", NotApplicable("there are none")),
    row(
        "I18",
        "privileges",
        Tests(&[(
            "crates/memcached-operator/src/desired/tests.rs",
            "what_is_desired_is_as_the_golden_files_say",
        )]),
    ),
    row("I19", "probes", NotApplicable("not fields")),
    row(
        "I20",
        "huge and deep objects",
        Tests(&[
            (VALUES, "every_leaf_of_the_kind_has_values_on_both_sides_of_its_bounds"),
            (ANY, "any_json_at_all_costs_nothing"),
        ]),
    ),
    row(
        "I21",
        "unknown fields, nulls, wrong types",
        Tests(&[(
            ADMISSION,
            "an_unknown_field_is_refused_where_that_is_asked_for_and_pruned_otherwise",
        )]),
    ),
    row(
        "I23",
        "fields that contradict each other",
        Tests(&[(ADMISSION, "what_is_out_of_bounds_is_refused_with_the_field_and_the_bound")]),
    ),
    row("I24", "times", NotApplicable("there are none")),
    row("I26", "the scale subresource", Tests(&[(ADMISSION, "kubectl_scale_changes_the_size")])),
    row("L1", "100 to 10,000 caches at once", Bench("backlog")),
    row("L2", "a restart with 10,000 caches", Bench("restart")),
    row("L3", "one hot cache among a thousand", Tests(&[(long!("load"), "one_is_hot")])),
    row("L5", "50,000 foreign objects", Tests(&[(long!("load"), "others_have_much")])),
    row("L6", "410 with 10,000 objects", Tests(&[(long!("load"), "all_is_listed_again")])),
    row(
        "L7",
        "a thousand identical failures",
        Tests(&[(
            "crates/kubewright/src/events/tests.rs",
            "a_thousand_equal_events_are_one_object_with_a_count_and_two_requests",
        )]),
    ),
    row("L9", "50 m of processor", Tests(&[(long!("limits"), "little_processor")])),
    row(
        "L10",
        "5,000 failing beside 5,000 healthy",
        Tests(&[
            (own!("refusals"), "v5_a_good_cache_is_not_delayed_by_bad_ones"),
            (long!("load"), "half_fails"),
        ]),
    ),
    row(
        "U1",
        "another release takes over",
        Tests(&[(e2e!("replacement"), "another_build_takes_over_and_no_child_is_touched")]),
    ),
    row("U3", "fields come and go between versions", NotApplicable("there is one version")),
    row("U4", "stored versions migrate", NotApplicable("there is one version")),
    row(
        "U5",
        "oldest and newest Kubernetes",
        Tests(&[(ADMISSION, "the_oldest_supported_version_takes_the_definition")]),
    ),
    row(
        "U6",
        "a bad spec is taken back in mid-rollout",
        Tests(&[(
            e2e!("rollout"),
            "an_image_that_is_not_there_costs_one_instance_and_is_named_until_it_is_put_right",
        )]),
    ),
    row(
        "X1",
        "a permission is taken away",
        Tests(&[(it!("rbac"), "a_verb_that_is_taken_away_is_named_and_its_return_heals")]),
    ),
    row("X2", "references into other namespaces", NotApplicable("a cache refers to nothing")),
    row("X3", "writes into other namespaces", Plans("all: V7 sees every write")),
    row(
        "X4",
        "the operator's token in other hands",
        Tests(&[(e2e!("roles"), "nothing_is_refused_and_every_verb_is_used")]),
    ),
    row(
        "X5",
        "a cache in other hands",
        Tests(&[(
            "crates/memcached-operator/src/desired/tests.rs",
            "what_is_desired_is_as_the_golden_files_say",
        )]),
    ),
    row(
        "X7",
        "rules that cost too much",
        Tests(&[(ADMISSION, "the_oldest_supported_version_takes_the_definition")]),
    ),
    row(
        "X8",
        "a cache that is reachable by mistake",
        Tests(&[(
            "crates/memcached-operator/src/desired/tests.rs",
            "what_is_desired_is_as_the_golden_files_say",
        )]),
    ),
];

/// Prints it, and its sums.
pub fn print() {
    for row in TABLE {
        let tried = match row.tried {
            Tests(tests) => {
                let names: Vec<_> = tests.iter().map(|(_, name)| *name).collect();
                format!("test: {}", names.join(", "))
            }
            Plans(plans) => format!("plans: {plans}"),
            Bench(phase) => format!("make bench: {phase}"),
            NotApplicable(why) => format!("not applicable: {why}"),
            Missing(why) => format!("NOT YET: {why}"),
        };
        say(&format!("{:4} {}: {tried}", row.id, row.what));
    }
    let count = |is: fn(&Tried) -> bool| TABLE.iter().filter(|row| is(&row.tried)).count();
    let missing = count(|tried| matches!(tried, Missing(_)));
    let not_applicable = count(|tried| matches!(tried, NotApplicable(_)));
    say(&format!(
        "scenarios: {} listed, {} tried by tests, plans or benchmarks, {not_applicable} not applicable, {missing} not yet",
        TABLE.len(),
        TABLE.len() - missing - not_applicable,
    ));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_test_that_is_named_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for row in TABLE {
            let Tests(tests) = row.tried else { continue };
            assert!(!tests.is_empty(), "{}", row.id);
            for (file, name) in tests {
                let text = std::fs::read_to_string(root.join(file)).unwrap();
                assert!(text.contains(&format!("fn {name}(")), "{}: {file} has no {name}", row.id);
            }
        }
    }

    #[test]
    fn every_id_is_there_once() {
        let ids: BTreeSet<_> = TABLE.iter().map(|row| row.id).collect();
        assert_eq!(ids.len(), TABLE.len());
    }
}
