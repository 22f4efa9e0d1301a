//! A server that publishes a calendar, with a DNS that leads to it.

use crate::harness::{
    Host, Options,
    dns::{Answer, Dns},
    server::{Server, response},
};
use std::{
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};

/// The host names of the server.
pub const CALENDARS: &str = "calendars.example";
pub const MOVED: &str = "moved.example";
/// The path of the calendar, whose secret must be nowhere in the clear.
pub const SECRET: &str = "canaryaddress7f3a9c";

pub struct CalendarServer {
    answer: Arc<Mutex<String>>,
    dns: Dns,
    pub server: Server,
}

/// Returns the response with a calendar file and more headers.
pub fn calendar(text: &str, headers: &str) -> String {
    response("200 OK", &format!("content-type: text/calendar; charset=utf-8\r\n{headers}"), text)
}

impl CalendarServer {
    /// Starts a server that answers each request alike, as the test sets.
    pub async fn new() -> Self {
        let answer: Arc<Mutex<String>> = Arc::default();
        let set = Arc::clone(&answer);
        let dns = Dns::start(|_, _, _| Answer::Address(Ipv4Addr::LOCALHOST)).await;
        let server = Server::of(&[CALENDARS, MOVED], move |request| {
            let is_redirected = request.starts_with("GET /redirected/");
            let redirect = format!("location: https://{MOVED}/{SECRET}moved.ics\r\n");
            Some(match is_redirected {
                true => response("301 Moved Permanently", &redirect, ""),
                false => set.lock().unwrap().clone(),
            })
        })
        .await;
        Self { answer, dns, server }
    }

    /// Sets the response from now on.
    pub fn answer(&self, response: String) {
        *self.answer.lock().unwrap() = response;
    }

    /// The address of the calendar, as calendar programs show it.
    pub fn url(&self) -> String {
        format!("webcal://{CALENDARS}/{SECRET}/basic.ics")
    }

    /// Options of a host that can reach this server.
    pub fn options(&self, more: &str) -> Options {
        let names = [
            "calendar",
            "data_rights",
            "owners",
            "social_permissions",
            "social_relationships",
            "svc_events",
            "svc_phone_binding",
        ];
        let lookups = format!(
            "[lookups]\ndns_servers = [\"127.0.0.1:{}\"]\nhttps_port = {}\n",
            self.dns.port, self.server.port
        );
        // The time limit of calls is long, because the machine may be busy.
        let lookups = format!("{lookups}\n[limits]\ncall_wall_time_ms = 20000\n");
        Options::with(&names)
            .configuration(&lookups)
            .add_configuration(more)
            .trusting(&self.server.certificate)
    }

    pub async fn host(&self) -> Host {
        Host::start(self.options("reachable_networks = [\"127.0.0.0/8\"]")).await
    }
}
