//! `kubewright bundle validate` as people type it, beside upstream's own validator.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

mod broken;
mod folder;
mod ours;
mod published;
mod upstream;

use folder::Folder;

#[test]
fn the_operators_own_bundle_is_without_fault_by_upstreams_rules_and_by_ours() {
    let folder = Folder::good();
    assert_eq!(upstream::said(&folder.path()), Vec::<String>::new());
    let answer = folder.validated();
    assert_eq!(answer.findings, []);
    assert!(answer.succeeded);
}

#[test]
fn every_rule_is_in_the_guide() {
    let guide = include_str!("../../../../docs/guides/bundle.md");
    let topics = [
        "arch", "bundle", "content", "crd", "csv", "format", "hub", "object", "practice", "removed",
    ];
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bundle");
    let files = [rules.to_owned(), format!("{rules}/rules")];
    let files = files.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut ids = Vec::new();
    for path in files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(path).unwrap();
        let quoted = text.split('"').skip(1).step_by(2).map(str::to_owned);
        ids.extend(quoted.filter(|text| {
            let parts = text.split_once('/');
            parts.is_some_and(|(topic, rest)| {
                topics.contains(&topic)
                    && rest
                        .chars()
                        .all(|one| one.is_ascii_lowercase() || "-0123456789".contains(one))
                    && !rest.is_empty()
            })
        }));
    }
    assert!(ids.len() > 60, "{ids:?}");
    for id in ids {
        assert!(guide.contains(&format!("`{id}`")), "{id} is not in docs/guides/bundle.md");
    }
}
