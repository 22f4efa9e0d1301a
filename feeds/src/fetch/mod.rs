//! The only HTTP client. It limits how often it asks a host, and what an answer may cost.

mod cache;
mod wait;

pub use portolan_reach::Refused;

use crate::timestamp::Timestamp;
use cache::{Cache, Kept};
use flate2::read::MultiGzDecoder;
use ipnet::IpNet;
use portolan_reach::Reach;
use reqwest::{
    Client, Response, StatusCode,
    header::{
        ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, DATE, ETAG, HeaderMap, HeaderName,
        IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
    },
    redirect::Policy,
};
use std::{collections::BTreeMap, io::Read as _, path::Path, sync::Arc, time::Duration};
use tokio::{
    sync::{Mutex, Semaphore},
    time::Instant,
};
use url::Url;
use wait::Lane;

/// How many hosts are asked at the same time.
const HOSTS: usize = 16;
const USER_AGENT: &str = concat!("Portolan-feeds/", env!("CARGO_PKG_VERSION"));

/// The limits of requests and answers.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The size of an answer, both before and after decompression.
    pub body_bytes: usize,
    /// The time for one request and its answer, redirects included.
    pub request: Duration,
    pub attempts: u32,
    /// The time between two requests to one host.
    pub pause: Duration,
    /// The wait before the second attempt; it doubles before each further one.
    pub first_wait: Duration,
    /// A host that asks for a longer wait is not asked again in this build.
    pub longest_wait: Duration,
    pub redirects: usize,
    /// How many pages of one source are read.
    pub pages: usize,
    /// After this many failed requests in a row, a host is not asked again in this build.
    pub host_failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 * 1024 * 1024,
            request: Duration::from_secs(30),
            attempts: 3,
            pause: Duration::from_secs(1),
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(60),
            redirects: 3,
            pages: 50,
            host_failures: 6,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the server does not answer")]
    Away,
    #[error("the answer takes too long")]
    TooSlow,
    #[error("the server answers {0}")]
    Status(u16),
    #[error("the server asks to wait for {0} seconds")]
    Later(u64),
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    #[error("the answer is not compressed as it says")]
    Compression,
    #[error("the server leads elsewhere, to {0}")]
    Elsewhere(String),
    #[error("the host failed too often and is not asked again in this build")]
    GivenUp,
}

impl FetchError {
    /// Returns whether another attempt may succeed.
    fn is_transient(&self) -> bool {
        match self {
            Self::Away | Self::TooSlow | Self::Later(_) => true,
            Self::Status(status) => matches!(status, 408 | 425 | 429 | 500..=599),
            Self::Refused(_)
            | Self::TooLarge(_)
            | Self::Compression
            | Self::Elsewhere(_)
            | Self::GivenUp => false,
        }
    }
}

/// A client that fetches documents over HTTP.
pub struct Fetcher {
    /// For requests over TLS, to public addresses and to opened ones.
    secure: Client,
    /// For requests without TLS, to opened addresses only.
    plain: Client,
    reach: Reach,
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
    /// Makes a client. `opened` are address ranges that may be fetched although they are not public, also
    /// without TLS.
    pub fn new(
        opened: &[IpNet],
        limits: Limits,
        cache: &Path,
        now: Timestamp,
    ) -> Result<Self, std::io::Error> {
        // This fails if another part of the process has already installed a provider.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = |public: bool| {
            Client::builder()
                .user_agent(USER_AGENT)
                .redirect(Policy::none())
                .no_proxy()
                .https_only(public)
                .dns_resolver(Arc::new(Reach::new(opened, public)))
                .build()
                .map_err(std::io::Error::other)
        };
        Ok(Self {
            secure: client(true)?,
            plain: client(false)?,
            reach: Reach::new(opened, true),
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

    /// Fetches a URL, with one request at a time to each host and a pause between them. If the server
    /// answers that nothing has changed, the body comes from the cache.
    pub async fn get(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        self.reach.check(url)?;
        let lane = {
            let mut lanes = self.lanes.lock().await;
            Arc::clone(lanes.entry(url.authority().to_owned()).or_default())
        };
        let mut lane = lane.lock().await;
        let mut attempt = 0;
        loop {
            let too_long = lane.remaining() > self.limits.longest_wait;
            if too_long || lane.failures() >= self.limits.host_failures {
                return Err(FetchError::GivenUp);
            }
            lane.wait().await;
            let answer = self.follow(url).await;
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

    /// Sends a request and follows redirects.
    async fn follow(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        let Ok(_place) = self.hosts.acquire().await else { return Err(FetchError::Away) };
        let until = Instant::now() + self.limits.request;
        let mut at = url.clone();
        for _ in 0..=self.limits.redirects {
            let asked = tokio::time::timeout_at(until, self.ask(&at)).await;
            match asked.map_err(|_| FetchError::TooSlow)?? {
                Answer::Body(body) => return Ok(body),
                Answer::Moved(to) => at = to,
            }
        }
        Err(FetchError::Elsewhere("itself, again and again".to_owned()))
    }

    async fn ask(&self, url: &Url) -> Result<Answer, FetchError> {
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
            (StatusCode::OK, _) => Ok(Answer::Body(self.body(url, response).await?)),
            _ if status.is_redirection() => self.moved(url, &response).map(Answer::Moved),
            _ => Err(match later(response.headers(), self.now) {
                Some(seconds) if matches!(status.as_u16(), 429 | 503) => FetchError::Later(seconds),
                _ => FetchError::Status(status.as_u16()),
            }),
        }
    }

    /// Returns the target of a redirect. It must have the same origin, or be the same host over TLS.
    fn moved(&self, from: &Url, response: &Response) -> Result<Url, FetchError> {
        let status = FetchError::Status(response.status().as_u16());
        let to = text(response.headers(), &LOCATION).ok_or(status.clone())?;
        let to = from.join(&to).map_err(|_| status)?;
        let same = to.origin() == from.origin();
        let secured = to.host() == from.host() && (from.scheme(), to.scheme()) == ("http", "https");
        match self.reach.check(&to) {
            Ok(()) if same || secured => Ok(to),
            Ok(()) => Err(FetchError::Elsewhere(to.authority().to_owned())),
            Err(refused) => Err(refused.into()),
        }
    }

    async fn body(&self, url: &Url, mut response: Response) -> Result<Vec<u8>, FetchError> {
        let most = self.limits.body_bytes;
        let (etag, last_modified) =
            (text(response.headers(), &ETAG), text(response.headers(), &LAST_MODIFIED));
        let encoding = text(response.headers(), &CONTENT_ENCODING);
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| reason(&error))? {
            body.extend_from_slice(&part);
            if body.len() > most {
                return Err(FetchError::TooLarge(most));
            }
        }
        let body = match encoding.as_deref() {
            None | Some("identity") => body,
            Some("gzip" | "x-gzip") => decompressed(&body, most)?,
            Some(_) => return Err(FetchError::Compression),
        };
        match etag.is_some() || last_modified.is_some() {
            // If the cache cannot be written, the body is only fetched again the next time.
            true => drop(self.cache.keep(url.as_str(), etag, last_modified, &body)),
            false => self.cache.forget(url.as_str()),
        }
        Ok(body)
    }
}

/// Decompresses a body, and stops as soon as the result is too large.
fn decompressed(body: &[u8], most: usize) -> Result<Vec<u8>, FetchError> {
    let mut plain = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read = MultiGzDecoder::new(body).take(bound).read_to_end(&mut plain);
    read.map_err(|_| FetchError::Compression)?;
    match plain.len() > most {
        true => Err(FetchError::TooLarge(most)),
        false => Ok(plain),
    }
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
    asked.trim().parse().ok().or_else(|| {
        let server_s = text(headers, &DATE).and_then(|value| date(&value));
        let now_s = u64::try_from(now.as_millis() / 1000).unwrap_or(0);
        Some(date(&asked)?.saturating_sub(server_s.unwrap_or(now_s)))
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
