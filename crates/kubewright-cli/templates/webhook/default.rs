
impl webhook::Default for {{Kind}} {
    /// Fill in here what the schema cannot, as `self.spec.foo.get_or_insert_with(…)`. Twice must be the same as
    /// once.
    fn set_defaults(&mut self, _request: &webhook::Request<Self>) {}
}
