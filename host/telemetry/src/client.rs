//! The HTTP client of the exporter.

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::{pin::Pin, time::Duration};

/// The time-out of one request, if no variable of the exporter is shorter.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Client(reqwest::Client);

type Sending<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl Client {
    pub(crate) fn new() -> Result<Self, reqwest::Error> {
        // An error means that a crypto provider is installed already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self(client))
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut answer = self.0.execute(reqwest::Request::try_from(request)?).await?;
        let (status, headers) = (answer.status(), std::mem::take(answer.headers_mut()));
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err("the collector's answer is too large".into());
            }
            body.extend_from_slice(&chunk);
        }
        let mut response = Response::new(Bytes::from(body));
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Ok(response)
    }
}

impl HttpClient for Client {
    fn send_bytes<'a, 'sending>(&'a self, request: Request<Bytes>) -> Sending<'sending>
    where
        'a: 'sending,
        Self: 'sending,
    {
        Box::pin(self.send(request))
    }
}
