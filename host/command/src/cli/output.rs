//! Standard output, for every command but `serve`.

/// Like `println!`, but a reader that has gone away (`| head`) ends the command instead of a panic.
macro_rules! line {
    ($($text:tt)*) => { $crate::cli::output::write_line(format_args!($($text)*)) };
}

/// Writes a line, or ends the process if nobody reads it.
pub(super) fn write_line(text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}
