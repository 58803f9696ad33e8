//! The program `memcached-operator`.

use std::process::ExitCode;

fn main() -> ExitCode {
    memcached_operator::operator().main()
}
