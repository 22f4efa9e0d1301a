//! `GET /v1/install/install.sh` and `install.ps1`: scripts that register an agent and keep its
//! credentials, with this host's own address in them.

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
/// Stands once in each script, where a string is assigned.
const PLACE: &str = "'{{public_url}}'";

/// Stands where the script names the capability with which a person claims the agent. Ids of
/// capabilities have no characters that a shell reads.
const CLAIM: &str = "{{phone_verification}}";

fn claim(app: &App) -> &str {
    app.host.catalog.roles().assigned(Role::PhoneVerification).unwrap_or_default()
}

pub(super) async fn shell(State(app): State<Arc<App>>) -> Response {
    let script = SHELL.replace(PLACE, &shell_string(&app.public_url));
    let script = script.replace(CLAIM, claim(&app));
    respond("text/x-shellscript; charset=utf-8", script)
}

pub(super) async fn powershell(State(app): State<Arc<App>>) -> Response {
    let script = POWERSHELL.replace(PLACE, &powershell_string(&app.public_url));
    let script = script.replace(CLAIM, claim(&app));
    respond("text/plain; charset=utf-8", script)
}

fn respond(media_type: &'static str, script: String) -> Response {
    let about = [(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, "no-cache")];
    (about, script).into_response()
}

/// POSIX: nothing but the quote itself has a meaning between single quotes.
fn shell_string(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The same, but a quote is doubled, and there are four more characters that are one.
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
    fn the_address_has_one_place_in_each_script() {
        for script in [SHELL, POWERSHELL] {
            let places = [PLACE, CLAIM, "{{"].map(|place| script.matches(place).count());
            assert_eq!(places, [1, 2, 3]);
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
