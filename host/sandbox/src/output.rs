//! The output of a guest: lines of standard output and standard error for the log, and the end of
//! standard error for its author.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

/// The maximum number of lines that wait to be logged.
const LINES: usize = 64;
/// The maximum number of bytes of a line.
const LINE_BYTES: usize = 1024;
/// The bytes of standard error that are kept for a trap.
const TAIL_BYTES: usize = 4096;
/// The maximum number of bytes that a guest may write at once.
const WRITE_BYTES: usize = 4096;

/// The stream that a line was printed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Error,
}

/// The output of one guest: the lines that have not been taken yet, and the end of standard error.
#[derive(Debug, Clone, Default)]
pub(super) struct Output(Arc<Mutex<Captured>>);

#[derive(Debug, Default)]
struct Captured {
    /// The unfinished line of each stream.
    out: Vec<u8>,
    error: Vec<u8>,
    lines: Vec<(Stream, String)>,
    /// The number of lines that were dropped because [`LINES`] were waiting.
    left_out: u32,
    tail: Vec<u8>,
}

/// Lines in the order in which they were finished, and the number of lines that were dropped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) lines: Vec<(Stream, String)>,
    pub(super) left_out: u32,
}

impl Output {
    pub(super) fn pipe(&self, stream: Stream) -> Pipe {
        Pipe { output: self.clone(), stream }
    }

    /// Takes the finished lines.
    pub(super) fn take_lines(&self) -> Printed {
        self.captured().take()
    }

    /// Takes all lines, also the unfinished ones, when the guest has ended.
    pub(super) fn take_all(&self) -> Printed {
        let mut captured = self.captured();
        captured.end_line(Stream::Out);
        captured.end_line(Stream::Error);
        captured.take()
    }

    /// Returns the end of standard error, such as the text of a panic.
    pub(super) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.captured().tail).into_owned()
    }

    fn captured(&self) -> MutexGuard<'_, Captured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Captured {
    fn append(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Error {
            self.tail.extend_from_slice(bytes);
            let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
            self.tail.drain(..surplus);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let line = self.unfinished(stream);
            let remaining = LINE_BYTES.saturating_sub(line.len());
            line.extend(text.unwrap_or(part).iter().take(remaining));
            if text.is_some() {
                self.end_line(stream);
            }
        }
    }

    /// Ends the unfinished line of a stream. Empty lines are not logged.
    fn end_line(&mut self, stream: Stream) {
        let line = std::mem::take(self.unfinished(stream));
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return;
        }
        match self.lines.len() < LINES {
            true => self.lines.push((stream, String::from_utf8_lossy(line).into_owned())),
            false => self.left_out = self.left_out.saturating_add(1),
        }
    }

    fn unfinished(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Error => &mut self.error,
        }
    }

    fn take(&mut self) -> Printed {
        Printed {
            lines: std::mem::take(&mut self.lines),
            left_out: std::mem::take(&mut self.left_out),
        }
    }
}

/// One stream as WASI sees it.
#[derive(Debug, Clone)]
pub(super) struct Pipe {
    output: Output,
    stream: Stream,
}

impl IsTerminal for Pipe {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Pipe {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // WASI 0.2 components use `p2_stream`.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Pipe {
    async fn ready(&mut self) {}
}

impl OutputStream for Pipe {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.output.captured().append(self.stream, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(output: &Output, stream: Stream, text: &str) {
        output.pipe(stream).write(text.to_owned().into()).unwrap();
    }

    fn texts(printed: &Printed) -> Vec<(Stream, &str)> {
        printed.lines.iter().map(|(stream, line)| (*stream, line.as_str())).collect()
    }

    #[test]
    fn finished_lines_are_taken_in_order() {
        let output = Output::default();
        print(&output, Stream::Out, "one\r\ntw");
        print(&output, Stream::Error, "oh\n\n");
        print(&output, Stream::Out, "o\nthr");
        let expected = [(Stream::Out, "one"), (Stream::Error, "oh"), (Stream::Out, "two")];
        assert_eq!(texts(&output.take_lines()), expected);
        assert_eq!(output.take_lines(), Printed::default());
        assert_eq!(texts(&output.take_all()), [(Stream::Out, "thr")]);
        assert_eq!(output.stderr(), "oh\n\n");
    }

    #[test]
    fn lines_are_limited_and_dropped_ones_are_counted() {
        let output = Output::default();
        print(&output, Stream::Out, &"x".repeat(5000));
        for _ in 0..99 {
            print(&output, Stream::Out, "y\n");
        }
        let printed = output.take_all();
        assert_eq!((printed.lines.len(), printed.left_out), (LINES, 35));
        assert_eq!(printed.lines[0].1, "x".repeat(LINE_BYTES));
    }

    #[test]
    fn the_end_of_standard_error_is_kept() {
        let output = Output::default();
        print(&output, Stream::Error, &"x".repeat(2 * TAIL_BYTES));
        print(&output, Stream::Error, "the end");
        let tail = output.stderr();
        assert!(tail.len() == TAIL_BYTES && tail.ends_with("xthe end"), "{tail}");
    }
}
