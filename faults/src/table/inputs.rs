//! I: what people put into an object. Each is also walked by `faults schema`, with validation and without.

use super::Tried::{Missing, NotApplicable, Test};
use super::{Row, row};

const VALUES: &str = "faults/src/schema/values.rs";
const ANY: &str = "crates/memcached-operator/src/desired/tests/any.rs";

pub(super) const ROWS: &[Row] = &[
    row(
        "I1",
        "sizes",
        &[
            admission!("what_is_out_of_bounds_is_refused_with_the_field_and_the_bound"),
            Test(VALUES, "every_leaf_of_the_kind_has_values_on_both_sides_of_its_bounds"),
        ],
    ),
    row("I2", "memory", &[NotApplicable("the memory of the server is not a field")]),
    row(
        "I4",
        "requests above limits",
        &[admission!("what_is_out_of_bounds_is_refused_with_the_field_and_the_bound")],
    ),
    row("I5", "item sizes", &[NotApplicable("not a field")]),
    row("I6", "threads, connections", &[NotApplicable("not fields")]),
    row(
        "I7",
        "ports",
        &[admission!("what_is_out_of_bounds_is_refused_with_the_field_and_the_bound")],
    ),
    row("I8", "extra arguments", &[NotApplicable("there are none")]),
    row("I10", "environment variables", &[NotApplicable("there are none")]),
    row(
        "I12",
        "long names, other domains",
        &[
            e2e!("serving", "a_cache_of_any_name_serves_and_is_found_by_it"),
            own!("names", "i12_a_namespace_with_the_longest_name_is_served"),
            Missing("a cluster whose domain is not cluster.local"),
        ],
    ),
    row("I13", "labels and annotations of pods", &[NotApplicable("there are none")]),
    row(
        "I15",
        "control characters in texts",
        &[
            Test(ANY, "any_object_is_served_or_told_what_is_wrong_with_it"),
            it!("logs", "each_action_is_one_line_with_kind_namespace_and_name"),
        ],
    ),
    row(
        "I16",
        "images",
        &[
            admission!("images_and_resources_as_people_write_them_are_accepted"),
            e2e!(
                "rollout",
                "an_image_that_is_not_there_costs_one_instance_and_is_named_until_it_is_put_right"
            ),
        ],
    ),
    row("I17", "affinity, priority, node selectors", &[NotApplicable("there are none")]),
    row(
        "I18",
        "privileges",
        &[own!("hostile", "i18_pods_of_a_cache_are_taken_where_only_restricted_ones_are")],
    ),
    row("I19", "probes", &[NotApplicable("not fields")]),
    row(
        "I20",
        "huge and deep objects",
        &[
            Test(VALUES, "every_leaf_of_the_kind_has_values_on_both_sides_of_its_bounds"),
            Test(ANY, "any_json_at_all_costs_nothing"),
        ],
    ),
    row(
        "I21",
        "unknown fields, nulls, wrong types",
        &[
            admission!("an_unknown_field_is_refused_where_that_is_asked_for_and_pruned_otherwise"),
            admission!("a_key_that_is_there_twice_is_refused_where_that_is_asked_for"),
        ],
    ),
    row(
        "I23",
        "fields that contradict each other",
        &[admission!("what_is_out_of_bounds_is_refused_with_the_field_and_the_bound")],
    ),
    row("I24", "times", &[NotApplicable("there are none")]),
    row("I26", "the scale subresource", &[admission!("kubectl_scale_changes_the_size")]),
];
