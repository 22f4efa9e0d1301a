//! OAuth's wire format (RFC 6749).

pub(super) mod token;
