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
    /// The redirects of `robots.txt`, which may lead to other hosts.
    pub robots_redirects: usize,
    /// The time for all answers of one source. It does not count while other sources ask the same host.
    pub source: Duration,
    /// The time for reading all sources; those that are not read by then have failed.
    pub reading: Duration,
    /// How many bytes all answers of one source may have.
    pub source_bytes: usize,
    /// How many pages of one board are read.
    pub pages: usize,
    /// How many pages of one directory are read.
    pub directory_pages: usize,
    /// Of how many postings that are new or have changed the details are read in one build, for each board. Of as
    /// many again, at most, they are read once more.
    pub details: usize,
    /// The details of a posting are read once more within this number of builds.
    pub details_again: usize,
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
            robots_redirects: 5,
            source: Duration::from_mins(10),
            reading: Duration::from_mins(45),
            source_bytes: 128 * 1024 * 1024,
            pages: 50,
            directory_pages: 500,
            details: 100,
            details_again: 24,
            filings: 20,
            host_failures: 6,
        }
    }
}
