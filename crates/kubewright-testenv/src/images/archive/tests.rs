use std::fs;
use std::time::Duration;

use super::*;
use crate::cache::sha256;

fn spec(directory: &Path) -> ImageSpec {
    let program = directory.join("program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let library = directory.join("library");
    fs::write(&library, "library").unwrap();
    let link = directory.join("link");
    let _ = std::os::unix::fs::symlink(&library, &link);
    ImageSpec {
        name: "localhost/example/thing:1".into(),
        entrypoint: vec!["thing".into(), "--fast".into()],
        env: BTreeMap::from([("PATH".into(), "/opt/thing/bin".into())]),
        user: Some("11211".into()),
        labels: BTreeMap::from([("org.example.kind".into(), "thing".into())]),
        files: BTreeMap::from([
            ("/opt/thing/bin/thing".into(), Source::HostFile(program)),
            ("/opt/thing/lib/libthing.so.1".into(), Source::HostFile(link)),
            ("/opt/thing/bin/other".into(), Source::Symlink("thing".into())),
            ("/tmp".into(), Source::Directory { mode: 0o1777 }),
            (
                "/etc/passwd".into(),
                Source::Inline { content: b"root:x:0:0::/:\n".to_vec(), mode: 0o644 },
            ),
        ]),
    }
}

/// Name and content of each entry of a tar.
fn entries(tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(tar);
    archive
        .entries()
        .unwrap()
        .map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.path().unwrap().display().to_string(), content)
        })
        .collect()
}

fn written() -> BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("image.tar");
    spec(directory.path()).write(&out).unwrap();
    entries(&fs::read(out).unwrap()).into_iter().collect()
}

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

fn layer(entries: &BTreeMap<String, Vec<u8>>) -> &[u8] {
    let manifest = json(&entries["manifest.json"]);
    &entries[manifest[0]["Layers"][0].as_str().unwrap()]
}

#[test]
fn the_same_files_made_at_another_time_give_the_same_bytes() {
    let hashes = [0, 1].map(|_| {
        let directory = tempfile::tempdir().unwrap();
        std::thread::sleep(Duration::from_millis(1_100)); // tar counts in whole seconds
        let out = directory.path().join("image.tar");
        spec(directory.path()).write(&out).unwrap();
        sha256(&out).unwrap()
    });
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn manifest_and_configuration_agree_with_the_layer() {
    let entries = written();
    let manifest = json(&entries["manifest.json"]);
    assert_eq!(manifest[0]["RepoTags"], json!(["localhost/example/thing:1"]));

    let configuration_name = manifest[0]["Config"].as_str().unwrap();
    let configuration = &entries[configuration_name];
    assert_eq!(configuration_name, format!("{}.json", hex(&Sha256::digest(configuration))));

    let layer_digest = format!("sha256:{}", hex(&Sha256::digest(layer(&entries))));
    assert_eq!(json(configuration)["rootfs"]["diff_ids"], json!([layer_digest]));
}

#[test]
fn the_configuration_says_how_to_run_the_image() {
    let entries = written();
    let manifest = json(&entries["manifest.json"]);
    let configuration = json(&entries[manifest[0]["Config"].as_str().unwrap()]);
    let expected = json!({
        "Entrypoint": ["thing", "--fast"], "Env": ["PATH=/opt/thing/bin"], "User": "11211",
        "Labels": { "org.example.kind": "thing" },
    });
    assert_eq!(configuration["config"], expected);
}

#[test]
fn the_layer_holds_each_path_after_its_parents_and_with_its_permissions() {
    let entries = written();
    let mut archive = tar::Archive::new(layer(&entries));
    let listed: Vec<_> = archive
        .entries()
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let kind = entry.header().entry_type();
            let path = entry.path().unwrap().display().to_string();
            (path, kind, entry.header().mode().unwrap())
        })
        .collect();
    let expected = [
        ("etc", EntryType::Directory, 0o755),
        ("etc/passwd", EntryType::Regular, 0o644),
        ("opt", EntryType::Directory, 0o755),
        ("opt/thing", EntryType::Directory, 0o755),
        ("opt/thing/bin", EntryType::Directory, 0o755),
        ("opt/thing/bin/other", EntryType::Symlink, 0o777),
        ("opt/thing/bin/thing", EntryType::Regular, 0o755),
        ("opt/thing/lib", EntryType::Directory, 0o755),
        ("opt/thing/lib/libthing.so.1", EntryType::Regular, 0o644),
        ("tmp", EntryType::Directory, 0o1777),
    ];
    assert_eq!(listed, expected.map(|(path, kind, mode)| (path.to_owned(), kind, mode)));
}

#[test]
fn a_linked_host_file_is_copied_not_linked() {
    let entries = written();
    let layer: BTreeMap<_, _> = super::tests::entries(layer(&entries)).into_iter().collect();
    assert_eq!(layer["opt/thing/lib/libthing.so.1"], b"library");
}

#[test]
fn a_path_out_of_the_image_or_below_a_file_is_refused() {
    for path in ["etc/hosts", "/etc/../../hosts", "/etc/passwd/below"] {
        let directory = tempfile::tempdir().unwrap();
        let mut spec = spec(directory.path());
        spec.files.insert(path.into(), Source::Directory { mode: 0o755 });
        let error = spec.write(&directory.path().join("image.tar")).unwrap_err();
        assert!(
            matches!(&error, ArchiveError::Path { path: refused, .. } if refused == Path::new(path)),
            "{error:?}"
        );
    }
}

#[test]
fn a_missing_host_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = spec(directory.path());
    spec.files.insert("/gone".into(), Source::HostFile("/no/such/file".into()));
    let error = spec.write(&directory.path().join("image.tar")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read /no/such/file for the image");
}
