//! A server with scripted answers, and a build in a temporary folder.

use portolan_feeds::{
    BuildError, Knowledge, Limits, Options, Report, Roads, Sources, Timestamp, build,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

pub(crate) const NOW: &str = "2026-11-21T18:30:00Z";

/// What the server answers to a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Writes these bytes, then closes the connection.
    Bytes(Vec<u8>),
    /// Writes nothing and leaves the connection open.
    Silence,
    /// Writes a head, and then one byte every 20 ms without end.
    Drip,
    /// Writes a head, and then bytes without end, as fast as the client reads them.
    Flood,
}

/// A server with scripted answers for each path, which records the requests.
#[derive(Clone)]
pub(crate) struct Theatre {
    address: SocketAddr,
    answers: Arc<Mutex<BTreeMap<String, Vec<Answer>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

pub(crate) fn ok(headers: &str, body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    Answer::Bytes([head.as_bytes(), body].concat())
}

pub(crate) fn status(line: &str, headers: &str) -> Answer {
    Answer::Bytes(
        format!("HTTP/1.1 {line}\r\nconnection: close\r\ncontent-length: 0\r\n{headers}\r\n")
            .into_bytes(),
    )
}

impl Theatre {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let theatre = Self {
            address: listener.local_addr().unwrap(),
            answers: Arc::default(),
            asked: Arc::default(),
        };
        let serving = theatre.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        theatre
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes the server give these answers for a path, one after the other; it
    /// repeats the last one.
    pub(crate) fn plays(&self, path: &str, answers: impl Into<Vec<Answer>>) {
        self.answers.lock().unwrap().insert(path.to_owned(), answers.into());
    }

    /// Returns the heads of all requests, except for `robots.txt`.
    pub(crate) fn asked(&self) -> Vec<String> {
        let is_robots = |head: &&String| head.starts_with("GET /robots.txt ");
        self.asked.lock().unwrap().iter().filter(|head| !is_robots(head)).cloned().collect()
    }

    /// Returns how often `robots.txt` was asked for.
    pub(crate) fn asked_robots(&self) -> usize {
        let all = self.asked.lock().unwrap().len();
        all - self.asked().len()
    }

    async fn serve(self, mut stream: TcpStream) {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte).await {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push(head);
        let answer = match self.answers.lock().unwrap().get_mut(&path) {
            Some(answers) if answers.len() > 1 => answers.remove(0),
            Some(answers) => answers[0].clone(),
            None => status("404 Not Found", ""),
        };
        match answer {
            Answer::Bytes(bytes) => {
                let _gone = stream.write_all(&bytes).await;
            }
            Answer::Silence => std::future::pending().await,
            Answer::Drip => {
                let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await;
                while stream.write_all(b" ").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            Answer::Flood => {
                let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await;
                while stream.write_all(&[b' '; 65_536]).await.is_ok() {}
            }
        }
    }
}

/// Returns limits that keep the tests small and quick.
pub(crate) fn limits() -> Limits {
    Limits {
        body_bytes: 200_000,
        board_bytes: 200_000,
        request: Duration::from_millis(700),
        attempts: 2,
        pause: Duration::ZERO,
        first_wait: Duration::from_millis(5),
        longest_wait: Duration::from_secs(2),
        ..Limits::default()
    }
}

pub(crate) fn options(folder: &Path) -> Options {
    Options {
        folder: folder.to_owned(),
        roads: Roads {
            capabilities: "https://api.example".to_owned(),
            ..Roads::of_host("https://map.example", None)
        },
        opened: vec!["127.0.0.0/8".parse().unwrap()],
        allow_local: false,
        limits: limits(),
        knowledge: Some(Knowledge::default()),
        confirmed: BTreeSet::new(),
        now: NOW.parse().unwrap(),
    }
}

pub(crate) fn at(days: i64) -> Timestamp {
    let now: Timestamp = NOW.parse().unwrap();
    Timestamp::from_millis(now.as_millis() + days * 86_400_000)
}

/// A city with a registry of a company and a fund, the company's board, and a paper, each on a
/// server of its own.
pub(crate) struct City {
    pub(crate) registry: Theatre,
    pub(crate) board: Theatre,
    pub(crate) paper: Theatre,
    pub(crate) folder: TempDir,
    pub(crate) options: Options,
}

pub(crate) const REGISTRY: &str = r#"{"organisations":[
  {"slug":"copperleaf","name":"Copperleaf Robotics","kind":"startup","lat":37.77,"lng":-122.42,"website":"https://copperleaf.example/","url":"https://register.example/copperleaf"},
  {"slug":"harbour","name":"Harbour Light Ventures","kind":"fund","lat":37.78,"lng":-122.41,"website":"https://harbourlight.example/","url":"https://register.example/harbour"}]}"#;

pub(crate) const BOARD: &str = r#"{"name":"Copperleaf Robotics","jobs":[{"title":"Backend Engineer","shortcode":"A1","url":"https://jobs.copperleaf.example/A1","published_on":"2026-11-01","description":"<p>Build.</p>"}]}"#;

impl City {
    pub(crate) async fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let city = Self {
            registry: Theatre::open().await,
            board: Theatre::open().await,
            paper: Theatre::open().await,
            options: options(folder.path()),
            folder,
        };
        city.registry.plays("/registry.json", [ok("", REGISTRY)]);
        city.board.plays(BOARD_PATH, [ok("", BOARD)]);
        city.paper.plays("/news", [ok("", news(&[]))]);
        city
    }

    pub(crate) fn sources(&self) -> Sources {
        let text = format!(
            r#"
            license = "CC0-1.0"
            opt_out_url = "https://map.example/opt-out"
            [city]
            id = "sf"
            name = "San Francisco"
            country = "US"
            time_zone = "America/Los_Angeles"
            center = [-122.41942, 37.77493]
            bbox = [-122.52, 37.7, -122.35, 37.84]
            [[registry]]
            id = "registry"
            publisher = "Register"
            url = "{}/registry.json"
            [[board]]
            target = "copperleaf"
            ats = "workable"
            token = "copperleaf"
            base = "{}"
            [[syndication]]
            id = "paper"
            type = "press"
            publisher = "Paper"
            url = "{}/news"
            "#,
            self.registry.origin(),
            self.board.origin(),
            self.paper.origin()
        );
        Sources::parse(&text, None).unwrap()
    }

    pub(crate) async fn build(&self) -> Result<Report, BuildError> {
        build(&self.sources(), &self.options, &|_| {}).await
    }

    pub(crate) fn document(&self, file: &str) -> Value {
        document(self.folder.path(), file)
    }

    /// Returns the knowledge that the next build is given.
    pub(crate) fn knowledge(&mut self) -> &mut Knowledge {
        self.options.knowledge.get_or_insert_default()
    }

    /// Returns the titles of the open roles, each with its maturity.
    pub(crate) fn roles(&self) -> Vec<(String, String)> {
        let text = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
        let document = self.document("sf-job-roles.json");
        let roles = document["items"].as_array().unwrap().iter();
        roles.map(|role| (text(role, "title"), text(role, "maturity"))).collect()
    }

    /// Returns the maturities of all signals.
    pub(crate) fn signals(&self) -> Vec<String> {
        let document = self.document("live-signal-feed.json");
        let signals = document["items"].as_array().unwrap().iter();
        signals.map(|signal| signal["maturity"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) const BOARD_PATH: &str = "/api/v1/widget/accounts/copperleaf?details=true";

/// Returns a JSON Feed of items with a title, an address (empty for none) and a date.
pub(crate) fn news(items: &[(&str, &str, &str)]) -> String {
    let items = items.iter().map(|(title, url, date)| {
        let mut item = serde_json::json!({ "id": title, "title": title, "content_text": title, "date_published": date });
        if !url.is_empty() {
            item["url"] = (*url).into();
        }
        item
    });
    serde_json::json!({
        "version": "https://jsonfeed.org/version/1.1", "title": "Paper", "home_page_url": "https://paper.example/",
        "items": items.collect::<Vec<_>>(),
    })
    .to_string()
}

pub(crate) fn document(folder: &Path, file: &str) -> Value {
    let bytes = std::fs::read(folder.join("current").join(file)).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}
