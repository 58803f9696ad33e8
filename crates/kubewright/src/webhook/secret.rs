//! The self-made certificate as a Secret: what is written, and what is read again. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;

use super::certificate::Pair;
use super::rotation::Kept;
use crate::generate::NAME_LABEL;

/// When a new certificate is made. Whoever sets it to a time that has passed renews it now.
pub(super) const RENEW_AFTER: &str = "kubewright.dev/renew-after";
const NOT_AFTER: &str = "kubewright.dev/not-after";
const SINCE: &str = "kubewright.dev/since";

/// The names that tools expect.
const TYPE: &str = "kubernetes.io/tls";
const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const AUTHORITIES: &str = "ca.crt";
const NEXT_CERTIFICATE: &str = "next.crt";
const NEXT_KEY: &str = "next.key";

const END: &str = "-----END CERTIFICATE-----";

/// The authorities as one text.
pub(super) fn bundle(authorities: &[String]) -> String {
    let lines: Vec<_> = authorities.iter().map(|one| format!("{}\n", one.trim())).collect();
    lines.concat()
}

/// The Secret `name` of `operator` that says so.
pub(super) fn written(kept: &Kept, operator: &str, name: &str) -> Secret {
    let Kept { authorities, serving, next, renew_after, not_after, since } = kept;
    let mut data = vec![
        (CERTIFICATE, serving.certificate.clone()),
        (KEY, serving.key.clone()),
        (AUTHORITIES, bundle(authorities)),
    ];
    if let Some(Pair { certificate, key }) = next {
        data.extend([(NEXT_CERTIFICATE, certificate.clone()), (NEXT_KEY, key.clone())]);
    }
    let data = data.into_iter().map(|(key, text)| (key.to_owned(), ByteString(text.into())));
    let times = [(RENEW_AFTER, renew_after), (NOT_AFTER, not_after), (SINCE, since)];
    let times = times.into_iter().map(|(key, time)| (key.to_owned(), time.to_string()));
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(BTreeMap::from([(NAME_LABEL.to_owned(), operator.to_owned())])),
            annotations: Some(times.collect()),
            ..ObjectMeta::default()
        },
        type_: Some(TYPE.to_owned()),
        data: Some(data.collect()),
        ..Secret::default()
    }
}

/// What a Secret says; none if it is not one of ours, or somebody has broken it.
pub(super) fn read(secret: &Secret) -> Option<Kept> {
    let text = |key: &str| {
        let bytes = secret.data.as_ref()?.get(key)?;
        String::from_utf8(bytes.0.clone()).ok().filter(|text| !text.is_empty())
    };
    let time = |key: &str| -> Option<Timestamp> {
        secret.metadata.annotations.as_ref()?.get(key)?.parse().ok()
    };
    let pair = |certificate: &str, key: &str| {
        Some(Pair { certificate: text(certificate)?, key: text(key)? })
    };
    let bundle = text(AUTHORITIES)?;
    let authorities = bundle.split_inclusive(END).map(str::trim).filter(|one| !one.is_empty());
    Some(Kept {
        authorities: authorities.map(|one| format!("{one}\n")).collect(),
        serving: pair(CERTIFICATE, KEY)?,
        next: pair(NEXT_CERTIFICATE, NEXT_KEY),
        renew_after: time(RENEW_AFTER)?,
        not_after: time(NOT_AFTER)?,
        since: time(SINCE)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::certificate::{certified, make};
    use super::super::rotation::Timing;
    use super::*;

    #[test]
    fn what_is_written_is_read_again_in_every_state() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let timing = Timing::default();
        let made = || make(&["a.b.svc".to_owned()], now, 90).unwrap();
        let begun = Kept::begin(made(), now, timing);
        let prepared = begun.prepared(made(), now);
        let promoted = prepared.promoted(now, timing);
        for kept in [&begun, &prepared, &promoted, &promoted.forgotten(now)] {
            assert_eq!(read(&written(kept, "a-operator", "b")).as_ref(), Some(kept));
            certified(kept.serving.certificate.as_bytes(), kept.serving.key.as_bytes()).unwrap();
        }
    }

    #[test]
    fn what_somebody_has_broken_is_not_believed() {
        assert_eq!(read(&Secret::default()), None);
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let [one, other] = [(), ()].map(|()| make(&["a.b.svc".to_owned()], now, 90).unwrap().pair);
        assert!(certified(one.certificate.as_bytes(), other.key.as_bytes()).is_err());
        assert!(certified(b"", other.key.as_bytes()).is_err());
    }
}
