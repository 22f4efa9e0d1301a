//! `GET /v1/install/install.sh` and `install.ps1`: scripts that register an agent at this host and store
//! its credentials.

use crate::App;
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use portolan_vocabulary::Role;
use std::sync::Arc;

const SHELL: &str = include_str!("install/install.sh");
const POWERSHELL: &str = include_str!("install/install.ps1");
/// The placeholder that each script contains once, where a string is assigned.
const URL_PLACEHOLDER: &str = "'{{public_url}}'";

/// The placeholder in the script for the capability with which a person claims the agent. Ids of capabilities
/// have no characters that are special to a shell.
const CLAIM_PLACEHOLDER: &str = "{{phone_verification}}";

fn claim_capability(app: &App) -> &str {
    app.host.catalog.roles().assigned(Role::PhoneVerification).unwrap_or_default()
}

pub(super) async fn shell(State(app): State<Arc<App>>) -> Response {
    let script = SHELL.replace(URL_PLACEHOLDER, &shell_string(&app.public_url));
    let script = script.replace(CLAIM_PLACEHOLDER, claim_capability(&app));
    respond("text/x-shellscript; charset=utf-8", script)
}

pub(super) async fn powershell(State(app): State<Arc<App>>) -> Response {
    let script = POWERSHELL.replace(URL_PLACEHOLDER, &powershell_string(&app.public_url));
    let script = script.replace(CLAIM_PLACEHOLDER, claim_capability(&app));
    respond("text/plain; charset=utf-8", script)
}

fn respond(media_type: &'static str, script: String) -> Response {
    let headers = [(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, "no-cache")];
    (headers, script).into_response()
}

/// Quotes a text for a POSIX shell. Between single quotes, only the quote itself is special.
pub(super) fn shell_string(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a text for PowerShell, in which a quote is doubled, and four more characters count as
/// quotes.
fn powershell_string(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        if ['\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}'].contains(&letter) {
            quoted.push(letter);
        }
        quoted.push(letter);
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_script_has_one_placeholder() {
        for script in [SHELL, POWERSHELL] {
            let counts =
                [URL_PLACEHOLDER, CLAIM_PLACEHOLDER, "{{"].map(|text| script.matches(text).count());
            assert_eq!(counts, [1, 2, 3]);
        }
    }

    #[test]
    fn the_scripts_are_ascii() {
        assert!(SHELL.is_ascii() && POWERSHELL.is_ascii());
    }

    #[test]
    fn a_hostile_address_stays_a_string() {
        assert_eq!(shell_string("http://a';id;'"), r"'http://a'\'';id;'\'''");
        assert_eq!(powershell_string("http://a';b\u{2019}$c"), "'http://a'';b\u{2019}\u{2019}$c'");
    }
}
