//! What requests and answers may cost.

use std::time::Duration;

/// The limits of requests and answers.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The size of an answer, both before and after decompression.
    pub body_bytes: usize,
    /// The same of a board, which can have all roles of a large company.
    pub board_bytes: usize,
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
    /// How many pages of one board are read.
    pub pages: usize,
    /// How many pages of one directory are read.
    pub directory_pages: usize,
    /// Of how many new filings of one source the data is read in one build.
    pub filings: usize,
    /// After this many failed requests in a row, a host is not asked again in this build.
    pub host_failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 * 1024 * 1024,
            board_bytes: 64 * 1024 * 1024,
            request: Duration::from_secs(30),
            attempts: 3,
            pause: Duration::from_secs(1),
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(60),
            redirects: 3,
            pages: 50,
            directory_pages: 500,
            filings: 20,
            host_failures: 6,
        }
    }
}
