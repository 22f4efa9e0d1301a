//! Cookies of a person's browser, and pages and redirects for it.

use crate::{
    App,
    page::{FormTargets, page},
};
use askama::Template;
use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use axum_extra::extract::{
    CookieJar,
    cookie::{Cookie, SameSite},
};

/// The cookie that identifies the browser, so that forms of another browser's sign-in are refused.
const BROWSER_COOKIE: &str = "portolan_browser";
/// The cookie of the session of a person who has signed in.
const SESSION_COOKIE: &str = "portolan_session";

/// The cookies of a request. Their names and attributes depend on whether the host has an https address.
#[derive(Clone)]
pub(super) struct Cookies {
    jar: CookieJar,
    is_secure: bool,
}

impl Cookies {
    pub(super) fn new(jar: CookieJar, app: &App) -> Self {
        Self { jar, is_secure: app.public_url.starts_with("https://") }
    }

    pub(super) fn browser(&self) -> Option<String> {
        self.value(BROWSER_COOKIE)
    }

    pub(super) fn session(&self) -> Option<String> {
        self.value(SESSION_COOKIE)
    }

    pub(super) fn set_browser(self, value: String) -> Self {
        let cookie = self.cookie(BROWSER_COOKIE, value);
        Self { jar: self.jar.add(cookie), ..self }
    }

    /// Sets a cookie that the browser drops when it is closed. The session has its own expiry in the store.
    pub(super) fn set_session(self, value: String) -> Self {
        let cookie = self.cookie(SESSION_COOKIE, value);
        Self { jar: self.jar.add(cookie), ..self }
    }

    pub(super) fn end_session(self) -> Self {
        let cookie = self.cookie(SESSION_COOKIE, String::new());
        Self { jar: self.jar.remove(cookie), ..self }
    }

    /// Returns the response with the cookies that were set.
    pub(super) fn add_to(self, response: Response) -> Response {
        (self.jar, response).into_response()
    }

    /// Returns the cookie's full name, which has a prefix if the host uses https. Other hosts of the same
    /// domain cannot set a cookie with the prefix (RFC 6265bis).
    fn name(&self, name: &str) -> String {
        if self.is_secure { format!("__Host-{name}") } else { name.to_owned() }
    }

    fn value(&self, name: &str) -> Option<String> {
        let value = self.jar.get(&self.name(name))?.value();
        (!value.is_empty()).then(|| value.to_owned())
    }

    fn cookie(&self, name: &str, value: String) -> Cookie<'static> {
        Cookie::build((self.name(name), value))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(self.is_secure)
            .build()
    }
}

#[derive(Template)]
#[template(path = "stop.html")]
struct StopPage<'a> {
    title: &'a str,
    text: &'a str,
}

/// Returns a page that says why nothing can be done here.
pub(super) fn stop_page(status: StatusCode, title: &str, text: &str) -> Response {
    page(status, &StopPage { title, text }, FormTargets::ThisHost)
}

/// The texts in `User-Agent` that tell the family of a browser. The first that occurs counts, because most
/// browsers also name others.
const FAMILIES: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Returns the family of the browser that sends these headers, if it is known.
pub(super) fn family(headers: &HeaderMap) -> Option<&'static str> {
    let text = headers.get(header::USER_AGENT)?.to_str().ok()?;
    FAMILIES.iter().find(|(part, _)| text.contains(part)).map(|(_, family)| *family)
}

/// Redirects with status 303, so that the browser does not repeat a POST (RFC 9700, section 4.12).
pub(crate) fn see_other(location: &str) -> Response {
    match HeaderValue::from_str(location) {
        Ok(location) => {
            let headers = [
                (header::LOCATION, location),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
                (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            ];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
