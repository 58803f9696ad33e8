//! O: ownership, and edits by hand. D: deletion.

use super::Tried::{NotApplicable, Plans, Test};
use super::{Row, row};

pub(super) const ROWS: &[Row] = &[
    row(
        "O1",
        "a stranger has the child's name",
        &[it!("ownership", "a_strangers_object_under_our_name_is_left_alone_until_it_goes")],
    ),
    row(
        "O2",
        "another controller owns it",
        &[
            it!("ownership", "the_children_of_a_book_that_is_gone_are_not_its_namesakes"),
            it!("drift", "a_child_that_somebody_took_over_is_left_to_them"),
        ],
    ),
    row(
        "O5",
        "people change what is ours",
        &[Plans("drift."), it!("drift", "every_field_of_a_child_is_put_back_in_one_write")],
    ),
    row(
        "O6",
        "people add what is theirs",
        &[
            it!("drift", "what_others_add_is_kept"),
            it!("quiet", "a_converged_book_is_left_alone_whatever_is_touched"),
            e2e!("autoscaling", "an_autoscaler_on_a_memcached_is_obeyed"),
        ],
    ),
    row(
        "O7",
        "people delete children",
        &[Plans("drift."), it!("drift", "a_deleted_child_is_made_anew")],
    ),
    row(
        "O9",
        "another manager takes a field by force",
        &[
            it!("drift", "a_fight_ends_after_five_rounds_and_names_the_other_side"),
            e2e!("autoscaling", "an_autoscaler_on_the_deployment_is_undone_and_then_named"),
        ],
    ),
    row(
        "O11",
        "a field that cannot be changed has to be",
        &[NotApplicable("selector and name follow from the object's name, which cannot change")],
    ),
    row("O12", "a paused object", &[NotApplicable("there is no pause")]),
    row(
        "O13",
        "a quota refuses a child",
        &[own!("refusals", "o13_a_quota_that_forbids_a_child_is_told_and_its_end_heals")],
    ),
    row(
        "O14",
        "something that is referred to is missing",
        &[NotApplicable("a cache refers to nothing")],
    ),
    row(
        "D1",
        "foreground, background, orphan",
        &[
            own!("deletion", "d1_children_go_with_their_cache_or_stay_as_they_are_told_to"),
            own!("deletion", "d1_without_a_finalizer_too"),
        ],
    ),
    row(
        "D2",
        "a namespace goes with its caches",
        &[
            Plans("namespace."),
            own!("deletion", "d2_a_namespace_with_a_hundred_caches_goes_without_our_help"),
            it!(
                "terminating",
                "a_namespace_with_twenty_books_goes_and_at_most_one_request_each_is_refused"
            ),
            e2e!(
                "deletion",
                "a_namespace_with_caches_goes_and_at_most_one_request_each_is_refused"
            ),
        ],
    ),
    row(
        "D3",
        "the operator's namespace goes first",
        &[
            it!("leaving", "a_namespace_goes_with_the_operator_and_its_books_in_it"),
            it!("leaving", "finalizers_come_off_by_themselves_when_its_namespace_goes"),
            own!("removal", "d3_d4_without_a_finalizer_nothing_waits_for_the_operator"),
            e2e!("removal", "nothing_hangs_when_the_operators_namespace_is_deleted_first"),
        ],
    ),
    row(
        "D4",
        "the operator is uninstalled first",
        &[
            it!("leaving", "finalizers_come_off_when_it_stops_and_its_deployment_is_gone"),
            own!("removal", "d3_d4_without_a_finalizer_nothing_waits_for_the_operator"),
            e2e!("removal", "nothing_hangs_when_the_operators_deployment_is_deleted_first"),
            e2e!("removal", "uninstall_works_after_the_operator_was_killed"),
        ],
    ),
    row(
        "D5",
        "deleted while it is made",
        &[own!("deletion", "d5_a_cache_that_is_deleted_while_it_is_made_leaves_nothing")],
    ),
    row(
        "D8",
        "the definition goes and comes back",
        &[own!("outages", "d8_a_definition_that_is_deleted_and_comes_back_is_followed")],
    ),
    row(
        "D9",
        "many are deleted at once",
        &[
            own!("deletion", "d9_many_caches_deleted_at_once_cost_three_requests_each_or_none"),
            long!("load", "all_are_deleted"),
        ],
    ),
    row(
        "D10",
        "the garbage collector is late",
        &[
            it!(
                "ownership",
                "an_object_that_was_created_anew_goes_on_as_soon_as_the_old_child_is_gone"
            ),
            long!("outages", "nobody_collects"),
        ],
    ),
];
