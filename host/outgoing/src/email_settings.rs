//! The operator's settings for emails.

use lettre::{
    message::Mailbox,
    transport::smtp::{
        authentication::Credentials,
        client::{Certificate, TlsParameters},
    },
};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    net::IpAddr,
    path::{Path, PathBuf},
};

/// The largest number of emails of a person and of the host in a day.
const LARGEST_PER_PERSON: u64 = 1_000;
const LARGEST_PER_DAY: u64 = 10_000_000;

/// The SMTP server by which emails are sent, as the operator writes it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailSettings {
    pub host: String,
    /// `Name <address>`, or an address.
    pub from: String,
    /// `None` for the usual port of the mode.
    #[serde(default)]
    pub port: Option<u16>,
    #[serde(default)]
    pub tls: TlsMode,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub password_file: Option<PathBuf>,
    /// A file of certificate authorities that are trusted in addition to those of the system.
    #[serde(default)]
    pub authorities: Option<PathBuf>,
    /// The maximum number of emails with notices for one person in a day.
    #[serde(default = "default_per_person")]
    pub per_person: u64,
    /// The maximum number of emails of the host in a day.
    #[serde(default = "default_per_day")]
    pub per_day: u64,
}

const fn default_per_person() -> u64 {
    10
}

const fn default_per_day() -> u64 {
    2_000
}

/// The protection of the connection to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TlsMode {
    /// STARTTLS, which the server must offer.
    #[default]
    StartTls,
    /// TLS from the first byte.
    Tls,
    None,
}

impl TlsMode {
    const fn port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }

    /// Returns whether TLS begins with the first byte.
    pub(crate) const fn is_implicit(self) -> bool {
        matches!(self, Self::Tls)
    }
}

/// A server that can be used.
#[derive(Clone)]
pub struct SmtpServer {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) mode: TlsMode,
    pub(crate) tls: Option<TlsParameters>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) from: Mailbox,
    pub(crate) per_person: u64,
    pub(crate) per_day: u64,
}

impl fmt::Debug for SmtpServer {
    /// Leaves out the password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

impl EmailSettings {
    /// Returns the server, with the password of the environment if there is one. Adds what is wrong to `faults`.
    pub fn check(self, password: Option<String>, faults: &mut Vec<String>) -> Option<SmtpServer> {
        let before = faults.len();
        let host = self.host.trim().to_owned();
        if host.is_empty() || host.contains(['/', ':', '@', ' ']) {
            faults.push("email.host cannot be used: write the name of the SMTP server, such as \"smtp.example.com\", the port in email.port, and the user in email.user".to_owned());
        }
        let from = self.from.parse::<Mailbox>();
        if from.is_err() || self.from.chars().any(char::is_control) {
            faults.push(format!(
                "email.from is {:?}: write an address such as \"Portolan <notices@example.com>\"",
                self.from
            ));
        }
        for (name, value, largest) in [
            ("per_person", self.per_person, LARGEST_PER_PERSON),
            ("per_day", self.per_day, LARGEST_PER_DAY),
        ] {
            if !(1..=largest).contains(&value) {
                faults.push(format!("email.{name} is {value}: it must be 1 to {largest}"));
            }
        }
        let password = match (password, &self.password_file) {
            (Some(_), Some(_)) => {
                faults.push(
                    "email.password_file and email_password are both set: remove one".to_owned(),
                );
                None
            }
            (Some(password), None) => Some(password),
            (None, Some(file)) => read(file, "email.password_file", faults)
                .map(|text| text.trim_end_matches(['\r', '\n']).to_owned()),
            (None, None) => None,
        };
        let credentials = match (self.user, password) {
            (Some(user), Some(password)) if !user.is_empty() && !password.is_empty() => {
                if self.tls == TlsMode::None && !is_loopback(&host) {
                    faults.push("email.tls is \"none\": the password would be sent in the clear; write \"starttls\" or \"tls\"".to_owned());
                }
                Some(Credentials::new(user, password))
            }
            (None, None) => None,
            _ => {
                faults.push("email.user needs a password, and a password needs email.user: set PORTOLAN_EMAIL_PASSWORD or email.password_file, or remove both".to_owned());
                None
            }
        };
        let tls = match self.tls {
            TlsMode::None => None,
            TlsMode::StartTls | TlsMode::Tls => {
                parameters(&host, self.authorities.as_deref(), faults)
            }
        };
        let from = from.ok().filter(|_| faults.len() == before)?;
        let (per_person, per_day, mode) = (self.per_person, self.per_day, self.tls);
        let port = self.port.unwrap_or(mode.port());
        Some(SmtpServer { host, port, mode, tls, credentials, from, per_person, per_day })
    }
}

fn parameters(
    host: &str,
    authorities: Option<&Path>,
    faults: &mut Vec<String>,
) -> Option<TlsParameters> {
    // An error means that a crypto provider is installed already.
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let mut builder = TlsParameters::builder(host.to_owned());
    if let Some(file) = authorities {
        let text = read(file, "email.authorities", faults)?;
        match Certificate::from_pem(text.as_bytes()) {
            Ok(certificate) if text.contains("CERTIFICATE") => {
                builder = builder.add_root_certificate(certificate);
            }
            _ => {
                faults.push(format!(
                    "email.authorities: {} has no certificate: write the file of certificates in PEM",
                    file.display()
                ));
                return None;
            }
        }
    }
    let built = builder.build();
    built.map_err(|error| faults.push(format!("email.tls cannot be used: {error}"))).ok()
}

fn read(file: &Path, setting: &str, faults: &mut Vec<String>) -> Option<String> {
    let text = std::fs::read_to_string(file);
    let unreadable = |error: std::io::Error| {
        faults.push(format!("{setting}: {} cannot be read: {error}", file.display()));
    };
    text.map_err(unreadable).ok()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> EmailSettings {
        EmailSettings {
            host: "smtp.example.com".to_owned(),
            from: "Portolan <notices@example.com>".to_owned(),
            port: None,
            tls: TlsMode::StartTls,
            user: None,
            password_file: None,
            authorities: None,
            per_person: 10,
            per_day: 2_000,
        }
    }

    #[test]
    fn a_server_has_the_port_of_its_mode_and_shows_no_password() {
        let mut faults = Vec::new();
        let settings = EmailSettings { user: Some("app".to_owned()), ..settings() };
        let server = settings.check(Some("hunter2".to_owned()), &mut faults).unwrap();
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(format!("{server:?}"), "smtp.example.com:587");
    }

    #[test]
    fn every_fault_is_named_and_no_password() {
        let mut faults = Vec::new();
        let wrong = EmailSettings {
            host: "smtp://app:hunter2@example.com".to_owned(),
            from: "nobody".to_owned(),
            tls: TlsMode::None,
            per_person: 0,
            per_day: 0,
            ..settings()
        };
        assert!(wrong.check(Some("hunter3".to_owned()), &mut faults).is_none());
        let text = faults.join("\n");
        for part in
            ["email.host", "email.from", "email.per_person", "email.per_day", "email.user needs"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("hunter"), "{text}");
        let mut faults = Vec::new();
        let plain =
            EmailSettings { tls: TlsMode::None, user: Some("app".to_owned()), ..settings() };
        assert!(plain.check(Some("hunter3".to_owned()), &mut faults).is_none());
        assert!(faults.join("\n").contains("in the clear"), "{faults:?}");
        let mut faults = Vec::new();
        let missing =
            EmailSettings { authorities: Some(PathBuf::from("/nowhere.pem")), ..settings() };
        assert!(missing.check(None, &mut faults).is_none());
        assert!(faults.join("\n").contains("email.authorities"), "{faults:?}");
    }
}
