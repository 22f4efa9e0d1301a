//! Responses of HTTP/1.1: where they end, and what they carry.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tokio::{io::AsyncReadExt as _, net::TcpStream};

/// The head of a response.
pub(crate) struct Head<'a> {
    text: &'a str,
    /// The bytes of the head, with the empty line after it.
    length: usize,
}

impl<'a> Head<'a> {
    /// Returns the head of a response, once it has arrived.
    pub(crate) fn of(response: &'a [u8]) -> Result<Option<Self>> {
        let Some(end) = response.windows(4).position(|part| part == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = std::str::from_utf8(response.get(..end).unwrap_or_default())?;
        Ok(Some(Self { text, length: end + 4 }))
    }

    pub(crate) fn status(&self) -> Result<u16> {
        Ok(self.text.split(' ').nth(1).context("no status")?.parse()?)
    }

    /// Returns the value of a header.
    pub(crate) fn field(&self, name: &str) -> Option<&'a str> {
        self.text.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Returns the length of the response, as soon as it is known: that of a body in chunks is known
    /// when the last chunk has arrived.
    pub(crate) fn response_length(&self, response: &[u8]) -> Result<Option<usize>> {
        let body = match (self.status()?, self.field("content-length")) {
            (304, _) => 0,
            (_, Some(length)) => length.parse()?,
            (_, None) if self.is_chunked() => {
                let length = pass_chunks(response.get(self.length..).unwrap_or_default(), |_| {})?;
                return Ok(length.map(|length| self.length + length));
            }
            (_, None) => bail!("no content-length"),
        };
        Ok(Some(self.length + body))
    }

    /// Returns the JSON of a whole response, `null` if it has no body. In an event stream, it is the data
    /// of the last event.
    pub(crate) fn json(&self, response: &[u8]) -> Result<Value> {
        let body = response.get(self.length..).unwrap_or_default();
        let mut joined = Vec::new();
        let body = match self.is_chunked() {
            true => {
                pass_chunks(body, |chunk| joined.extend_from_slice(chunk))?;
                &joined
            }
            false => body,
        };
        let is_stream =
            self.field("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        match std::str::from_utf8(body)? {
            "" => Ok(Value::Null),
            events if is_stream => {
                let data = events.lines().filter_map(|line| line.strip_prefix("data:"));
                let last = data.map(str::trim).rfind(|data| !data.is_empty());
                Ok(serde_json::from_str(last.context("no event has data")?)?)
            }
            text => Ok(serde_json::from_str(text)?),
        }
    }

    fn is_chunked(&self) -> bool {
        self.field("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
    }
}

/// Passes each chunk of a body on. Returns the length of the body if its last chunk is there.
fn pass_chunks(body: &[u8], mut pass: impl FnMut(&[u8])) -> Result<Option<usize>> {
    let mut rest = body;
    loop {
        let Some(line) = rest.windows(2).position(|part| part == b"\r\n") else {
            return Ok(None);
        };
        let size = std::str::from_utf8(rest.get(..line).unwrap_or_default())?;
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)?;
        let begin = line + 2;
        let end = begin.saturating_add(size);
        let (Some(chunk), Some(after)) =
            (rest.get(begin..end), rest.get(end..end.saturating_add(2)))
        else {
            return Ok(None);
        };
        ensure!(after == b"\r\n", "a chunk does not end where it should");
        pass(chunk);
        rest = rest.get(end + 2..).unwrap_or_default();
        if size == 0 {
            return Ok(Some(body.len() - rest.len()));
        }
    }
}

/// Reads a whole response.
pub(crate) async fn read(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut response = Vec::new();
    loop {
        let read = stream.read_buf(&mut response).await?;
        ensure!(read > 0, "the connection was closed");
        let length = match Head::of(&response)? {
            Some(head) => head.response_length(&response)?,
            None => None,
        };
        if length.is_some_and(|length| response.len() >= length) {
            return Ok(response);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLAIN: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}";
    const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
        transfer-encoding: chunked\r\n\r\n8\r\ndata: \n\n\r\n9;of=two\r\ndata: {\"a\r\n5\r\n\":1}\n\r\n0\r\n\r\n";

    fn length(response: &[u8]) -> Option<usize> {
        Head::of(response).unwrap().and_then(|head| head.response_length(response).unwrap())
    }

    #[test]
    fn a_length_is_known_with_the_head() {
        let head = PLAIN.len() - 7;
        assert_eq!(length(&PLAIN[..head - 1]), None);
        assert_eq!(length(&PLAIN[..head]), Some(PLAIN.len()));
        let known = b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n";
        assert_eq!(length(known), Some(known.len()));
    }

    #[test]
    fn a_body_in_chunks_ends_with_its_last_chunk() {
        for end in 0..EVENTS.len() {
            assert_eq!(length(&EVENTS[..end]), None, "{end}");
        }
        assert_eq!(length(EVENTS), Some(EVENTS.len()));
        let next = [EVENTS, PLAIN].concat();
        assert_eq!(length(&next), Some(EVENTS.len()));
    }

    #[test]
    fn a_chunk_that_is_longer_than_it_says_is_an_error() {
        let wrong = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n";
        assert!(Head::of(wrong).unwrap().unwrap().response_length(wrong).is_err());
        let endless = b"HTTP/1.1 200 OK\r\n\r\nabc";
        assert!(Head::of(endless).unwrap().unwrap().response_length(endless).is_err());
    }

    #[test]
    fn json_is_read_from_a_body_and_from_the_last_event() {
        for response in [PLAIN, EVENTS] {
            let head = Head::of(response).unwrap().unwrap();
            assert_eq!(head.json(response).unwrap(), json!({ "a": 1 }));
        }
        let empty = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(Head::of(empty).unwrap().unwrap().json(empty).unwrap(), Value::Null);
    }
}
