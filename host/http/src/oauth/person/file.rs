//! Files that a capability answers in parts, as one ZIP archive.
//!
//! Each file is collected before it is sent, because its size comes first; the archive as a whole is not. Before each
//! call, the session of the person is looked up again: a download ends with it.

use super::{calls::PersonCalls, things::at, zip::Zip};
use crate::{
    App,
    chunks::body_of,
    downloads::Download,
    oauth::{browser::Cookies, session::find_session},
};
use axum::{
    body::Bytes,
    http::header,
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use portolan_catalog::{Capability, PersonFile, PersonPage};
use portolan_identity::{IdentityError, Session};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Map, Value};
use std::{io, net::IpAddr, sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::timeout};

/// The maximum number of bytes of one file, of calls for one archive, and of characters of a file's name.
const FILE_BYTES: usize = 4 << 20;
const CALLS: usize = 20_000;
const NAME_CHARACTERS: usize = 200;
/// How long a download lasts at most.
const DOWNLOAD_TIME: Duration = Duration::from_secs(60 * 60);
/// How long a download waits at most before it tries a call again that a rate has refused, in seconds.
const WAIT_S: u64 = 60;

type Chunk = io::Result<Bytes>;

/// The action that answers an archive, and the person's request for it.
pub(super) struct Archive {
    pub(super) capability: Arc<Capability>,
    pub(super) page: PersonPage,
    pub(super) file: PersonFile,
    pub(super) input: Map<String, Value>,
    pub(super) request_id: Arc<str>,
    pub(super) address: Option<IpAddr>,
    /// The cookies of the browser, with that of the session.
    pub(super) cookies: Cookies,
}

/// The files of an archive as they arrive.
#[derive(Default)]
struct Files {
    zip: Zip,
    /// The file whose parts arrive now.
    current: Option<(String, String)>,
}

impl Archive {
    /// Answers with the archive, or with the failure of its first part. A later failure breaks the download off.
    pub(super) async fn respond(
        self,
        app: Arc<App>,
        session: &Session,
    ) -> Result<Response, Failure> {
        let download = app.downloads.begin(&session.owner_id)?;
        let calls = self.calls(&app, session).await?;
        let first = calls.call(&self.capability, &self.page.action, self.input.clone()).await?;
        drop(calls);
        let name = format!("{}.zip", self.capability.id);
        let (sender, receiver) = mpsc::channel::<Chunk>(1);
        tokio::spawn(self.run(app, first, sender, download));
        let chunks = stream::unfold(receiver, async |mut receiver| {
            receiver.recv().await.map(|chunk| (chunk, receiver))
        });
        let headers = [
            (header::CONTENT_TYPE, "application/zip".to_owned()),
            (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
            (header::CACHE_CONTROL, "no-store".to_owned()),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        ];
        Ok((headers, body_of(chunks)).into_response())
    }

    async fn calls<'a>(&self, app: &'a App, session: &Session) -> Result<PersonCalls<'a>, Failure> {
        let request_id = Arc::clone(&self.request_id);
        PersonCalls::of(app, session, request_id, self.address).await.map_err(Failure::from)
    }

    /// Sends the archive, whose first parts have arrived, until nobody reads it or its time is over.
    async fn run(
        self,
        app: Arc<App>,
        first: Value,
        sender: mpsc::Sender<Chunk>,
        download: Download,
    ) {
        let sent = tokio::select! {
            sent = timeout(DOWNLOAD_TIME, self.send(&app, first, &sender)) => sent,
            () = sender.closed() => Ok(Ok(())),
        };
        let late = |_elapsed| Err(Failure::new(ErrorCode::CapabilityTimeout));
        let sent: Result<(), Failure> = sent.unwrap_or_else(late);
        drop(download);
        if let Err(failure) = sent {
            let (capability, code) = (&*self.capability.id, &*failure.error_code);
            tracing::warn!(capability, code, "a download for a person is broken off");
            let _sent = sender.send(Err(io::Error::other("the download is broken off"))).await;
        }
    }

    /// Runs the action for further parts while the person is signed in, again after each wait that a rate asks for.
    async fn further(&self, app: &App, input: &Map<String, Value>) -> Result<Value, Failure> {
        loop {
            let session = find_session(app, &self.cookies).await?;
            let session = session.ok_or(IdentityError::SessionEnded)?;
            let calls = self.calls(app, &session).await?;
            let called = calls.call(&self.capability, &self.page.action, input.clone()).await;
            let failure = match called {
                Err(failure) if failure.has_code(ErrorCode::RateLimited) => failure,
                called => return called,
            };
            let next = failure.next.as_ref().and_then(|next| next.get("after_s")?.as_u64());
            let wait = Duration::from_secs(next.unwrap_or(WAIT_S).clamp(1, WAIT_S));
            let clock = &app.host.clock;
            clock.sleep_until(clock.now().plus(wait)).await;
        }
    }

    /// Sends the archive, whose first parts have arrived. Ends early if nobody reads it.
    async fn send(
        &self,
        app: &App,
        first: Value,
        sender: &mpsc::Sender<Chunk>,
    ) -> Result<(), Failure> {
        let (mut files, mut output) = (Files::default(), first);
        for _ in 0..CALLS {
            let parts = at(&output, &self.file.parts).and_then(Value::as_array);
            for part in parts.into_iter().flatten() {
                let member = |path: &str| at(part, path).and_then(Value::as_str).ok_or_else(broken);
                let (name, text) = (member(&self.file.name)?, member(&self.file.text)?);
                let Some(bytes) = files.add(name, text)? else { continue };
                if sender.send(Ok(bytes.into())).await.is_err() {
                    return Ok(());
                }
            }
            let next = at(&output, &self.file.next).filter(|next| !next.is_null());
            let Some(next) = next else {
                let _sent = sender.send(Ok(files.end()?.into())).await;
                return Ok(());
            };
            let mut input = self.input.clone();
            input.insert(self.file.input.clone(), next.clone());
            output = self.further(app, &input).await?;
        }
        Err(broken())
    }
}

impl Files {
    /// Adds a part, and returns the bytes of the file before if this is the first part of another one.
    fn add(&mut self, name: &str, text: &str) -> Result<Option<Vec<u8>>, Failure> {
        if !is_file_name(name) {
            return Err(broken());
        }
        match &mut self.current {
            Some((current, content)) if current == name => {
                if content.len() + text.len() > FILE_BYTES {
                    return Err(broken());
                }
                content.push_str(text);
                Ok(None)
            }
            current => match current.replace((name.to_owned(), text.to_owned())) {
                Some((name, content)) => {
                    self.zip.file(&name, content.as_bytes()).map(Some).ok_or_else(broken)
                }
                None => Ok(None),
            },
        }
    }

    /// Returns the bytes of the last file and of the archive's end.
    fn end(mut self) -> Result<Vec<u8>, Failure> {
        let last = self.current.take();
        let file = last.map(|(name, content)| self.zip.file(&name, content.as_bytes()));
        let mut bytes = file.map_or(Some(Vec::new()), |file| file).ok_or_else(broken)?;
        bytes.extend(self.zip.end().ok_or_else(broken)?);
        Ok(bytes)
    }
}

fn broken() -> Failure {
    Failure::new(ErrorCode::CapabilityAnswerInvalid)
}

/// Returns whether a file of an archive may have this name: it stays below the folder where it is unpacked.
fn is_file_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_allowed)
    };
    name.len() <= NAME_CHARACTERS && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_an_archive_stay_below_its_folder() {
        for good in ["index.md", "capabilities/svc.events/0001.json"] {
            assert!(is_file_name(good), "{good}");
        }
        for bad in ["", "/etc/passwd", "../a", "a/../b", "a//b", "a\\b", "C:a", "a/.b", "a\nb"] {
            assert!(!is_file_name(bad), "{bad}");
        }
    }

    #[test]
    fn the_parts_of_a_file_are_joined() {
        let mut files = Files::default();
        assert!(files.add("a", "one ").unwrap().is_none());
        assert!(files.add("a", "two").unwrap().is_none());
        let first = files.add("b", "three").unwrap().unwrap();
        assert!(first.ends_with(b"one two"));
        assert!(files.end().unwrap().windows(5).any(|bytes| bytes == b"three"));
    }
}
