//! The way of a browser to a session: forms, and the signed progress of a sign-in.

use crate::{
    authorize::AuthorizationRequest, claim_link::ClaimRequest, device::DeviceRequest,
    error::IdentityError, identity::Identity, secret, signer::Expiring,
};
use serde::{Deserialize, Serialize};

/// The time for a person to sign in and to consent.
const SIGN_IN_S: u64 = 15 * 60;

/// The request that a person decides on after the sign-in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SignInPurpose {
    /// A client in this browser, or one that has opened it, asks for an authorization code.
    Authorization(AuthorizationRequest),
    /// A client without a browser asks for tokens.
    Device(DeviceRequest),
    /// An agent asks to be claimed.
    Claim(ClaimRequest),
    /// Nobody asks: the person opens their own page.
    Account(AccountRequest),
}

/// A person's own page, for which they sign in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccountRequest {
    /// The path of the page on this host.
    pub account_page: String,
    /// The person's purpose there, in words, if it is not to see their account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SignInPurpose {
    /// Returns the name of the requester, which it has chosen itself.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Authorization(request) => Some(&request.client_name),
            Self::Device(request) => Some(&request.client_name),
            Self::Claim(request) => request.agent_name.as_deref(),
            Self::Account(_) => None,
        }
    }
}

/// The progress of a sign-in. The browser holds it as a signed text, which is valid in that browser only.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SignInProgress {
    /// The serialized name is part of texts that browsers hold.
    #[serde(rename = "asked")]
    pub purpose: SignInPurpose,
    /// Hash of the cookie of the browser in which the sign-in began.
    pub browser: String,
    /// The agent in whose name codes are sent.
    pub agent_id: Option<String>,
    /// The masked number to which a code was sent.
    pub phone_masked: Option<String>,
    /// Whether no code was sent, because too many messages were: the person can open the last one's link.
    #[serde(default)]
    pub by_link: bool,
    /// The error code of the last refusal, for which the page shows a text.
    pub problem: Option<String>,
    /// Seconds since the Unix epoch.
    pub exp: u64,
}

impl Expiring for SignInProgress {
    fn expires_at(&self) -> u64 {
        self.exp
    }
}

impl Identity {
    /// Makes the cookie by which a browser is recognised.
    pub fn new_browser_cookie(&self) -> String {
        secret::new("")
    }

    /// Returns the text by which a form is recognised as one of a page in the browser with this cookie.
    pub fn form_token(&self, browser: &str) -> String {
        secret::hash(&form_secret(browser)).hex()
    }

    /// Returns whether a form is one of a page in the browser with this cookie.
    pub fn is_form_token(&self, token: &str, browser: &str) -> bool {
        secret::matches(&form_secret(browser), token)
    }

    /// Starts the sign-in for a purpose, in the browser that has this cookie.
    pub fn start_sign_in(&self, purpose: SignInPurpose, browser: &str) -> SignInProgress {
        SignInProgress {
            purpose,
            browser: secret::hash(browser).hex(),
            agent_id: None,
            phone_masked: None,
            by_link: false,
            problem: None,
            exp: self.clock.now().as_secs() + SIGN_IN_S,
        }
    }

    /// Signs the progress of a sign-in, for the browser to hold.
    pub fn sign_progress(&self, progress: &SignInProgress) -> Result<String, IdentityError> {
        self.sign_ins.sign(progress)
    }

    /// Returns the progress that a browser sends back, if it was signed for the browser with this cookie
    /// and has not expired.
    pub fn verify_progress(&self, text: &str, browser: Option<&str>) -> Option<SignInProgress> {
        let progress: SignInProgress = self.sign_ins.verify(text, self.clock.now())?;
        browser.filter(|browser| secret::matches(browser, &progress.browser)).map(|_| progress)
    }
}

fn form_secret(browser: &str) -> String {
    format!("form {browser}")
}
