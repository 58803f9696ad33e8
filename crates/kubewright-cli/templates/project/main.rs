//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    {{crate}}::operator().main()
}
