//! The long form of tests, which takes minutes and says how far it is.

use std::io::Write as _;

/// Returns whether to run the long form: `cargo xtask test --full`.
pub fn is_full() -> bool {
    std::env::var_os("PORTOLAN_TEST_FULL").is_some()
}

/// Prints at once; `println!` would be captured until a test fails.
pub fn print_now(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}
