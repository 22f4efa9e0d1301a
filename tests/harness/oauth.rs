//! OAuth requests as clients make them, and the person's consent between them.

use crate::harness::{
    Host, Reply,
    options::SHARED_KEYS,
    person::{Page, Person},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{SigningKey, pkcs8::EncodePrivateKey as _};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use portolan_vocabulary::{KeySeal as _, Keyring, SealedKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub const ADA: &str = "+12015550123";
pub const BOB: &str = "+12015550145";
pub const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more-0123";
pub const REDIRECT: &str = "http://127.0.0.1:7777/callback?kept=1";

pub async fn host() -> Host {
    Host::with(&["svc_phone_binding", "ledger"]).await
}

pub fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

pub async fn register(host: &Host, metadata: Value) -> Reply {
    let request = host.client.post(format!("{}/oauth/register", host.url)).json(&metadata);
    Reply::read(request.send().await.unwrap()).await
}

/// Registers a client without a secret, as desktop applications are, and returns its id.
pub async fn public_client(host: &Host) -> String {
    let metadata = json!({
        "client_name": "A <b>desktop</b> application",
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let reply = register(host, metadata).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert!(reply.body["client_secret"].is_null());
    text(&reply.body, "client_id").to_owned()
}

pub async fn post(
    host: &Host,
    path: &str,
    form: &[(&str, &str)],
    basic: Option<(&str, &str)>,
) -> Reply {
    let mut request = host.client.post(format!("{}{path}", host.url)).form(form);
    if let Some((id, secret)) = basic {
        request = request.basic_auth(id, Some(secret));
    }
    Reply::read(request.send().await.unwrap()).await
}

/// Returns the id of the newest key that signs tokens, and the key, opened by the host's secret keys.
pub async fn signing_key(host: &Host) -> (String, SigningKey) {
    let database = host.database();
    let hex = database.hex("private_key");
    let newest = format!(
        "SELECT id || ' ' || sealed_by || ' ' || {hex} FROM signing_keys
         WHERE purpose = 'tokens' ORDER BY created_at DESC LIMIT 1"
    );
    let sealed = database.texts(&newest).await;
    let parts: Vec<&str> = sealed[0].split(' ').collect();
    let (id, sealed_by) = (parts[0].to_owned(), parts[1].to_owned());
    let bytes = (0..parts[2].len()).step_by(2);
    let bytes = bytes.map(|at| u8::from_str_radix(&parts[2][at..at + 2], 16));
    let sealed = SealedKey { sealed_by, sealed: bytes.collect::<Result<_, _>>().unwrap() };
    let keys = host.folder.path().join("data/secret.keys");
    let keys = std::fs::read_to_string(keys).unwrap_or_else(|_| SHARED_KEYS.to_owned());
    let key = Keyring::parse(&keys).unwrap().open(&id, &sealed).await.unwrap();
    (id, SigningKey::from_bytes(&key))
}

/// Returns a function that signs tokens of any type and with any claims by the host's own key.
pub async fn signer(host: &Host) -> impl Fn(&str, &Value) -> String {
    let (kid, key) = signing_key(host).await;
    let key = EncodingKey::from_ed_der(key.to_pkcs8_der().unwrap().as_bytes());
    move |kind, claims| {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(kid.clone());
        header.typ = Some(kind.to_owned());
        jsonwebtoken::encode(&header, claims, &key).unwrap()
    }
}

pub fn query(parameters: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    format!("/oauth/authorize?{}", query.extend_pairs(parameters).finish())
}

/// Returns the parameters of a valid authorization request.
pub fn parameters<'a>(client: &'a str, challenge: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("scope", "svc.read svc.write"),
        ("state", "odd &=+ 状態"),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ]
}

pub fn with_parameter<'a>(
    parameters: &[(&'a str, &'a str)],
    name: &'a str,
    value: Option<&'a str>,
) -> Vec<(&'a str, &'a str)> {
    let others = parameters.iter().copied().filter(|(parameter, _)| *parameter != name);
    others.chain(value.map(|value| (name, value))).collect()
}

/// Returns an authorization code to which a person has consented, who signs in first if
/// there is no session.
pub async fn code(person: &mut Person<'_>, client: &str, phone: &str) -> String {
    let path = query(&parameters(client, &challenge()));
    let page = match person.cookies.contains_key("portolan_session") {
        true => person.open(&path).await,
        false => person.sign_in(&path, phone).await,
    };
    allow(person, &page).await
}

pub async fn allow(person: &mut Person<'_>, page: &Page) -> String {
    let parameters = person.submit(page, "allow", &[]).await.redirect_parameters();
    assert_eq!(parameters["state"], "odd &=+ 状態");
    assert_eq!((&parameters["iss"], &*parameters["kept"]), (&person.host.url, "1"));
    parameters["code"].clone()
}

pub fn redemption<'a>(client: &'a str, code: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ]
}

pub fn assert_oauth_error(reply: &Reply, status: u16, error: &str) {
    assert_eq!(
        (reply.status.as_u16(), &reply.body["error"]),
        (status, &json!(error)),
        "{}",
        reply.text
    );
    assert_eq!(reply.header("cache-control"), "no-store");
}

pub async fn call(host: &Host, token: &str, body: Value) -> Reply {
    let url = format!("{}/v1/capabilities/ledger/call", host.url);
    Reply::read(host.client.post(url).bearer_auth(token).json(&body).send().await.unwrap()).await
}

pub fn open(account: &str) -> Value {
    json!({ "action": "open", "account": account })
}

pub fn balance() -> Value {
    json!({ "action": "balance", "account": "nobody" })
}
