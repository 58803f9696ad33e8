//! `csv/webhook…`: what the lifecycle manager needs to make a webhook of its description. Upstream's validators do
//! not look at it; the API server refuses some of it when the release is installed, and OLM is silent on the rest.

use super::super::Findings;
use super::super::csv::Webhook;
use super::super::names::{is_label_value, is_subdomain};
use super::Release;

const CONVERSION: &str = "ConversionWebhook";
const TYPES: [&str; 3] = ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", CONVERSION];

pub(super) fn check(release: &Release<'_>, findings: &mut Findings) {
    let Release { file, spec, .. } = release;
    for webhook in &spec.webhookdefinitions {
        let Webhook { name, type_, deployment, .. } = webhook;
        if !TYPES.contains(&type_.as_str()) {
            let wrong = format!("the webhook `{name}` has the type `{type_}`, which OLM refuses");
            let remedy = "The types are ValidatingAdmissionWebhook, MutatingAdmissionWebhook and ConversionWebhook.";
            findings.error("csv/webhook-type", file, wrong, remedy);
        }
        if !is_name(webhook) {
            let wrong = format!("`{name}` cannot be the generateName of a webhook");
            let remedy = "Name it as validate.pots.example.com: three words at least, 63 letters at most, since OLM makes a \
                          label of it.";
            findings.error("csv/webhook-name", file, wrong, remedy);
        }
        if !spec.deployments().iter().any(|one| one.name == *deployment) {
            let wrong = format!(
                "the webhook `{name}` is of the deployment `{deployment}`, and there is none of that name"
            );
            let remedy =
                "Put the name of one of spec.install.spec.deployments into its deploymentName.";
            findings.error("csv/webhook-deployment", file, wrong, remedy);
        }
        if webhook.side_effects.is_empty() || webhook.review_versions.is_empty() {
            let wrong = format!(
                "the webhook `{name}` does not say its sideEffects or admissionReviewVersions"
            );
            let remedy = "Say both, as in `sideEffects: None` and `admissionReviewVersions: [v1]`.";
            findings.error("csv/webhook-required", file, wrong, remedy);
        }
    }
}

/// A conversion has no configuration, whose parts need names of three words.
fn is_name(webhook: &Webhook) -> bool {
    let Webhook { name, type_, .. } = webhook;
    let has_words = type_ == CONVERSION || name.split('.').count() >= 3;
    !name.is_empty() && is_label_value(name) && is_subdomain(name) && has_words
}
