
impl webhook::Validate for {{Kind}} {
    /// Refuse here what the schema cannot, as `verdict.refuse("spec.foo", "must not be bar")`, and warn, as
    /// `verdict.warn("spec.foo will go")`.
    fn validate(&self, _request: &webhook::Request<Self>, _verdict: &mut webhook::Verdict) {}
}
