//! A bucket of a store that is compatible with S3, for contents that several nodes share.

use crate::settings::BucketSettings;
use futures_util::TryStreamExt as _;
use http_body_util::BodyExt as _;
use object_store::{
    ClientOptions, Error, ObjectStore as _, ObjectStoreExt as _, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
        HttpResponseBody, HttpService,
    },
    path::Path,
};
use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

/// The time for one request, and for all attempts of one.
const REQUEST_TIME: Duration = Duration::from_secs(20);
const ATTEMPTS_TIME: Duration = Duration::from_secs(30);
/// The longest time for which the start waits for the bucket.
const OPENING_TIME: Duration = Duration::from_secs(5);

/// The object that says which database the contents belong to.
const OWNER: &str = "owner";
/// The answers that may be others at the next attempt, among those that blame the request.
const PASSING: [u16; 2] = [408, 429];

/// The bucket with the contents.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    store: AmazonS3,
    /// The prefix of the keys of all objects: empty, or a text that ends with a slash.
    prefix: String,
}

impl Bucket {
    /// Opens the bucket, and reads a list of it, so that a wrong name or key is told at the start. A bucket that does not
    /// answer may do so later.
    pub(crate) async fn open(settings: &BucketSettings) -> io::Result<Self> {
        let secret = std::fs::read_to_string(&settings.secret_file).map_err(|error| {
            let file = settings.secret_file.display();
            io::Error::new(error.kind(), format!("media.s3.secret_file {file}: {error}"))
        })?;
        let status = Arc::new(AtomicU16::new(0));
        let retry = RetryConfig { retry_timeout: ATTEMPTS_TIME, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&settings.bucket)
            .with_region(&settings.region)
            .with_access_key_id(&settings.access_key)
            .with_secret_access_key(secret.trim())
            .with_allow_http(true)
            .with_retry(retry)
            .with_http_connector(Connector(Arc::clone(&status)));
        if let Some(endpoint) = &settings.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        let prefix = settings.prefix.as_deref().map(|prefix| prefix.trim_matches('/'));
        let prefix = prefix.filter(|prefix| !prefix.is_empty());
        let prefix = prefix.map(|prefix| format!("{prefix}/")).unwrap_or_default();
        let bucket = Self { store: builder.build().map_err(failed)?, prefix };
        let listed = tokio::time::timeout(OPENING_TIME, bucket.names("00")).await;
        if let Err(error) = listed.unwrap_or_else(|late| Err(io::Error::other(late))) {
            let status = status.load(Ordering::Relaxed);
            if (300..500).contains(&status) && !PASSING.contains(&status) {
                return Err(error);
            }
            let bucket = &settings.bucket;
            tracing::error!(bucket, %error, "the bucket of files does not answer");
        }
        Ok(bucket)
    }

    pub(crate) async fn store(&self, name: &str, content: Vec<u8>) -> io::Result<()> {
        self.store.put(&self.path(name)?, content.into()).await.map(drop).map_err(failed)
    }

    /// Reads `length` bytes from `offset` on, which the object must have.
    pub(crate) async fn read(&self, name: &str, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        if length == 0 {
            return Ok(Vec::new());
        }
        let range = offset..offset.saturating_add(length);
        let read = self.store.get_range(&self.path(name)?, range).await.map_err(failed)?;
        Ok(read.to_vec())
    }

    /// Returns whether there is an object of this name.
    pub(crate) async fn has(&self, name: &str) -> io::Result<bool> {
        match self.store.head(&self.path(name)?).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    /// Removes an object. It is no error if there is none.
    pub(crate) async fn remove(&self, name: &str) -> io::Result<()> {
        match self.store.delete(&self.path(name)?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns the names of the objects whose digests begin with these two digits.
    pub(crate) async fn names(&self, part: &str) -> io::Result<Vec<String>> {
        let listed = self.store.list(Some(&Path::from(format!("{}{part}", self.prefix))));
        let name =
            async |meta: object_store::ObjectMeta| Ok(meta.location.filename().map(str::to_owned));
        listed.try_filter_map(name).try_collect().await.map_err(failed)
    }

    /// Returns the text about the database that the contents belong to.
    pub(crate) async fn owner(&self) -> io::Result<Option<Vec<u8>>> {
        let read = match self.store.get(&self.owner_path()).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            read => read.map_err(failed)?,
        };
        Ok(Some(read.bytes().await.map_err(failed)?.to_vec()))
    }

    /// Replaces the text about the database that the contents belong to.
    pub(crate) async fn set_owner(&self, text: Vec<u8>) -> io::Result<()> {
        self.store.put(&self.owner_path(), text.into()).await.map(drop).map_err(failed)
    }

    fn owner_path(&self) -> Path {
        Path::from(format!("{}{OWNER}", self.prefix))
    }

    /// Returns the key of an object: a folder by the first two digits of the digest, and its name.
    fn path(&self, name: &str) -> io::Result<Path> {
        match name.get(..2) {
            Some(part) => Ok(Path::from(format!("{}{part}/{name}", self.prefix))),
            None => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no name of a content"))
            }
        }
    }
}

/// Makes the client of requests to the store, which keeps the status of the last answer here; 0 without one.
#[derive(Debug)]
struct Connector(Arc<AtomicU16>);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = reqwest::Client::builder().timeout(REQUEST_TIME).build();
        let client =
            client.map_err(|error| Error::Generic { store: "S3", source: error.into() })?;
        Ok(HttpClient::new(Requests(client, Arc::clone(&self.0))))
    }
}

/// The project's own HTTP client as the one of the store. Contents are small, so a body is one piece.
#[derive(Debug)]
struct Requests(reqwest::Client, Arc<AtomicU16>);

type Answer = Result<HttpResponse, HttpError>;

impl HttpService for Requests {
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            self.1.store(0, Ordering::Relaxed);
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let sent = self
                .0
                .request(parts.method, parts.uri.to_string())
                .headers(parts.headers)
                .body(body)
                .send()
                .await
                .map_err(http_error)?;
            let (status, headers) = (sent.status(), sent.headers().clone());
            self.1.store(status.as_u16(), Ordering::Relaxed);
            let bytes = sent.bytes().await.map_err(http_error)?;
            let mut response = HttpResponse::new(HttpResponseBody::from(bytes));
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            Ok(response)
        })
    }
}

fn http_error(error: reqwest::Error) -> HttpError {
    let kind = match () {
        () if error.is_timeout() => HttpErrorKind::Timeout,
        () if error.is_connect() => HttpErrorKind::Connect,
        () if error.is_decode() => HttpErrorKind::Decode,
        () => HttpErrorKind::Interrupted,
    };
    HttpError::new(kind, error.without_url())
}

fn failed(error: Error) -> io::Error {
    match error {
        Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, error),
        error => io::Error::other(error),
    }
}
