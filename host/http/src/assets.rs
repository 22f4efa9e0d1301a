//! The stylesheet and the icon of every page that this host renders, and the scripts: the one that writes times, the one
//! that tries actions, and that of the operator's console.

use crate::static_file::{StaticFile, hashed_name};
use std::sync::LazyLock;

const STYLE: (&str, &str, &[u8]) =
    ("style.css", "text/css; charset=utf-8", include_bytes!("../templates/style.css"));
const ICON: (&str, &str, &[u8]) =
    ("icon.svg", "image/svg+xml", include_bytes!("../templates/icon.svg"));
const TRY: (&str, &str, &[u8]) =
    ("try.js", "text/javascript; charset=utf-8", include_bytes!("../templates/try.js"));

const TIMES: (&str, &str, &[u8]) =
    ("times.js", "text/javascript; charset=utf-8", include_bytes!("../templates/times.js"));

const CONSOLE: (&str, &str, &[u8]) = (
    "console.js",
    "text/javascript; charset=utf-8",
    include_bytes!("../templates/console/console.js"),
);

static FILES: LazyLock<Vec<StaticFile>> = LazyLock::new(|| {
    let files = [STYLE, ICON, TRY, TIMES, CONSOLE]
        .map(|(name, kind, bytes)| StaticFile::new(hashed_name(name, bytes), kind, bytes));
    files.into_iter().flatten().collect()
});

/// Returns the path of the stylesheet, for the templates.
pub(super) fn style_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| path_of(STYLE));
    &PATH
}

/// Returns the path of the icon, for the templates.
pub(super) fn icon_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| path_of(ICON));
    &PATH
}

/// Returns the path of the script of the operator's console, for the templates.
pub(super) fn console_script_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| path_of(CONSOLE));
    &PATH
}

/// Returns the path of the script that tries actions, for the templates.
pub(super) fn try_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| path_of(TRY));
    &PATH
}

/// Returns the path of the script that writes times, for the templates.
pub(super) fn times_path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| path_of(TIMES));
    &PATH
}

fn path_of((name, _, bytes): (&str, &str, &[u8])) -> String {
    format!("/assets/{}", hashed_name(name, bytes))
}

/// Returns the file with this name.
pub(super) fn find(name: &str) -> Option<&'static StaticFile> {
    FILES.iter().find(|file| file.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_refers_to_nothing_else() {
        let style = str::from_utf8(STYLE.2).unwrap();
        assert!(!style.contains("url(") && !style.contains("@import"));
        assert!(style_path().starts_with("/assets/style-") && style_path().ends_with(".css"));
    }
}
