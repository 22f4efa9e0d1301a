//! Pages of HTML that this host renders. Their policy allows no framing, nothing of other hosts, and no scripts
//! except on the pages for passkeys, on those that write times or try actions, and on those of the operator's console.

use crate::{conditional::tagged, refusal::Refusal};
use askama::Template;
use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_vocabulary::{ErrorCode, Failure};

/// Renders a page whose forms may lead to `forms`.
pub(super) fn page(status: StatusCode, template: &impl Template, forms: FormTargets) -> Response {
    match template.render() {
        Ok(text) => page_of_text(status, text, forms),
        Err(error) => unrendered(&error),
    }
}

/// Renders a public page without forms, with its entity tag, or answers 304 if the client has the same page.
pub(super) fn public_page(headers: &HeaderMap, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => {
            tagged(headers, text, |text| page_of_text(StatusCode::OK, text, FormTargets::ThisHost))
        }
        Err(error) => unrendered(&error),
    }
}

/// Returns the refusal for a template that cannot be rendered.
pub(super) fn unrendered(error: &askama::Error) -> Response {
    tracing::error!(%error, "a page cannot be rendered");
    Refusal(Failure::new(ErrorCode::InternalError)).into_response()
}

/// Returns the response with a rendered page.
pub(super) fn page_of_text(status: StatusCode, text: String, forms: FormTargets) -> Response {
    let mut response = (status, text).into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CONTENT_SECURITY_POLICY, forms.policy()),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The targets that the forms of a page may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum FormTargets {
    /// This host.
    ThisHost,
    /// This host, on a page with the script for passkeys.
    ThisHostByScript,
    /// This host, on a page of the operator's console, whose script reads events of this host.
    Console,
    /// This host, on a page with the script that writes times, or the one that tries actions.
    ThisHostWithScript,
    /// Any address: browsers apply `form-action` to redirects too, and the client may redirect further.
    AnyHost,
}

impl FormTargets {
    const fn policy(self) -> &'static str {
        match self {
            // Without scripts, nothing of a page connects; tools that check pages read robots.txt from within them.
            Self::ThisHost => {
                "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
            }
            Self::ThisHostByScript => {
                "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
            }
            Self::Console => {
                "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
            }
            Self::ThisHostWithScript => {
                "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
            }
            Self::AnyHost => {
                "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
            }
        }
    }
}
