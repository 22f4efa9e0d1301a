//! Text messages: to a file while developing, to a provider in production.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use portolan_vocabulary::Timestamp;
use serde_json::json;
use sha1::Sha1;
use std::{
    fmt,
    fs::OpenOptions,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

pub use crate::sms_settings::{NEVER_PREFIXES, TextMessageSettings};

/// The time-out of a request to a provider.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The operator's setting for text messages.
#[derive(Clone, PartialEq, Eq)]
pub enum SmsTransport {
    /// `outbox:PATH`: each message is appended to a file as a line of JSON, `{"to","text","at"}`.
    Outbox(PathBuf),
    /// `https://ACCOUNT:TOKEN@HOST/PATH?From=NUMBER`: each message is posted as a form with `From`, `To`
    /// and `Body`, with the account as HTTP Basic credentials. This is the interface of Twilio.
    Provider { url: String, account: String, token: String, from: String },
}

impl FromStr for SmsTransport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FIX: &str =
            "write outbox:PATH, or https://ACCOUNT:TOKEN@HOST/PATH?From=NUMBER for a provider";
        if let Some(path) = text.strip_prefix("outbox:").filter(|path| !path.is_empty()) {
            return Ok(Self::Outbox(PathBuf::from(path)));
        }
        let mut url = reqwest::Url::parse(text).map_err(|_| FIX.to_owned())?;
        let from = url.query_pairs().find(|(name, _)| name == "From");
        let from = from.map(|(_, number)| number.trim().to_owned());
        let account = percent_decoded(url.username());
        let token = url.password().map(percent_decoded);
        let (Some(from), Some(token)) = (from, token) else { return Err(FIX.to_owned()) };
        if !["http", "https"].contains(&url.scheme()) || account.is_empty() {
            return Err(FIX.to_owned());
        }
        url.set_query(None);
        // The user name and the password of a URL with a host can always be removed.
        let _removed = (url.set_username(""), url.set_password(None));
        // An unescaped plus in a query is read as a space, and is trimmed above.
        let from = if from.starts_with('+') { from } else { format!("+{from}") };
        Ok(Self::Provider { url: url.to_string(), account, token, from })
    }
}

/// Decodes the percent-encoding of a part of a URL.
fn percent_decoded(part: &str) -> String {
    let pair = format!("x={}", part.replace('+', "%2B"));
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(&pair).unwrap_or_default();
    pairs.into_iter().next().map(|(_, value)| value).unwrap_or_default()
}

impl fmt::Debug for SmsTransport {
    /// Leaves out the account's token.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outbox(path) => write!(formatter, "outbox:{}", path.display()),
            Self::Provider { url, .. } => write!(formatter, "{url}"),
        }
    }
}

/// The reason why a message was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SmsError {
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("the provider does not answer")]
    Unreachable,
    #[error("the provider answers {0}")]
    Refused(u16),
    #[error("the secret key with which the waiting message was sealed is missing")]
    KeyMissing,
}

impl SmsError {
    /// Returns whether a later attempt to send the same message may succeed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::File { .. } | Self::Unreachable => true,
            Self::Refused(status) => *status == 429 || *status >= 500,
            Self::KeyMissing => false,
        }
    }
}

/// The service that sends text messages.
#[derive(Debug)]
pub struct Sms {
    transport: SmsTransport,
    client: reqwest::Client,
    /// The address of this host for the provider, without a trailing slash.
    public_url: String,
}

impl Sms {
    /// Creates the service, with an HTTP client for the provider.
    pub fn new(transport: SmsTransport, public_url: &str) -> Result<Self, reqwest::Error> {
        // An error means that a crypto provider is installed already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { transport, client, public_url: public_url.to_owned() })
    }

    /// Sends a message. `to` is in E.164. The provider reports about the delivery at an address
    /// with this `id`.
    pub async fn send(
        &self,
        id: &str,
        to: &str,
        text: &str,
        now: Timestamp,
    ) -> Result<(), SmsError> {
        match &self.transport {
            SmsTransport::Outbox(path) => {
                let line = json!({ "to": to, "text": text, "at": now });
                append(path, &format!("{line}\n"))
                    .map_err(|error| SmsError::File { path: path.clone(), error })
            }
            SmsTransport::Provider { url, account, token, from } => {
                let report_to = self.report_url(id);
                let form = [
                    ("From", from.as_str()),
                    ("To", to),
                    ("Body", text),
                    ("StatusCallback", &report_to),
                ];
                let request = self.client.post(url).basic_auth(account, Some(token)).form(&form);
                // The text of the error has the URL in it, so it must not be logged.
                let response = request.send().await.map_err(|_| SmsError::Unreachable)?;
                let status = response.status();
                if status.is_success() { Ok(()) } else { Err(SmsError::Refused(status.as_u16())) }
            }
        }
    }

    /// Returns the address to which the provider reports about a message.
    fn report_url(&self, id: &str) -> String {
        format!("{}/v1/sms/reports/{id}", self.public_url)
    }

    /// Returns whether a report about a message comes from the provider. As with Twilio, the signature is an
    /// HMAC-SHA-1 with the account's token over the address and the sorted parameters.
    pub fn is_genuine(&self, id: &str, parameters: &[(String, String)], signature: &str) -> bool {
        let SmsTransport::Provider { token, .. } = &self.transport else { return false };
        let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(token.as_bytes()) else { return false };
        mac.update(self.report_url(id).as_bytes());
        let mut sorted: Vec<_> = parameters.iter().collect();
        sorted.sort();
        for (name, value) in sorted {
            mac.update(name.as_bytes());
            mac.update(value.as_bytes());
        }
        STANDARD.decode(signature).is_ok_and(|bytes| mac.verify_slice(&bytes).is_ok())
    }
}

/// Appends a line in one write, so that lines of several writers do not mix.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_are_parsed_from_urls() {
        assert_eq!("outbox:a/b".parse(), Ok(SmsTransport::Outbox(PathBuf::from("a/b"))));
        let provider: SmsTransport =
            "https://AC1:s%2Be%3Acret@sms.example/messages.json?From=%2B15550100".parse().unwrap();
        assert_eq!(
            provider,
            SmsTransport::Provider {
                url: "https://sms.example/messages.json".to_owned(),
                account: "AC1".to_owned(),
                token: "s+e:cret".to_owned(),
                from: "+15550100".to_owned(),
            }
        );
        assert_eq!(format!("{provider:?}"), "https://sms.example/messages.json");
        let plus = "https://a:b@sms.example/?From=+15550100".parse();
        assert!(matches!(plus, Ok(SmsTransport::Provider { from, .. }) if from == "+15550100"));
        for wrong in
            ["outbox:", "sms", "ftp://a:b@x/?From=1", "https://x/?From=1", "https://a:b@x/"]
        {
            assert!(wrong.parse::<SmsTransport>().is_err(), "{wrong}");
        }
    }
}
