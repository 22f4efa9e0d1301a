//! An authenticator with one passkey, as WebAuthn describes it: an ES256 key, no attestation.

use crate::harness::{
    Host, Options,
    person::{Page, Person},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
use scraper::{Html, Selector};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

/// The address of a host that can have passkeys.
pub const ORIGIN: &str = "http://portolan.test";
const ACCOUNT: &str = "/account";
const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;

/// Starts a host that can have passkeys.
pub async fn host() -> Host {
    let options = Options::with(&["svc_phone_binding", "ledger"]);
    Host::start(options.configuration(&format!("public_url = \"{ORIGIN}\""))).await
}

/// Sends a form of a page to another one.
pub async fn submit(
    person: &mut Person<'_>,
    path: &str,
    page: &Page,
    fields: &[(&str, &str)],
) -> Page {
    let form = [&[("form_token", page.form_token.as_str())], fields].concat();
    person.submit_to(path, &form).await
}

/// Adds a passkey to the person who is signed in.
pub async fn add(person: &mut Person<'_>, name: &str) -> Authenticator {
    let page = person.open(ACCOUNT).await;
    let page = submit(person, ACCOUNT, &page, &[("step", "add_passkey")]).await;
    assert_eq!(page.heading, "Add a passkey", "{}", page.reply.text);
    let request = Request::of(&page);
    assert_eq!(request.options["authenticatorSelection"]["residentKey"], "required");
    let (passkey, credential) = Authenticator::create(&request, ORIGIN);
    let fields = [
        ("step", "save_passkey"),
        ("ceremony", &*request.ceremony),
        ("credential", &*credential),
        ("name", name),
    ];
    let page = submit(person, ACCOUNT, &page, &fields).await;
    assert!(page.reply.text.contains(name), "{}", page.reply.text);
    passkey
}

/// Returns the id of the first passkey on the page of an account.
pub fn passkey_id(page: &Page) -> String {
    let id = page.reply.text.split("name=\"passkey\" value=\"").nth(1).unwrap();
    id.split('"').next().unwrap().to_owned()
}

/// A page's request to use a passkey.
pub struct Request {
    pub ceremony: String,
    pub options: Value,
}

impl Request {
    /// Reads the request of a page.
    pub fn of(page: &Page) -> Self {
        let html = Html::parse_document(&page.reply.text);
        let attribute = |selector: &str, name: &str| {
            let element = html.select(&Selector::parse(selector).unwrap()).next();
            let element = element.unwrap_or_else(|| panic!("{selector}: {}", page.reply.text));
            element.attr(name).unwrap().to_owned()
        };
        let options = attribute("#passkey", "data-options");
        Self {
            ceremony: attribute("input[name=ceremony]", "value"),
            options: serde_json::from_str::<Value>(&options).unwrap()["publicKey"].clone(),
        }
    }
}

pub struct Authenticator {
    key: SigningKey,
    id: Vec<u8>,
    /// The person's handle, as the host has sent it.
    user: Value,
    uses: u32,
    pub origin: String,
    /// Whether it counts its uses. A passkey that is on several devices does not.
    pub counts: bool,
    /// Whether it verifies its user.
    pub verifies: bool,
}

impl Authenticator {
    /// Makes a passkey at an origin. Returns it with the credential that the browser sends.
    pub fn create(request: &Request, origin: &str) -> (Self, String) {
        let key = SigningKey::from_bytes(&portolan_vocabulary::entropy::<32>().into()).unwrap();
        let id = portolan_vocabulary::entropy::<16>().to_vec();
        let user = request.options["user"]["id"].clone();
        let origin = origin.to_owned();
        let this = Self { key, id, user, uses: 0, origin, counts: true, verifies: true };
        let mut data = this.data(HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(u16::try_from(this.id.len()).unwrap().to_be_bytes());
        data.extend(&this.id);
        data.extend(this.public_key());
        // A CBOR map of `fmt`, `attStmt` and `authData`.
        let mut attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58".to_vec();
        attestation.push(u8::try_from(data.len()).unwrap());
        attestation.extend(&data);
        let client = this.client_data("webauthn.create", &request.options["challenge"]);
        let response = json!({
            "attestationObject": encode(&attestation), "clientDataJSON": encode(client.as_bytes()),
        });
        let credential = this.credential(&response);
        (this, credential)
    }

    /// Uses the passkey. Returns the credential that the browser sends.
    pub fn answer(&mut self, request: &Request) -> String {
        self.uses += u32::from(self.counts);
        let data = self.data(0);
        let client = self.client_data("webauthn.get", &request.options["challenge"]);
        let signed = [&data[..], &Sha256::digest(&client)].concat();
        let signature: Signature = self.key.sign(&signed);
        self.credential(&json!({
            "authenticatorData": encode(&data),
            "clientDataJSON": encode(client.as_bytes()),
            "signature": encode(signature.to_der().as_bytes()),
            "userHandle": self.user,
        }))
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let domain = Url::parse(&self.origin).unwrap().domain().unwrap().to_owned();
        let mut data = Sha256::digest(domain).to_vec();
        let verified = if self.verifies { USER_VERIFIED } else { 0 };
        data.push(USER_PRESENT | verified | flags);
        data.extend(self.uses.to_be_bytes());
        data
    }

    /// Returns the public key as COSE: an elliptic curve, ES256, P-256, x and y.
    fn public_key(&self) -> Vec<u8> {
        let point = self.key.verifying_key().to_encoded_point(false);
        let (x, y) = (point.x().unwrap(), point.y().unwrap());
        [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", &x[..], b"\x22\x58\x20", &y[..]].concat()
    }

    fn client_data(&self, kind: &str, challenge: &Value) -> String {
        let origin = &self.origin;
        json!({ "type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false })
            .to_string()
    }

    fn credential(&self, response: &Value) -> String {
        let id = encode(&self.id);
        json!({ "id": id, "rawId": id, "type": "public-key", "response": response }).to_string()
    }
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
