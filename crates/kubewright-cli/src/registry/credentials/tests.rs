use super::*;

fn found(content: &serde_json::Value, login: &str) -> anyhow::Result<Option<Credentials>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.json");
    std::fs::write(&path, content.to_string()).unwrap();
    Credentials::from_file(&path, login)
}

fn password(user: &str, password: &str) -> Credentials {
    Credentials::Password { user: user.to_owned(), password: password.to_owned() }
}

#[test]
fn a_login_is_found_by_the_host_of_the_registry() {
    let content = serde_json::json!({ "auths": {
        "https://quay.io/v1/": { "auth": BASE64.encode("jane:a:b") },
        "localhost:5000": { "identitytoken": "secret" },
        "empty.example.com": {},
    }});
    let of = |login| found(&content, login).unwrap();
    assert!(of("quay.io") == Some(password("jane", "a:b")));
    assert!(of("localhost:5000") == Some(Credentials::Refresh("secret".to_owned())));
    assert!(of("localhost").is_none() && of("empty.example.com").is_none());
}

#[test]
fn the_header_of_a_password_is_basic() {
    assert_eq!(password("jane", "x").basic().unwrap(), "Basic amFuZTp4");
    assert_eq!(Credentials::Refresh("a".to_owned()).basic(), None);
}

#[test]
fn a_damaged_login_is_an_error_without_the_secret_in_it() {
    let content = serde_json::json!({ "auths": { "a.b": { "auth": "c2VjcmV0" } } });
    let error = found(&content, "a.b").err().unwrap();
    assert!(format!("{error:#}").contains("not USER:PASSWORD"), "{error:#}");
}

#[test]
fn a_helper_that_is_not_installed_is_named() {
    let content = serde_json::json!({ "credHelpers": { "a.b": "nowhere" } });
    let error = found(&content, "a.b").err().unwrap();
    assert!(error.to_string().contains("docker-credential-nowhere"), "{error}");
}
