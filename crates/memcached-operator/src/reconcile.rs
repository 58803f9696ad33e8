//! The steps of a pass that come before anything is decided: what there is, and what is asked for.

pub mod gather;
pub mod validate;
