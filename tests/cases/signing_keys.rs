//! The keys that sign tokens: sealed in the database, and replaced when their time is over.

use crate::{
    cases::{
        personal::stop,
        store::{keys, quotas, sqlite},
    },
    harness::{
        Host, Options, PATIENCE, Process,
        oauth::{signing_key, text},
        postgres,
    },
};
use ed25519_dalek::{SigningKey, pkcs8::EncodePrivateKey as _};
use portolan_store::{KeyPurpose, Store};
use portolan_vocabulary::{Clock, Keyring};
use std::time::{Duration, Instant};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Returns whether the database has the private key, as bytes or in hexadecimal digits.
fn contains(host: &Host, key: &SigningKey) -> bool {
    let secret = key.to_bytes();
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let bytes = host.database().bytes();
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    has(&secret) || has(hex.as_bytes()) || has(hex.to_uppercase().as_bytes())
}

fn hex_of_plain(key: &SigningKey) -> String {
    let plain = key.to_pkcs8_der().unwrap();
    plain.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_has_no_private_key() {
    let url = postgres::database().await;
    for options in [Options::with(&[]), Options::with(&[]).postgres(&url)] {
        let host = Process::start(options);
        let token = host.token("svc.read").await;
        let (kid, key) = signing_key(&host).await;
        assert!(!contains(&host, &key));

        // A key of an earlier version, in the clear, is sealed by the next start, and its tokens stay valid.
        let plain = match url.as_str() {
            _ if host.database().bytes().starts_with(b"SQLite") => {
                format!("x'{}'", hex_of_plain(&key))
            }
            _ => format!("'\\x{}'", hex_of_plain(&key)),
        };
        let earlier = format!(
            "UPDATE signing_keys SET sealed_by = '', private_key = {plain} WHERE id = '{kid}'"
        );
        assert_eq!(host.database().execute(&earlier).await, 1);
        assert!(contains(&host, &key));
        let host = Process::start_in(stop(host));
        assert!(!contains(&host, &key));
        assert_eq!(signing_key(&host).await.1.to_bytes(), key.to_bytes());
        let request = host.client.get(format!("{}/v1/agent-events", host.url)).bearer_auth(token);
        let status = request.send().await.unwrap().status();
        assert_ne!(status, 401);
    }
}

#[tokio::test]
async fn a_signing_key_is_sealed_again_by_the_newest_secret_key_and_named_when_its_own_is_missing()
{
    let opened = sqlite().await;
    let (old, new) = (Keyring::generate().unwrap(), Keyring::generate().unwrap());
    let open = async |text: &str| {
        let keyring = Keyring::parse(text).unwrap();
        Store::open(&opened.url, &keyring, Clock::system(), quotas()).await.unwrap()
    };
    opened.store.close().await;
    let first = open(&old).await;
    let now = Clock::system().now();
    assert!(first.create_signing_key(KeyPurpose::Tokens, None, now).await.unwrap());
    // If two nodes create a key at once, only one of them does.
    assert!(!first.create_signing_key(KeyPurpose::Tokens, None, now).await.unwrap());
    let key = first.signing_keys(KeyPurpose::Tokens).await.unwrap().remove(0);
    first.close().await;

    let without = open(&new).await;
    let error = without.signing_keys(KeyPurpose::Tokens).await.err().unwrap().to_string();
    assert!(error.contains(&key.id) && error.contains("secret.keys"), "{error}");
    without.close().await;

    // With both, the key is sealed by the newer one, and the older one can be removed afterwards.
    for text in [format!("{new},{old}"), new.clone()] {
        let store = open(&text).await;
        let opened = store.signing_keys(KeyPurpose::Tokens).await.unwrap().remove(0);
        assert_eq!(opened.private.to_bytes(), key.private.to_bytes());
        store.close().await;
    }
    assert_ne!(keys(), Keyring::parse(&new).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_of_tokens_is_replaced_when_its_time_is_over() {
    let host = Host::start(Options::with(&[]).configuration("[tokens]\nkey_days = 7\n")).await;
    let published = async || {
        let keys = host.get("/.well-known/jwks.json").await.body["keys"].clone();
        keys.as_array().unwrap().iter().map(|key| text(key, "kid").to_owned()).collect::<Vec<_>>()
    };
    let first = published().await;
    host.advance(6 * DAY).await;
    assert_eq!(published().await, first);
    host.advance(DAY).await;
    let started = Instant::now();
    while published().await.len() == 1 {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The former key stays published for its tokens.
    assert_eq!(published().await[1], first[0]);
}
