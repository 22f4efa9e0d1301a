//! Standard output, for every command but `serve`.

/// Like `println!`, but a closed pipe (`| head`) ends the command without a panic.
macro_rules! line {
    ($($text:tt)*) => { $crate::cli::output::write_line(format_args!($($text)*)) };
}

/// Writes a line, or ends the process if standard output is closed.
pub(super) fn write_line(text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}
