//! The addresses of the pages of a handoff. The token of an address is the only part that others choose, and it has
//! no letter with a meaning in an address: a sign-in that returns to one stays on this host and on this page.

use super::draft::Drafted;
use crate::{
    App, Refusal,
    oauth::{browser::Cookies, client::Form},
};
use axum::{
    RequestPartsExt as _,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use portolan_vocabulary::{ErrorCode, Failure};
use std::sync::Arc;

/// The maximum number of bytes of a token.
const TOKEN_BYTES: usize = 1_000;

/// The token in the address of a request.
pub(crate) struct Token(pub(super) String);

impl FromRequestParts<Arc<App>> for Token {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _app: &Arc<App>) -> Result<Self, Refusal> {
        match parts.extract::<Path<String>>().await {
            Ok(Path(token)) if is_token(&token) => Ok(Self(token)),
            _ => Err(Refusal(Failure::new(ErrorCode::NotFound))),
        }
    }
}

/// Returns whether a text can be the token of an address: only unreserved letters (RFC 3986, section 2.3), and not a
/// segment that means another one.
fn is_token(text: &str) -> bool {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (1..=TOKEN_BYTES).contains(&text.len())
        && text.bytes().all(is_unreserved)
        && !text.bytes().all(|byte| byte == b'.')
}

pub(super) fn path(token: &str) -> String {
    format!("/handoff/{token}")
}

pub(super) fn sign_in_path(token: &str) -> String {
    format!("/handoff/{token}/sign-in")
}

/// Returns the address of the page about the thing that was made from a draft. Nobody else can make one for this
/// browser.
pub(super) fn result_path(
    app: &App,
    cookies: &Cookies,
    token: &str,
    drafted: &Drafted<'_>,
    made: &str,
) -> String {
    let (capability, action) = (&*drafted.capability.id, &*drafted.page.action);
    let secret = secret(cookies, token, [capability, action, made]);
    let proof = app.host.identity.form_token(&secret);
    let query =
        [("capability", capability), ("action", action), ("made", made), ("proof", &*proof)];
    let query = serde_urlencoded::to_string(query).unwrap_or_default();
    format!("/handoff/{token}/result?{query}")
}

/// Returns the capability, the action, and the id of the thing that was made, if this host has made the
/// address for this browser.
pub(super) fn result_of<'q>(
    app: &App,
    cookies: &Cookies,
    token: &str,
    query: &'q Form,
) -> Option<[&'q str; 3]> {
    let member = |name: &str| query.get(name).map(String::as_str);
    let result = [member("capability")?, member("action")?, member("made")?];
    let secret = secret(cookies, token, result);
    app.host.identity.is_form_token(member("proof")?, &secret).then_some(result)
}

fn secret(cookies: &Cookies, token: &str, result: [&str; 3]) -> String {
    let browser = cookies.browser().unwrap_or_default();
    format!("{browser} sent {token} {}", result.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_to_no_other_page() {
        assert!(is_token("eyJ2IjoxfQ.c2lnbmF0_dXJl-~"));
        for text in
            ["", ".", "..", "a/b", "//evil.example", "a?b", "a#b", "a%2Fb", "a\\b", "ä", "a b"]
        {
            assert!(!is_token(text), "{text}");
        }
        assert!(!is_token(&"a".repeat(TOKEN_BYTES + 1)));
    }
}
