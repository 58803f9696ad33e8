//! The memcached operator under faults that are enumerated, not left to chance: a clean run is recorded, and
//! then every write and every event of it is hit by everything that can happen to it.
//!
//! The operator is the real program under the role that it ships with, the API server and the built-in
//! controllers are real; between them is testenv's proxy, which does what a [`plan`] says.

pub mod churn;
pub mod enumerate;
pub mod history;
pub mod label;
pub mod oracle;
pub mod plan;
pub mod process;
pub mod report;
pub mod run;
pub mod scenario;
pub mod schema;
pub mod script;
pub mod state;
pub mod table;
pub mod world;
