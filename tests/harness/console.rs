//! A browser without scripts at the operator's console.

use crate::harness::{Host, Reply};
use reqwest::{Client, Method, redirect::Policy};
use std::sync::Mutex;

const COOKIE: &str = "portolan_console";

/// A browser with the cookie of the console. It follows no redirects.
pub struct Browser {
    client: Client,
    origin: String,
    cookie: Mutex<Option<String>>,
}

impl Browser {
    pub fn new(host: &Host) -> Self {
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        Self { client, origin: host.admin_url.clone(), cookie: Mutex::default() }
    }

    /// Returns a browser in which the holder of this token has signed in.
    pub async fn signed_in(host: &Host, token: &str) -> Self {
        let browser = Self::new(host);
        let reply = browser.sign_in(token).await;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, "/console"));
        browser
    }

    /// Sends the token with the form of the sign-in page.
    pub async fn sign_in(&self, token: &str) -> Reply {
        let page = self.get("/console/sign-in").await;
        assert_eq!(page.status, 200, "{}", page.text);
        self.submit("/console/sign-in", &[("form_token", &form_token(&page)), ("token", token)])
            .await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], &[]).await
    }

    /// Returns a page of the console, which must be there.
    pub async fn page(&self, path: &str) -> String {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {} {}", reply.header("location"), reply.text);
        assert!(reply.header("content-type").starts_with("text/html"), "{path}");
        reply.text
    }

    pub async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let origin = self.origin.clone();
        let headers = [("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
        self.send(Method::POST, path, &headers, fields).await
    }

    /// Submits the form of a page whose button has this text. Returns the page to which it leads.
    pub async fn press(&self, path: &str, button: &str) -> String {
        self.press_with(path, button, &[]).await
    }

    /// Does the same with these fields filled in.
    pub async fn press_with(&self, path: &str, button: &str, filled: &[(&str, &str)]) -> String {
        let page = self.page(path).await;
        let is_pressed = |form: &&str| form.contains(&format!(">{button}</button>"));
        let forms = page.split("<form ").skip(1).map(|form| form.split("</form>").next().unwrap());
        let form = forms.into_iter().find(is_pressed);
        let form = form.unwrap_or_else(|| panic!("no button {button} at {path}: {page}"));
        let hidden = form.split("<input type=\"hidden\" ").skip(1);
        let mut fields: Vec<_> =
            hidden.map(|input| (attribute(input, "name"), attribute(input, "value"))).collect();
        fields.extend_from_slice(filled);
        let reply = self.submit(attribute(form, "action"), &fields).await;
        assert_eq!(reply.status, 303, "{}", reply.text);
        self.page(reply.header("location")).await
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Reply {
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.origin));
        if let Some(value) = self.cookie() {
            request = request.header("cookie", format!("{COOKIE}={value}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if method == Method::POST {
            request = request.form(fields);
        }
        let reply = Reply::read(request.send().await.unwrap()).await;
        if let Some(set) = reply.header("set-cookie").strip_prefix(&format!("{COOKIE}=")) {
            let value = set.split(';').next().unwrap().to_owned();
            *self.cookie.lock().unwrap() = Some(value);
        }
        reply
    }

    pub fn cookie(&self) -> Option<String> {
        self.cookie.lock().unwrap().clone()
    }

    pub fn set_cookie(&self, value: &str) {
        *self.cookie.lock().unwrap() = Some(value.to_owned());
    }
}

/// Returns the token of the first form of a page.
pub fn form_token(page: &Reply) -> String {
    attribute(page.text.split("name=\"form_token\"").nth(1).unwrap_or_default(), "value").to_owned()
}

/// Returns the first attribute with this name.
fn attribute<'a>(html: &'a str, name: &str) -> &'a str {
    let rest = html.split(&format!("{name}=\"")).nth(1).unwrap_or_default();
    rest.split('"').next().unwrap_or_default()
}
