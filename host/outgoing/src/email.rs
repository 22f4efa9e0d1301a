//! Emails, by the operator's SMTP server.

use crate::breaker::Breaker;
use lettre::{
    Message,
    message::{
        Mailbox, MultiPart,
        header::{HeaderName, HeaderValue},
    },
    transport::smtp::{
        authentication::Mechanism,
        client::AsyncSmtpConnection,
        commands::{Data, Mail as MailFrom, Rcpt},
        extension::ClientId,
    },
};
use portolan_vocabulary::Timestamp;
use std::{
    error::Error as _,
    time::{Duration, SystemTime},
};

pub use crate::{
    email_address::{AddressFault, EmailAddress},
    email_settings::{EmailSettings, SmtpServer},
};

/// The time-out of one email. It is shorter than the lease of due work, so that no second node sends meanwhile.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The time-out of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The ways to authenticate that are tried, the best first.
const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];
/// The replies to a recipient that say that there is no such mailbox (RFC 5321, section 4.2.3; RFC 7504).
const NO_MAILBOX: [u16; 4] = [550, 551, 553, 556];
/// The enhanced status of a reply that is about rules of the server, and not about the mailbox (RFC 3463).
const POLICY: &str = "5.7.";

/// An email to send.
#[derive(Debug)]
pub struct Mail<'a> {
    /// The same in each attempt, so that recipients recognize a repeated email.
    pub id: &'a str,
    pub to: &'a EmailAddress,
    pub subject: &'a str,
    pub text: String,
    pub html: String,
    /// The address at which one request ends further emails (RFC 8058).
    pub unsubscribe: Option<&'a str>,
    pub created_at: Timestamp,
}

/// The reason why an email was not sent.
#[derive(Debug, thiserror::Error)]
pub enum EmailError {
    #[error("the SMTP server has failed several times in a row and is left alone for a minute")]
    Paused,
    #[error("the SMTP server does not answer in time")]
    TimedOut,
    /// The reason names no address: the recipient is not sent before this.
    #[error("the SMTP server cannot be used: {0}")]
    Unusable(String),
    #[error("the SMTP server refuses the email for now with {0}")]
    Later(u16),
    #[error("the SMTP server refuses the email with {0}")]
    Refused(u16),
    #[error("the SMTP server knows no such mailbox and answers {0}")]
    NoMailbox(u16),
    #[error("the email cannot be written")]
    Unwritable,
}

impl EmailError {
    /// Returns whether a later attempt to send the same email may succeed.
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Paused | Self::TimedOut | Self::Unusable(_) | Self::Later(_) => true,
            Self::Refused(_) | Self::NoMailbox(_) | Self::Unwritable => false,
        }
    }

    /// Returns whether the server, and not the email, has failed.
    const fn is_of_server(&self) -> bool {
        matches!(self, Self::TimedOut | Self::Unusable(_))
    }
}

/// The service that sends emails.
#[derive(Debug)]
pub struct Mailer {
    server: SmtpServer,
    hello: ClientId,
    breaker: Breaker,
}

impl Mailer {
    /// Creates the service for a host with this address.
    pub fn new(server: SmtpServer, public_url: &str) -> Self {
        let name = url::Url::parse(public_url).ok();
        let name = name.and_then(|url| url.domain().map(str::to_owned));
        let hello = name.map_or_else(ClientId::default, ClientId::Domain);
        Self { server, hello, breaker: Breaker::default() }
    }

    /// Returns the maximum number of emails with notices for one person in a day.
    pub const fn per_person(&self) -> u64 {
        self.server.per_person
    }

    /// Returns the maximum number of emails of the host in a day.
    pub const fn per_day(&self) -> u64 {
        self.server.per_day
    }

    /// Returns whether the server is left alone now, because it has failed several times in a row.
    pub fn is_paused(&self, now: Timestamp) -> bool {
        self.breaker.is_open(now)
    }

    /// Sends an email.
    pub async fn send(&self, mail: &Mail<'_>, now: Timestamp) -> Result<(), EmailError> {
        if self.is_paused(now) {
            return Err(EmailError::Paused);
        }
        let message = self.message(mail).ok_or(EmailError::Unwritable)?;
        let sent = tokio::time::timeout(TIMEOUT, self.deliver(mail.to, &message)).await;
        let sent = sent.unwrap_or(Err(EmailError::TimedOut));
        self.breaker.note(sent.as_ref().is_err_and(EmailError::is_of_server), now);
        sent
    }

    /// Returns the message as it is sent.
    fn message(&self, mail: &Mail<'_>) -> Option<Vec<u8>> {
        let domain = self.server.from.email.domain();
        let written_at =
            SystemTime::UNIX_EPOCH + Duration::from_millis(mail.created_at.as_millis());
        let mut builder = Message::builder()
            .from(self.server.from.clone())
            .to(Mailbox::new(None, mail.to.inner().clone()))
            .subject(mail.subject)
            .date(written_at)
            .message_id(Some(format!("<{}@{domain}>", mail.id)))
            .raw_header(header("Auto-Submitted", "auto-generated".to_owned()));
        if let Some(address) = mail.unsubscribe {
            builder =
                builder.raw_header(header("List-Unsubscribe", format!("<{address}>"))).raw_header(
                    header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()),
                );
        }
        let parts = MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone());
        builder.multipart(parts).ok().map(|message| message.formatted())
    }

    async fn deliver(&self, to: &EmailAddress, message: &[u8]) -> Result<(), EmailError> {
        let server = &self.server;
        let at_once = server.tls.clone().filter(|_| server.mode.is_implicit());
        let mut connection = AsyncSmtpConnection::connect_tokio1(
            (server.host.as_str(), server.port),
            Some(CONNECT_TIMEOUT),
            &self.hello,
            at_once,
            None,
        )
        .await
        .map_err(unusable)?;
        if let Some(tls) = server.tls.clone().filter(|_| !server.mode.is_implicit()) {
            connection.starttls(tls, &self.hello).await.map_err(unusable)?;
        }
        if let Some(credentials) = &server.credentials {
            connection.auth(&MECHANISMS, credentials).await.map_err(unusable)?;
        }
        let from = MailFrom::new(Some(server.from.email.clone()), Vec::new());
        connection.command(from).await.map_err(refused)?;
        let recipient = Rcpt::new(to.inner().clone(), Vec::new());
        connection.command(recipient).await.map_err(recipient_refused)?;
        connection.command(Data).await.map_err(refused)?;
        connection.message(message).await.map_err(refused)?;
        // The server has taken the email, whatever it says now.
        let _ended = connection.quit().await;
        Ok(())
    }
}

/// Returns a header with a value of the host in ASCII, which is not folded.
fn header(name: &'static str, value: String) -> HeaderValue {
    let name = HeaderName::new_from_ascii_str(name);
    HeaderValue::dangerous_new_pre_encoded(name, value.clone(), value)
}

type SmtpError = lettre::transport::smtp::Error;

fn unusable(error: SmtpError) -> EmailError {
    EmailError::Unusable(error.to_string())
}

fn refused(error: SmtpError) -> EmailError {
    match error.status() {
        Some(code) if error.is_permanent() => EmailError::Refused(code.into()),
        Some(code) => EmailError::Later(code.into()),
        // The text of any other error is that of the connection.
        None => EmailError::Unusable("the connection has ended".to_owned()),
    }
}

fn recipient_refused(error: SmtpError) -> EmailError {
    let is_policy = error.source().is_some_and(|text| text.to_string().starts_with(POLICY));
    match refused(error) {
        EmailError::Refused(code) if NO_MAILBOX.contains(&code) && !is_policy => {
            EmailError::NoMailbox(code)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mailer() -> Mailer {
        let text = r#"{"host":"localhost","from":"Portolan <notices@example.com>","tls":"none"}"#;
        let settings: EmailSettings = serde_json::from_str(text).unwrap();
        let server = settings.check(None, &mut Vec::new()).unwrap();
        Mailer::new(server, "https://portolan.example")
    }

    #[test]
    fn a_message_has_one_header_of_each_kind_whatever_its_texts_are() {
        let to = EmailAddress::parse("ada@example.org").unwrap();
        let mail = Mail {
            id: "eml_1",
            to: &to,
            subject: "News\r\nBcc: eve@example.com",
            text: "Ä line.\r\nBcc: eve@example.com".to_owned(),
            html: "<p>Ä line.</p>".to_owned(),
            unsubscribe: Some("https://portolan.example/email/unsubscribe/aaaaaaaaaaaaaaaaaaaaaa"),
            created_at: Timestamp::from_millis(1_795_285_800_000),
        };
        let message = String::from_utf8(mailer().message(&mail).unwrap()).unwrap();
        let (head, body) = message.split_once("\r\n\r\n").unwrap();
        for line in [
            "To: ada@example.org",
            "Message-ID: <eml_1@example.com>",
            "List-Unsubscribe: <https://portolan.example/email/unsubscribe/aaaaaaaaaaaaaaaaaaaaaa>",
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        ] {
            assert!(head.lines().any(|found| found == line), "{line}: {head}");
        }
        assert!(head.contains("<notices@example.com>\r\n"), "{head}");
        assert!(!head.lines().any(|line| line.starts_with("Bcc")), "{head}");
        assert!(body.contains("text/plain") && body.contains("text/html"), "{body}");
        assert!(message.is_ascii(), "{message}");
    }
}
