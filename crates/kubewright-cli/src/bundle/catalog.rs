//! A file-based catalogue: one package with its channels and releases. Pure: bundle and what the catalogue
//! holds already -> what it is to hold.

mod channel;
mod properties;

use serde_json::{Map, Value, json};

use super::csv::Spec;
use super::{Bundle, ClusterServiceVersion};

/// What a catalogue keeps of a release beside its examples, for its page.
const SHOWN: [&str; 9] = [
    "description",
    "displayName",
    "installModes",
    "keywords",
    "links",
    "maintainers",
    "maturity",
    "minKubeVersion",
    "provider",
];

/// Why there can be no catalogue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the bundle has errors: `kubewright bundle validate` tells them")]
    Invalid,
    #[error("the catalogue is of the package `{found}`, not of `{expected}`")]
    Package { found: String, expected: String },
    #[error(
        "the channel {channel} would be of no use, {tangle}: say with `spec.replaces` and `spec.skips` what follows what"
    )]
    Tangle { channel: String, tangle: String },
}

/// What is published.
struct Published<'a> {
    bundle: &'a Bundle,
    package: &'a str,
    image: &'a str,
    csv: &'a ClusterServiceVersion,
    spec: &'a Spec,
    object: &'a Value,
    channels: Vec<&'a str>,
    default_channel: Option<&'a str>,
}

/// The package that the bundle belongs to.
pub(crate) fn package(bundle: &Bundle) -> Result<&str, Error> {
    bundle.annotation("package.v1").ok_or(Error::Invalid)
}

/// The documents of the catalogue with the bundle, whose image is `image`, in it.
pub(crate) fn with(bundle: &Bundle, image: &str, before: &[Value]) -> Result<Vec<Value>, Error> {
    let published = Published::of(bundle, image).ok_or(Error::Invalid)?;
    for document in before.iter().filter(|document| document["schema"] == "olm.package") {
        if document["name"] != published.package {
            let found = document["name"].as_str().unwrap_or_default().to_owned();
            return Err(Error::Package { found, expected: published.package.to_owned() });
        }
    }
    let channels = published.channel_documents(before);
    published.check(&channels)?;
    let mut documents = vec![published.package_document(before, &channels)];
    documents.extend(channels);
    let others = before.iter().filter(|document| {
        document["schema"] == "olm.bundle" && document["name"] != published.csv.name()
    });
    documents.extend(others.cloned());
    documents.push(published.bundle_document());
    Ok(documents)
}

impl<'a> Published<'a> {
    fn of(bundle: &'a Bundle, image: &'a str) -> Option<Self> {
        let (_, csv) = bundle.release.as_ref()?;
        let channels: Vec<_> =
            bundle.annotation("channels.v1")?.split(',').map(str::trim).collect();
        let default_channel = bundle.annotation("channel.default.v1").map(str::trim);
        Some(Self {
            bundle,
            package: bundle.annotation("package.v1")?,
            image,
            csv,
            spec: csv.spec.as_ref()?,
            object: bundle.release_object()?,
            channels,
            default_channel,
        })
    }

    /// The default channel is one that there is: what the bundle says, what was said before, or its first.
    fn package_document(&self, before: &[Value], channels: &[Value]) -> Value {
        let earlier = before.iter().find(|document| document["schema"] == "olm.package");
        let earlier = earlier.and_then(|document| document["defaultChannel"].as_str());
        let is_there = |name: &&str| channels.iter().any(|channel| channel["name"] == **name);
        let default = [self.default_channel, earlier].into_iter().flatten().find(is_there);
        let default = default.or(self.channels.first().copied());
        let mut document = json!({
            "schema": "olm.package",
            "name": self.package,
            "defaultChannel": default,
            "description": self.spec.description,
        });
        if let Some(icon) = self.spec.icon.iter().flatten().next() {
            document["icon"] = json!({"base64data": icon.base64data, "mediatype": icon.mediatype});
        }
        document
    }

    /// Its channels with the release in them, and the others as they were.
    fn channel_documents(&self, before: &[Value]) -> Vec<Value> {
        let is_channel = |document: &&Value| document["schema"] == "olm.channel";
        let mut documents: Vec<_> = before.iter().filter(is_channel).cloned().collect();
        for channel in &self.channels {
            match documents.iter_mut().find(|document| document["name"] == *channel) {
                Some(document) => {
                    let entries = document["entries"].as_array().cloned().unwrap_or_default();
                    document["entries"] = json!(self.entries(entries));
                }
                None => documents.push(json!({
                    "schema": "olm.channel",
                    "package": self.package,
                    "name": channel,
                    "entries": self.entries(Vec::new()),
                })),
            }
        }
        documents
    }

    /// An error if one of its channels would be of no use; what was so before in others is not its fault.
    fn check(&self, channels: &[Value]) -> Result<(), Error> {
        let own = channels.iter().filter(|one| self.channels.iter().any(|it| one["name"] == *it));
        for channel in own {
            if let Some(tangle) = channel["entries"].as_array().and_then(|it| channel::tangle(it)) {
                let channel = channel["name"].as_str().unwrap_or_default().to_owned();
                return Err(Error::Tangle { channel, tangle });
            }
        }
        Ok(())
    }

    fn entries(&self, entries: Vec<Value>) -> Vec<Value> {
        let mut entry = json!({"name": self.csv.name()});
        if !self.spec.replaces.is_empty() {
            entry["replaces"] = json!(self.spec.replaces);
        }
        if let Some(skips) = self.object["spec"].get("skips") {
            entry["skips"] = skips.clone();
        }
        if let Some(range) = self.csv.annotation("olm.skipRange") {
            entry["skipRange"] = json!(range);
        }
        channel::with(entries, entry)
    }

    fn bundle_document(&self) -> Value {
        let mut properties = properties::properties(self.bundle, self.spec, self.package);
        properties.push(json!({"type": "olm.csv.metadata", "value": self.shown()}));
        let own = json!({"name": "", "image": self.image});
        let related = self.spec.related_images.iter();
        let related = related.map(|one| json!({"name": one.name, "image": one.image}));
        let related: Vec<_> = [own].into_iter().chain(related).collect();
        json!({
            "schema": "olm.bundle",
            "name": self.csv.name(),
            "package": self.package,
            "image": self.image,
            "properties": properties,
            "relatedImages": related,
        })
    }

    fn shown(&self) -> Value {
        let spec = &self.object["spec"];
        let parts =
            SHOWN.iter().filter_map(|key| Some(((*key).to_owned(), spec.get(*key)?.clone())));
        let mut shown: Map<_, _> = parts.collect();
        let annotations = &self.object["metadata"]["annotations"];
        let lists = [
            ("annotations", annotations),
            ("apiServiceDefinitions", &spec["apiservicedefinitions"]),
            ("crdDescriptions", &spec["customresourcedefinitions"]),
        ];
        shown.extend(lists.map(|(key, value)| (key.to_owned(), value.clone())));
        Value::Object(shown)
    }
}
