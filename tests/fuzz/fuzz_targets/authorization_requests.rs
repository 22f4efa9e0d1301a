//! Authorization requests: the query of the page on which a person consents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_identity::{AuthorizationError, ClientMetadata, Identity, RedirectHosts, Settings};
use portolan_outgoing::Outgoing;
use portolan_store::{DatabaseUrl, Store};
use portolan_vocabulary::{Clock, Keyring, Quotas};
use std::{collections::HashMap, sync::LazyLock};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const METADATA: &str = r#"{
    "client_name": "Fuzz",
    "redirect_uris": ["http://127.0.0.1/cb", "https://app.example/cb"],
    "scope": "svc.read svc.write"
}"#;

/// A host's register with one client.
struct Register {
    runtime: Runtime,
    identity: Identity,
    client_id: String,
    _folder: TempDir,
}

static REGISTER: LazyLock<Register> = LazyLock::new(|| {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let redirects = RedirectHosts::new(vec!["app.example".to_owned()]);
    let (identity, client_id) = runtime.block_on(async {
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let url = DatabaseUrl::from(folder.path().join("fuzz.db"));
        let store = Store::open(&url, &keys, Clock::system(), Quotas::default()).await.unwrap();
        let settings = Settings {
            public_url: "https://agents.example".to_owned(),
            access_seconds: 3600,
            refresh_days: 30,
            key_days: 0,
            redirects: redirects.clone(),
            test_mode: false,
            phone_verification: None,
        };
        let outgoing = Outgoing::new(&[], &[], 0).unwrap();
        let identity =
            Identity::open(store, &keys, settings, outgoing, Clock::system()).await.unwrap();
        let metadata = ClientMetadata::parse(METADATA.as_bytes(), &redirects).unwrap();
        let client_id = identity.register_client(metadata).await.unwrap().client_id;
        (identity, client_id)
    });
    Register { runtime, identity, client_id, _folder: folder }
});

fn is_registered(uri: &str) -> bool {
    uri == "https://app.example/cb"
        || uri == "http://127.0.0.1/cb"
        || uri.strip_prefix("http://127.0.0.1:").is_some_and(|rest| {
            let port = rest.strip_suffix("/cb").unwrap_or_default();
            !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fuzz_target!(|data: &[u8]| {
    let Ok(mut parameters) = serde_urlencoded::from_bytes::<HashMap<String, String>>(data) else {
        return;
    };
    let Register { runtime, identity, client_id, .. } = &*REGISTER;
    // Always this client: another one could be an address, which the host would look up.
    parameters.insert("client_id".to_owned(), client_id.clone());
    match runtime.block_on(identity.parse_authorization_request(&parameters)) {
        Ok(request) => {
            assert!(is_registered(&request.redirect_uri), "{}", request.redirect_uri);
            let is_allowed = |scope: &str| ["svc.read", "svc.write"].contains(&scope);
            assert!(request.scope.split(' ').all(is_allowed), "{}", request.scope);
            assert!([identity.audience(), identity.mcp_audience()].contains(&&*request.audience));
        }
        Err(AuthorizationError::Redirect { redirect_uri, .. }) => {
            assert!(is_registered(&redirect_uri), "{redirect_uri}");
        }
        Err(AuthorizationError::Page(_)) => {}
        Err(AuthorizationError::Failed(error)) => panic!("{error}"),
    }
});
