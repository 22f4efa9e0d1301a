//! The texts of a guest for the operator and its author: log messages and its last words.

use portolan_vocabulary::one_line;

/// The maximum number of log messages of one call.
const MESSAGES: u32 = 64;
/// The maximum number of bytes of a log message.
const MESSAGE_BYTES: usize = 1024;
/// The maximum number of bytes of a guest's last words.
const LAST_WORDS_BYTES: usize = 1024;

/// The number of messages of one guest so far, and its last words.
#[derive(Debug, Default)]
pub(super) struct GuestLog {
    messages: u32,
    left_out: u32,
    last_words: Vec<u8>,
}

impl GuestLog {
    /// Returns the message as one line for the log; `None` if the call has used up its messages.
    pub(super) fn admit(&mut self, message: &str) -> Option<String> {
        if self.messages == MESSAGES {
            self.count_left_out(1);
            return None;
        }
        self.messages += 1;
        Some(one_line(message, MESSAGE_BYTES))
    }

    /// Counts messages that were dropped before they reached this log.
    pub(super) fn count_left_out(&mut self, messages: u32) {
        self.left_out = self.left_out.saturating_add(messages);
    }

    /// Returns the number of messages that were left out because there were too many.
    pub(super) fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Appends to the last words as far as the limit allows. The bytes arrive in 64-bit numbers, padded
    /// with zeros: a guest whose numbers are exact only up to 53 bits, such as one in JavaScript, puts six
    /// bytes into each.
    pub(super) fn append_last_words(&mut self, bytes: impl Iterator<Item = u8>) {
        let remaining = LAST_WORDS_BYTES.saturating_sub(self.last_words.len());
        self.last_words.extend(bytes.filter(|byte| *byte != 0).take(remaining));
    }

    pub(super) fn has_last_words(&self) -> bool {
        !self.last_words.is_empty()
    }

    /// Returns the last words as one line, or `stderr` if there are no last words; `None` if both are
    /// empty.
    pub(super) fn last_words(&self, stderr: impl FnOnce() -> String) -> Option<String> {
        let text = match self.last_words.as_slice() {
            [] => stderr(),
            words => String::from_utf8_lossy(words).into_owned(),
        };
        let text = one_line(text.trim(), LAST_WORDS_BYTES);
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_limited_and_cannot_forge_lines() {
        let mut log = GuestLog::default();
        assert_eq!(log.admit("a\nb").unwrap(), "a\\nb");
        assert_eq!(log.admit(&"x".repeat(5000)).unwrap().len(), MESSAGE_BYTES);
        let admitted = (0..100).filter(|_| log.admit("more").is_some()).count();
        assert_eq!((admitted, log.left_out()), (62, 38));
    }

    #[test]
    fn last_words_come_before_standard_error() {
        let mut log = GuestLog::default();
        assert_eq!(log.last_words(String::new), None);
        assert_eq!(log.last_words(|| " panicked\n".to_owned()).unwrap(), "panicked");
        log.append_last_words(b"out of\0\0 luck\0\0".iter().copied());
        assert_eq!(log.last_words(|| "panicked".to_owned()).unwrap(), "out of luck");
    }
}
