//! A person at a browser, who opens pages, fills in forms, keeps cookies, and reads text messages.

use crate::harness::{Host, PATIENCE, Reply};
use reqwest::{
    Client, ClientBuilder,
    header::{COOKIE, LOCATION, SET_COOKIE},
    redirect::Policy,
};
use scraper::{Html, Selector};
use serde_json::Value;
use std::{collections::BTreeMap, time::Instant};

/// Waits until this number of text messages was sent, and returns all, the oldest first.
pub async fn messages(host: &Host, count: usize) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let file = host.folder.path().join("data/sms-outbox.jsonl");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let all: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        if all.len() >= count {
            return all;
        }
        assert!(started.elapsed() < PATIENCE, "{} of {count} messages", all.len());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Waits until this number of text messages was sent, and returns the code in the last of them.
pub async fn code(host: &Host, count: usize) -> String {
    let message = messages(host, count).await[count - 1].clone();
    let digits = message["text"].as_str().unwrap().split(|c: char| !c.is_ascii_digit());
    digits.into_iter().find(|word| word.len() == 6).unwrap().to_owned()
}

pub struct Person<'a> {
    pub host: &'a Host,
    pub cookies: BTreeMap<String, String>,
    client: Client,
}

/// A page, or the address outside the host that it redirected to.
pub struct Page {
    pub reply: Reply,
    /// The field `steps` of the page's forms: the signed progress of the sign-in.
    pub steps: String,
    /// The field by which a form proves that it is from a page of this browser.
    pub form_token: String,
    pub heading: String,
}

impl Page {
    fn of(reply: Reply) -> Self {
        let html = Html::parse_document(&reply.text);
        let select = |selector: &str| html.select(&Selector::parse(selector).unwrap()).next();
        let field = |name: &str| {
            let element = select(&format!("input[name={name}]"));
            element.and_then(|element| element.attr("value")).unwrap_or_default().to_owned()
        };
        let (steps, form_token) = (field("steps"), field("form_token"));
        let heading =
            select("h1").map(|element| element.text().collect::<String>()).unwrap_or_default();
        Self { steps, form_token, heading, reply }
    }

    pub fn error_text(&self) -> String {
        let html = Html::parse_document(&self.reply.text);
        let alert = Selector::parse("[role=alert]").unwrap();
        html.select(&alert).next().map(|element| element.text().collect()).unwrap_or_default()
    }

    /// Returns the parameters in the address to which the browser was redirected, which
    /// the client receives.
    pub fn redirect_parameters(&self) -> BTreeMap<String, String> {
        let url = url::Url::parse(self.reply.header("location")).unwrap();
        url.query_pairs().into_owned().collect()
    }
}

impl<'a> Person<'a> {
    pub fn new(host: &'a Host) -> Self {
        Self::with(host, Client::builder())
    }

    /// Returns a person whose browser connects in another way.
    pub fn with(host: &'a Host, browser: ClientBuilder) -> Self {
        let client = browser.redirect(Policy::none()).build().unwrap();
        Self { host, cookies: BTreeMap::new(), client }
    }

    /// Opens a page, following redirects within the host.
    pub async fn open(&mut self, path: &str) -> Page {
        let mut path = path.to_owned();
        for _ in 0..5 {
            let request = self.client.get(format!("{}{path}", self.host.url));
            let reply = self.send(request).await;
            match reply.header("location") {
                next if next.starts_with('/') => path = next.to_owned(),
                _ => return Page::of(reply),
            }
        }
        panic!("{path} leads in circles");
    }

    /// Sends one of a page's forms, and follows redirects within the host.
    pub async fn submit(&mut self, page: &Page, step: &str, fields: &[(&str, &str)]) -> Page {
        let form = [&[("steps", page.steps.as_str()), ("step", step)], fields].concat();
        let reply = self.post(&form).await;
        let status = reply.status.as_u16();
        assert!([200, 303, 400, 404, 409].contains(&status), "{status} {}", reply.text);
        match reply.header("location") {
            next if next.starts_with('/') => {
                let next = next.to_owned();
                self.open(&next).await
            }
            _ => Page::of(reply),
        }
    }

    /// Sends a form to a path, and follows redirects within the host.
    pub async fn submit_to(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let request = self.client.post(format!("{}{path}", self.host.url)).form(form);
        let reply = self.send(request).await;
        match reply.header("location").to_owned() {
            next if next.starts_with('/') => self.open(&next).await,
            _ => Page::of(reply),
        }
    }

    pub async fn post(&mut self, form: &[(&str, &str)]) -> Reply {
        let url = format!("{}/oauth/authorize/continue", self.host.url);
        let request = self.client.post(url).form(form);
        self.send(request).await
    }

    /// Opens the client's authorization request, verifies the phone number, and
    /// returns the consent page.
    pub async fn sign_in(&mut self, path: &str, phone: &str) -> Page {
        let count = messages(self.host, 0).await.len();
        let page = self.open(path).await;
        let page = self.submit(&page, "phone", &[("phone", phone)]).await;
        assert_eq!(page.heading, "Enter the code", "{}", page.reply.text);
        let code = code(self.host, count + 1).await;
        self.submit(&page, "code", &[("code", &code)]).await
    }

    async fn send(&mut self, request: reqwest::RequestBuilder) -> Reply {
        let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let cookies = cookies.collect::<Vec<_>>().join("; ");
        let reply = Reply::read(request.header(COOKIE, cookies).send().await.unwrap()).await;
        for cookie in reply.headers.get_all(SET_COOKIE) {
            let text = cookie.to_str().unwrap();
            assert!(text.contains("HttpOnly") && text.contains("SameSite=Lax"), "{text}");
            let (name, value) = text.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        assert!(!reply.headers.contains_key(LOCATION) || reply.status == 303);
        reply
    }
}
