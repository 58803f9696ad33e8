//! Names and labels of everything that belongs to a cache.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use memcached_api::labels::{INSTANCE, MEMCACHED, NAME, RECOMMENDED_INSTANCE};

use crate::reconcile::validate::Cluster;

/// The labels of every child and pod.
pub fn labels(cluster: &Cluster) -> BTreeMap<String, String> {
    [
        (INSTANCE, cluster.instance.as_str()),
        (NAME, MEMCACHED),
        (RECOMMENDED_INSTANCE, &cluster.instance),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

/// What selects the pods of this cache and no others. One label of our own: the recommended ones are on
/// the pods of many charts too, and a selector can never be changed.
pub fn selector(cluster: &Cluster) -> BTreeMap<String, String> {
    [(INSTANCE.to_owned(), cluster.instance.clone())].into()
}

pub(super) fn label_selector(cluster: &Cluster) -> LabelSelector {
    LabelSelector { match_labels: Some(selector(cluster)), ..LabelSelector::default() }
}

pub(super) fn named(cluster: &Cluster, name: String) -> ObjectMeta {
    ObjectMeta { name: Some(name), labels: Some(labels(cluster)), ..ObjectMeta::default() }
}
