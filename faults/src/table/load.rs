//! L: load. U: upgrades. X: hostile people.

use super::Tried::{Bench, Missing, NotApplicable, Plans, Test};
use super::{Row, row};

const GOLDEN: &str = "crates/memcached-operator/src/desired/tests.rs";

pub(super) const ROWS: &[Row] = &[
    row("L1", "100 to 10,000 caches at once", &[Bench("backlog")]),
    row(
        "L2",
        "a restart with 10,000 caches",
        &[long!("load", "all_is_listed_again"), Bench("restart")],
    ),
    row("L3", "one hot cache among a thousand", &[long!("load", "one_is_hot")]),
    row("L5", "50,000 foreign objects", &[long!("load", "others_have_much")]),
    row("L6", "410 with 10,000 objects", &[long!("load", "all_is_listed_again")]),
    row(
        "L7",
        "a thousand identical failures",
        &[Test(
            "crates/kubewright/src/events/tests.rs",
            "a_thousand_equal_events_are_one_object_with_a_count_and_two_requests",
        )],
    ),
    row("L9", "50 m of processor", &[long!("limits", "little_processor")]),
    row(
        "L10",
        "5,000 failing beside 5,000 healthy",
        &[
            own!("refusals", "v5_a_good_cache_is_not_delayed_by_bad_ones"),
            long!("load", "half_fails"),
        ],
    ),
    row(
        "U1",
        "another release takes over",
        &[
            e2e!("replacement", "another_build_takes_over_and_no_child_is_touched"),
            Missing("a hundred caches, and the way back"),
        ],
    ),
    row("U3", "fields come and go between versions", &[NotApplicable("there is one version")]),
    row("U4", "stored versions migrate", &[NotApplicable("there is one version")]),
    row(
        "U5",
        "oldest and newest Kubernetes",
        &[
            admission!("the_oldest_supported_version_takes_the_definition"),
            Missing("the plans on that version, without streamed lists, and on another etcd"),
        ],
    ),
    row(
        "U6",
        "a bad spec is taken back in mid-rollout",
        &[e2e!(
            "rollout",
            "an_image_that_is_not_there_costs_one_instance_and_is_named_until_it_is_put_right"
        )],
    ),
    row(
        "X1",
        "a permission is taken away",
        &[it!("rbac", "a_verb_that_is_taken_away_is_named_and_its_return_heals")],
    ),
    row("X2", "references into other namespaces", &[NotApplicable("a cache refers to nothing")]),
    row("X3", "writes into other namespaces", &[Plans("")]), // V7 sees every write
    row(
        "X4",
        "the operator's token in other hands",
        &[
            own!("hostile", "x4_the_operators_token_opens_nothing_but_its_own_work"),
            e2e!("roles", "nothing_is_refused_and_every_verb_is_used"),
        ],
    ),
    row(
        "X5",
        "a cache in other hands",
        &[Test(GOLDEN, "what_is_desired_is_as_the_golden_files_say")],
    ),
    row(
        "X7",
        "rules that cost too much",
        &[admission!("the_oldest_supported_version_takes_the_definition")],
    ),
    row(
        "X8",
        "a cache that is reachable by mistake",
        &[Test(GOLDEN, "what_is_desired_is_as_the_golden_files_say")],
    ),
];
