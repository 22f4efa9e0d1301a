//! OAuth's error response, and the scopes.

use std::borrow::Cow;

/// The scope with which clients ask for refresh tokens at other servers. It is accepted and ignored, because
/// this host issues a refresh token for every authorization code.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// An error response: RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{code}: {description}")]
pub struct OAuthError {
    pub code: &'static str,
    pub description: Cow<'static, str>,
}

impl OAuthError {
    /// Makes an error response. Characters that RFC 6749 does not allow are left out of the text.
    pub fn new(code: &'static str, description: impl Into<Cow<'static, str>>) -> Self {
        let description = description.into();
        // RFC 6749, section 5.2: printable ASCII without quotes and backslashes.
        let allowed = |letter: char| matches!(letter, ' '..='!' | '#'..='[' | ']'..='~');
        let description = match description.chars().all(allowed) {
            true => description,
            false => {
                description.chars().filter(|letter| allowed(*letter)).collect::<String>().into()
            }
        };
        Self { code, description }
    }
}

/// Returns the requested scopes, each of which must be allowed. If none is requested, returns all allowed
/// scopes.
pub fn granted_scopes(requested: Option<&str>, allowed: &str) -> Result<String, OAuthError> {
    let allowed: Vec<_> = allowed.split(' ').collect();
    let mut scopes: Vec<&str> = Vec::new();
    for scope in requested.unwrap_or_default().split(' ').filter(|scope| !scope.is_empty()) {
        match scope {
            OFFLINE_ACCESS => {}
            _ if scopes.contains(&scope) => {}
            _ if allowed.contains(&scope) => scopes.push(scope),
            _ => {
                let text = format!("the scopes that can be requested are {}", allowed.join(", "));
                return Err(OAuthError::new("invalid_scope", text));
            }
        }
    }
    Ok(if scopes.is_empty() { allowed.join(" ") } else { scopes.join(" ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_narrowed_and_never_widened() {
        let narrowed =
            |requested| granted_scopes(requested, "svc.read svc.write").map_err(|error| error.code);
        assert_eq!(narrowed(None).unwrap(), "svc.read svc.write");
        assert_eq!(narrowed(Some(" ")).unwrap(), "svc.read svc.write");
        assert_eq!(narrowed(Some("svc.write svc.write")).unwrap(), "svc.write");
        assert_eq!(narrowed(Some("svc.read offline_access")).unwrap(), "svc.read");
        assert_eq!(narrowed(Some("svc.events")), Err("invalid_scope"));
        assert_eq!(narrowed(Some("svc.read\tsvc.write")), Err("invalid_scope"));
    }
}
