//! The only HTTP client. It limits how often it asks a host, and what an answer may cost.

mod budget;
mod cache;
mod error;
mod file;
mod limits;
mod robots;
mod wait;

pub use budget::Budget;
pub use error::FetchError;
pub use limits::Limits;
pub use portolan_reach::Refused;

use crate::{charset, timestamp::Timestamp};
use cache::{Cache, Kept};
use flate2::read::MultiGzDecoder;
use ipnet::IpNet;
use portolan_reach::Reach;
use reqwest::{
    Client, Response, StatusCode,
    header::{
        ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, DATE, ETAG, HeaderMap, HeaderName,
        IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
    },
    redirect::Policy,
};
use robots::Robots;
use std::{collections::BTreeMap, io::Read as _, path::Path, sync::Arc, time::Duration};
use tokio::{
    sync::{Mutex, Semaphore},
    time::Instant,
};
use url::{Host, Url};
use wait::Lane;

/// How many hosts are asked at the same time.
const HOSTS: usize = 16;
const USER_AGENT: &str = concat!("Portolan-feeds/", env!("CARGO_PKG_VERSION"));

/// How a client presents itself, and what it may reach.
#[derive(Debug, Clone, Default)]
pub struct Manners<'a> {
    /// Address ranges that may be fetched although they are not public, also without TLS.
    pub opened: &'a [IpNet],
    /// Whether files and servers of this machine may be read.
    pub allows_local: bool,
    /// Where the operators of hosts can reach this one's: an address, for the header `User-Agent`.
    pub contact: Option<&'a str>,
}

/// One document to fetch.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub url: &'a Url,
    /// How many bytes the answer may have.
    pub most: usize,
    /// Whether the host's `robots.txt` does not count, because its operator permits the use.
    pub ignores_robots: bool,
    /// What the source may still cost.
    pub budget: &'a Budget,
}

/// How much of an answer is read.
#[derive(Debug, Clone, Copy)]
enum Size {
    /// A longer answer is an error.
    All(usize),
    /// Of a longer answer, the beginning is read.
    Beginning(usize),
}

/// The addresses of this machine.
const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];

/// A client that fetches documents over HTTP.
pub struct Fetcher {
    /// For requests over TLS, to public addresses and to opened ones.
    secure: Client,
    /// For requests without TLS, to opened addresses only.
    plain: Client,
    reach: Reach,
    allows_local: bool,
    limits: Limits,
    cache: Cache,
    lanes: Mutex<BTreeMap<String, Arc<Mutex<Lane>>>>,
    hosts: Semaphore,
    /// The time of the build, from the caller.
    now: Timestamp,
}

/// The result of one request.
enum Answer {
    Body(Vec<u8>),
    Moved(Url),
}

impl Fetcher {
    /// Makes a client that keeps answers in the folder `cache`.
    pub fn new(
        manners: &Manners<'_>,
        limits: Limits,
        cache: &Path,
        now: Timestamp,
    ) -> Result<Self, std::io::Error> {
        // This fails if another part of the process has already installed a provider.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let mut opened = manners.opened.to_vec();
        if manners.allows_local {
            opened.extend(LOOPBACK.iter().filter_map(|range| range.parse::<IpNet>().ok()));
        }
        let agent = match manners.contact {
            Some(contact) => format!("{USER_AGENT} (+{contact})"),
            None => USER_AGENT.to_owned(),
        };
        let client = |public: bool| {
            Client::builder()
                .user_agent(&agent)
                .redirect(Policy::none())
                .no_proxy()
                .https_only(public)
                .dns_resolver(Arc::new(Reach::new(&opened, public)))
                .build()
                .map_err(std::io::Error::other)
        };
        Ok(Self {
            secure: client(true)?,
            plain: client(false)?,
            reach: Reach::new(&opened, true),
            allows_local: manners.allows_local,
            limits,
            cache: Cache::new(cache, now)?,
            lanes: Mutex::default(),
            hosts: Semaphore::new(HOSTS),
            now,
        })
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Fetches a document as UTF-8, with one request at a time to each host and a pause between them. If the
    /// server answers that nothing has changed, the body comes from the cache.
    pub async fn get(&self, request: Request<'_>) -> Result<Vec<u8>, FetchError> {
        let Request { url, most, budget, .. } = request;
        let most = most.min(budget.bytes_left());
        if url.scheme() == "file" {
            return match self.allows_local {
                true => budget.bytes_of(file::read(url, most).await),
                false => Err(FetchError::Local),
            };
        }
        self.check(url)?;
        let lane = self.lane(url).await;
        // The time that others need of the same host is not the source's.
        let mut lane = lane.lock().await;
        let begun = Instant::now();
        let answer =
            tokio::time::timeout(budget.time_left(), self.allowed(&mut lane, request, most));
        let answer = answer.await.unwrap_or_else(|_| {
            lane.delay(self.limits.pause);
            Err(budget.over())
        });
        budget.spend(begun.elapsed());
        budget.bytes_of(answer)
    }

    fn check(&self, url: &Url) -> Result<(), FetchError> {
        self.reach.check(url).map_err(|refused| match is_local(url) && !self.allows_local {
            true => FetchError::Local,
            false => refused.into(),
        })
    }

    async fn lane(&self, url: &Url) -> Arc<Mutex<Lane>> {
        let mut lanes = self.lanes.lock().await;
        Arc::clone(lanes.entry(url.authority().to_owned()).or_default())
    }

    /// Fetches a document, and the targets of its redirects, if the host's `robots.txt` allows each.
    async fn allowed(
        &self,
        lane: &mut Lane,
        request: Request<'_>,
        most: usize,
    ) -> Result<Vec<u8>, FetchError> {
        let mut at = request.url.clone();
        for _ in 0..=self.limits.redirects {
            if !request.ignores_robots {
                self.ask_robots(lane, &at).await?;
            }
            match self.attempt(lane, &at, Size::All(most)).await? {
                Answer::Body(body) => return Ok(body),
                Answer::Moved(to) => at = self.moved(&at, to)?,
            }
        }
        Err(FetchError::Elsewhere("itself, again and again".to_owned()))
    }

    /// Refuses a URL that the host's `robots.txt` does not allow. The file is fetched once in a build, for each
    /// scheme and port, of which a host can have two if it redirects from one to the other.
    async fn ask_robots(&self, lane: &mut Lane, url: &Url) -> Result<(), FetchError> {
        let Some(address) = robots::address(url) else { return Ok(()) };
        let robots = match lane.robots.remove(&address) {
            Some(known) => known,
            None => self.robots(lane, &address).await?,
        };
        let host = || url.host_str().unwrap_or_default().to_owned();
        let answer = match (robots.allow(url), &robots) {
            (true, _) => Ok(()),
            (false, Robots::Unreachable(status)) => Err(FetchError::NoRobots(host(), *status)),
            (false, _) => Err(FetchError::Robots(host())),
        };
        lane.robots.insert(address, robots);
        answer
    }

    /// Reads what a host allows. Its file may be on another one; that one's pause is not waited for.
    async fn robots(&self, lane: &mut Lane, address: &Url) -> Result<Robots, FetchError> {
        let mut at = address.clone();
        for _ in 0..=self.limits.robots_redirects {
            match self.attempt(lane, &at, Size::Beginning(robots::MOST_BYTES)).await {
                Ok(Answer::Body(bytes)) => return Ok(Robots::parse(&bytes)),
                Ok(Answer::Moved(to)) => {
                    self.check(&to)?;
                    at = to;
                }
                // Without a file everything is allowed (RFC 9309, section 2.3.1.3).
                Err(FetchError::Status(400..=499)) => return Ok(Robots::All),
                Err(FetchError::Status(status)) => return Ok(Robots::Unreachable(status)),
                Err(error) => return Err(error),
            }
        }
        // After five redirects, the file counts as absent (section 2.3.1.2).
        Ok(Robots::All)
    }

    /// Sends a request, and again if that may help.
    async fn attempt(&self, lane: &mut Lane, url: &Url, size: Size) -> Result<Answer, FetchError> {
        let mut attempt = 0;
        loop {
            let too_long = lane.remaining() > self.limits.longest_wait;
            if too_long || lane.failures() >= self.limits.host_failures {
                return Err(FetchError::GivenUp);
            }
            lane.wait().await;
            let answer = self.within_time(url, size).await;
            attempt += 1;
            let transient = answer.as_ref().err().is_some_and(FetchError::is_transient);
            lane.record(self.limits.pause, transient);
            let error = match answer {
                Err(error) if transient => error,
                answer => return answer,
            };
            let asked_s = if let FetchError::Later(seconds) = error { seconds } else { 0 };
            let backed_off = self.limits.first_wait.saturating_mul(1 << (attempt - 1).min(16));
            let wait = backed_off.max(Duration::from_secs(asked_s));
            lane.delay(wait);
            if attempt >= self.limits.attempts || wait > self.limits.longest_wait {
                return Err(error);
            }
        }
    }

    async fn within_time(&self, url: &Url, size: Size) -> Result<Answer, FetchError> {
        let Ok(_place) = self.hosts.acquire().await else { return Err(FetchError::Away) };
        let asked = tokio::time::timeout(self.limits.request, self.ask(url, size)).await;
        asked.map_err(|_| FetchError::TooSlow)?
    }

    async fn ask(&self, url: &Url, size: Size) -> Result<Answer, FetchError> {
        let kept = self.cache.find(url.as_str());
        let client = if url.scheme() == "https" { &self.secure } else { &self.plain };
        let mut request = client
            .get(url.clone())
            .header(ACCEPT, "application/json, application/feed+json, application/atom+xml, application/rss+xml, */*;q=0.1")
            .header(ACCEPT_ENCODING, "gzip");
        if let Some(Kept { validators, .. }) = &kept {
            let pairs =
                [(IF_NONE_MATCH, &validators.etag), (IF_MODIFIED_SINCE, &validators.last_modified)];
            for (name, value) in pairs {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
        }
        let response = request.send().await.map_err(|error| reason(&error))?;
        let status = response.status();
        match (status, kept) {
            (StatusCode::NOT_MODIFIED, Some(kept)) => Ok(Answer::Body(kept.body)),
            (StatusCode::OK, _) => Ok(Answer::Body(self.body(url, response, size).await?)),
            _ if status.is_redirection() => target(url, &response).map(Answer::Moved),
            _ => Err(match later(response.headers(), self.now) {
                Some(seconds) if matches!(status.as_u16(), 429 | 503) => FetchError::Later(seconds),
                _ => FetchError::Status(status.as_u16()),
            }),
        }
    }

    /// Returns the target of a redirect. It must have the same origin, or be the same host over TLS.
    fn moved(&self, from: &Url, to: Url) -> Result<Url, FetchError> {
        let same = to.origin() == from.origin();
        let secured = to.host() == from.host() && (from.scheme(), to.scheme()) == ("http", "https");
        match self.reach.check(&to) {
            Ok(()) if same || secured => Ok(to),
            Ok(()) => Err(FetchError::Elsewhere(to.authority().to_owned())),
            Err(refused) => Err(refused.into()),
        }
    }

    async fn body(
        &self,
        url: &Url,
        mut response: Response,
        size: Size,
    ) -> Result<Vec<u8>, FetchError> {
        let (Size::All(most) | Size::Beginning(most)) = size;
        let (etag, last_modified) =
            (text(response.headers(), &ETAG), text(response.headers(), &LAST_MODIFIED));
        let encoding = text(response.headers(), &CONTENT_ENCODING);
        let content_type = text(response.headers(), &CONTENT_TYPE);
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| reason(&error))? {
            body.extend_from_slice(&part);
            if body.len() > most {
                break;
            }
        }
        let mut body = match encoding.as_deref() {
            None | Some("identity") => body,
            Some("gzip" | "x-gzip") if body.len() <= most => decompressed(&body, most)?,
            Some("gzip" | "x-gzip") => return Err(FetchError::TooLarge(most)),
            Some(_) => return Err(FetchError::Compression),
        };
        if body.len() > most {
            match size {
                Size::All(_) => return Err(FetchError::TooLarge(most)),
                Size::Beginning(_) => body.truncate(most),
            }
        }
        let body = charset::utf_8(body, content_type.as_deref());
        match etag.is_some() || last_modified.is_some() {
            // If the cache cannot be written, the body is only fetched again the next time.
            true => drop(self.cache.keep(url.as_str(), etag, last_modified, &body)),
            false => self.cache.forget(url.as_str()),
        }
        Ok(body)
    }
}

/// Returns where a redirect leads.
fn target(from: &Url, response: &Response) -> Result<Url, FetchError> {
    let status = FetchError::Status(response.status().as_u16());
    let to = text(response.headers(), &LOCATION).ok_or(status.clone())?;
    from.join(&to).map_err(|_| status)
}

/// Returns whether a URL is one of this machine.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// Decompresses a body, and stops as soon as the result is too large.
fn decompressed(body: &[u8], most: usize) -> Result<Vec<u8>, FetchError> {
    let mut plain = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read = MultiGzDecoder::new(body).take(bound).read_to_end(&mut plain);
    read.map_err(|_| FetchError::Compression)?;
    Ok(plain)
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Returns the seconds of `Retry-After`; a date counts from the server's own clock (RFC 9110, section
/// 10.2.3).
fn later(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let asked = text(headers, &RETRY_AFTER)?;
    let date = |text: &str| {
        let since =
            httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(since.as_secs())
    };
    let asked = asked.trim();
    let is_number = !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = is_number.then(|| asked.parse().unwrap_or(u64::MAX));
    seconds.or_else(|| {
        let server_s = text(headers, &DATE).and_then(|value| date(&value));
        let now_s = u64::try_from(now.as_millis() / 1000).unwrap_or(0);
        Some(date(asked)?.saturating_sub(server_s.unwrap_or(now_s)))
    })
}

/// Returns the refusal by `Reach` if that is the cause, and `Away` otherwise.
fn reason(error: &reqwest::Error) -> FetchError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return FetchError::Refused(*refused);
        }
        cause = error.source();
    }
    FetchError::Away
}
