//! The estimated cost of a request of each kind, as far as its path and its size tell. The computing of calls is
//! charged as it is measured.

use axum::{body::HttpBody as _, extract::Request};
use portolan_pipeline::Work;

/// The cost of a request that is charged only if no claimed agent makes it: what a claimed agent does counts for its
/// person, because many people may share an address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deferred(pub(super) Work);

/// The beginnings of the paths whose requests are authenticated by a bearer token, as `caller::authenticate` does.
const AUTHENTICATED: [&str; 2] = ["/mcp", "/v1/agent-events/"];

/// The cost of requests whose paths begin and end so.
struct Kind {
    begins: &'static str,
    ends: &'static str,
    /// The time of processors of a small request, in microseconds.
    micros: u64,
    /// The bytes by which the database grows. Registrations have none here: most requests of a flood are refused and
    /// store nothing, and `registrations_per_hour` bounds the others.
    bytes: u64,
}

const fn kind(begins: &'static str, ends: &'static str, micros: u64, bytes: u64) -> Kind {
    Kind { begins, ends, micros, bytes }
}

/// How the paths of calls begin and end.
const CALLS: (&str, &str) = ("/v1/capabilities/", "/call");
/// The time of processors for each KiB of a request, in microseconds: the reading, and the parsing of JSON, forms and
/// assertions.
const MICROS_PER_KIB: u64 = 20;
/// The same for a query, whose parameters are parsed one by one, and their lists.
const QUERY_MICROS_PER_KIB: u64 = 100;

/// The kinds of requests; the first that fits counts. The figures are the highest of `docs/security/abuse.md` for a
/// request of the kind, rounded up. The last one, which every path has, is for documents that are made for each
/// request.
const KINDS: [Kind; 30] = [
    kind(CALLS.0, CALLS.1, 250, 0),
    kind("/mcp", "", 1_000, 0),
    kind("/v1/agent-events/", "", 400, 0),
    kind("/v1/agents/register", "", 1_000, 0),
    kind("/oauth/register", "", 1_000, 0),
    kind("/oauth/token", "", 700, 550),
    kind("/oauth/revoke", "", 400, 600),
    kind("/oauth/introspect", "", 900, 300),
    kind("/oauth/device_authorization", "", 500, 900),
    kind("/oauth/authorize/continue", "", 800, 1_400),
    kind("/oauth/", "", 200, 0),
    // Pages that make a call.
    kind("/m/", "", 600, 400),
    kind("/approve", "", 600, 400),
    kind("/account", "", 600, 400),
    kind("/passkey", "", 600, 400),
    kind("/email/", "", 600, 400),
    kind("/claim/", "", 600, 400),
    kind("/device", "", 600, 400),
    kind("/handoff/", "", 600, 400),
    kind("/map/handoffs/", "", 600, 400),
    kind("/published/", "", 600, 400),
    // Texts that are in memory, and requests that are answered without a call.
    kind("/v1/sms/reports/", "", 200, 0),
    kind("/media/", "", 200, 0),
    kind("/.well-known/", "", 200, 0),
    kind("/v1/install/", "", 200, 0),
    kind("/healthz", "", 200, 0),
    kind("/llms.txt", "", 200, 0),
    kind("/auth.md", "", 200, 0),
    kind("/robots.txt", "", 200, 0),
    kind("", "", 1_000, 0),
];

/// Returns the estimated cost of a request. A body whose length is not announced counts as one of `largest_body`
/// bytes, and a longer one too, because no more of it is read.
pub(super) fn estimate(request: &Request, largest_body: u64) -> Work {
    let path = request.uri().path();
    let fits = |kind: &&Kind| path.starts_with(kind.begins) && path.ends_with(kind.ends);
    let (micros, bytes) = KINDS.iter().find(fits).map_or((0, 0), |kind| (kind.micros, kind.bytes));
    let query = request.uri().query().map_or(0, str::len);
    let fields: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let head = u64::try_from(path.len() + fields).unwrap_or(u64::MAX);
    let body =
        request.body().size_hint().exact().map_or(largest_body, |size| size.min(largest_body));
    let query = u64::try_from(query).unwrap_or(u64::MAX).saturating_mul(QUERY_MICROS_PER_KIB);
    let size = head.saturating_add(body).saturating_mul(MICROS_PER_KIB).saturating_add(query);
    Work { of_agents: is_of_agents(path), micros: (size / 1024).saturating_add(micros), bytes }
}

/// Returns whether agents make the requests to this path, with a bearer token.
fn is_of_agents(path: &str) -> bool {
    let is_call = path.starts_with(CALLS.0) && path.ends_with(CALLS.1);
    is_call || AUTHENTICATED.iter().any(|begins| path.starts_with(begins))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn micros_and_bytes(path: &str, body: Body) -> (u64, u64) {
        let request = Request::builder().uri(path).body(body).unwrap();
        let Work { micros, bytes, .. } = estimate(&request, 1 << 18);
        (micros, bytes)
    }

    #[test]
    fn requests_of_agents_are_told_from_others() {
        for path in ["/mcp", "/mcp/all", "/v1/capabilities/greeter/call", "/v1/agent-events/ack"] {
            assert!(is_of_agents(path), "{path}");
        }
        for path in ["/healthz", "/v1/capabilities/greeter/schema", "/oauth/token"] {
            assert!(!is_of_agents(path), "{path}");
        }
    }

    #[test]
    fn a_request_costs_what_its_kind_and_its_size_do() {
        for (path, cost) in [
            ("/v1/capabilities/greeter/call", (250, 0)),
            ("/v1/capabilities/greeter/schema", (1_000, 0)),
            ("/mcp/all", (1_000, 0)),
            ("/oauth/authorize/continue", (800, 1_400)),
            ("/oauth/authorize", (200, 0)),
            ("/healthz", (200, 0)),
            ("/no/such/path", (1_000, 0)),
        ] {
            assert_eq!(micros_and_bytes(path, Body::empty()), cost, "{path}");
        }
        let large = Body::from("x".repeat(100 << 10));
        assert_eq!(micros_and_bytes("/oauth/token", large), (2_700, 550));
        let longest = (700 + 5_120, 550);
        assert_eq!(micros_and_bytes("/oauth/token", Body::from("x".repeat(1 << 20))), longest);
        let types = format!("/v1/agent-events/stream?types={}", "x".repeat(10 << 10));
        assert_eq!(micros_and_bytes(&types, Body::empty()), (1_401, 0));
        let endless = futures_util::stream::iter([Ok::<_, std::io::Error>("x")]);
        assert_eq!(micros_and_bytes("/oauth/token", Body::from_stream(endless)), longest);
    }
}
