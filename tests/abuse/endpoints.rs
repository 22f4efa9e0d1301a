//! Each route of the public address has an abuse that tries it.

use crate::abuse::groups::TABLE;
use std::{collections::BTreeSet, fs, path::Path};

/// The files that declare the routes.
const FILES: [&str; 6] =
    ["router.rs", "city_routes.rs", "feeds.rs", "map.rs", "asset_routes.rs", "mcp.rs"];
/// Files that declare no route of the public address: a method of this name, a test, and the operator's address of a
/// host that starts.
const OTHERS: [&str; 3] = ["operator_gate.rs", "serve.rs", "starting.rs"];
/// Where the routes of the operator's address begin, which have rows of their own.
const OPERATOR: &str = "pub(super) fn operator_address(";

/// The routes as they are written in the code, each with the name of an abuse.
const ROUTES: &[(&str, &str)] = &[
    ("\"/\"", "pages for readers"),
    ("\"/openapi.json\"", "the catalog, compressed"),
    ("\"/status\"", "pages for readers"),
    ("\"/status.atom\"", "pages for readers"),
    ("\"/auth.md\"", "discovery"),
    ("\"/llms.txt\"", "discovery"),
    ("\"/.well-known/api-catalog\"", "discovery"),
    ("\"/.well-known/jwks.json\"", "discovery"),
    ("\"/.well-known/audit-keys.json\"", "metadata and forms of the feeds"),
    ("\"/.well-known/oauth-protected-resource\"", "metadata and forms of the feeds"),
    ("\"/.well-known/oauth-protected-resource/mcp\"", "metadata and forms of the feeds"),
    ("\"/.well-known/oauth-protected-resource/mcp/{*view}\"", "metadata and forms of the feeds"),
    ("\"/.well-known/oauth-authorization-server\"", "discovery"),
    ("\"/robots.txt\"", "metadata and forms of the feeds"),
    ("\"/sitemap.xml\"", "metadata and forms of the feeds"),
    ("\"/v1/capabilities\"", "the catalog"),
    ("\"/v1/capabilities/{id}/schema\"", "the catalog"),
    ("\"/v1/capabilities/{id}/call\"", "tokens that are not valid"),
    ("\"/v1/agents/register\"", "agents without end"),
    ("\"/v1/agent-events/stream\"", "polls without end"),
    ("\"/v1/agent-events/ack\"", "acknowledgements of nothing"),
    ("\"/v1/agent-events/webhooks\"", "webhooks without a token"),
    ("\"/v1/agent-events/webhooks/{id}\"", "webhooks without a token"),
    ("\"/media/uploads/{token}\"", "files guessed"),
    ("\"/media/{digest}\"", "files guessed"),
    ("\"/v1/install/install.sh\"", "discovery"),
    ("\"/v1/install/install.ps1\"", "metadata and forms of the feeds"),
    ("\"/oauth/token\"", "secrets of a client guessed"),
    ("\"/oauth/device_authorization\"", "device codes without end"),
    ("\"/oauth/revoke\"", "tokens issued and revoked"),
    ("\"/oauth/introspect\"", "tokens described"),
    ("\"/oauth/register\"", "large clients"),
    ("\"/oauth/register/{client_id}\"", "registration tokens guessed"),
    ("\"/healthz\"", "discovery"),
    ("\"/docs\"", "pages for readers"),
    ("\"/docs/errors\"", "pages for readers"),
    ("\"/docs/connect\"", "pages for readers"),
    ("\"/docs/guides/{name}\"", "pages for readers"),
    ("\"/docs/{id}\"", "pages for readers"),
    ("\"/v1/sms/reports/{id}\"", "forged delivery reports"),
    ("\"/map/handoffs/{handoff_id}/{record_id}\"", "handoffs of no record"),
    ("\"/published/{capability}/{secret}\"", "published texts guessed"),
    ("\"/handoff/{token}\"", "forged handoffs"),
    ("\"/handoff/{token}/sign-in\"", "pages of forged handoffs"),
    ("\"/handoff/{token}/result\"", "pages of forged handoffs"),
    ("\"/m/{secret}\"", "links guessed"),
    ("\"/approve\"", "approval codes guessed"),
    ("\"/email/{token}\"", "email links guessed"),
    ("\"/passkey\"", "passkey pages guessed"),
    ("\"/oauth/passkey.js\"", "metadata and forms of the feeds"),
    ("\"/account\"", "cookies guessed"),
    ("\"/account/{capability}\"", "pages of capabilities"),
    ("\"/oauth/authorize\"", "sign-in pages opened"),
    ("\"/oauth/authorize/continue\"", "forged steps"),
    ("\"/device\"", "user codes guessed"),
    ("\"/claim/{link}\"", "claim pages guessed"),
    ("&roads.path(\"changes.json\")", "metadata and forms of the feeds"),
    ("&roads.path(\"changes.ndjson\")", "metadata and forms of the feeds"),
    ("&roads.page(\"companies/{id}\")", "pages for readers"),
    ("&roads.page(\"roles/{id}\")", "pages for readers"),
    ("&roads.page(\"people/{id}\")", "pages for readers"),
    ("&roads.page(\"events/{id}\")", "pages for readers"),
    ("&roads.objection()", "pages for readers"),
    // The documents of the feeds, and their other forms.
    ("&path", "feeds"),
    ("&feeds.roads().path(\"parts/{name}\")", "metadata and forms of the feeds"),
    ("&feeds.roads().path(\"snapshots.json\")", "metadata and forms of the feeds"),
    ("&feeds.roads().path(\"snapshots/{day}/{*file}\")", "metadata and forms of the feeds"),
    ("&roads.map", "metadata and forms of the feeds"),
    ("&roads.page(\"\")", "the map"),
    ("&roads.page(\"settings.json\")", "metadata and forms of the feeds"),
    ("&roads.page(BASEMAP)", "metadata and forms of the feeds"),
    ("&roads.page(\"assets/{name}\")", "metadata and forms of the feeds"),
    ("\"/assets/{name}\"", "metadata and forms of the feeds"),
    ("PATH", "sessions without end"),
    ("&format!(\"{PATH}/{{*view}}\")", "sessions without end"),
];

/// Returns the text of a file without its tests, which declare routes of their own.
fn without_tests(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split_once("#[cfg(test)]").map_or(text.as_str(), |(code, _)| code).to_owned()
}

/// Returns the text up to the first comma outside of parentheses.
fn first_argument(text: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => return text[..at].trim(),
            _ => {}
        }
    }
    panic!("no argument ends in {text}");
}

#[test]
fn every_public_route_has_an_abuse() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../http/src");
    let mut declared = BTreeSet::new();
    for file in FILES {
        let text = without_tests(&folder.join(file));
        let (text, _) = text.split_once(OPERATOR).unwrap_or((text.as_str(), ""));
        let calls = text.replace(".route_service(", ".route(");
        let routes = calls.split(".route(").skip(1).map(first_argument);
        declared.extend(routes.map(str::to_owned));
    }
    let tried: BTreeSet<String> = ROUTES.iter().map(|(route, _)| (*route).to_owned()).collect();
    assert_eq!(declared, tried);
    let names: BTreeSet<&str> =
        TABLE.iter().flat_map(|group| group.rows).map(|row| row.name).collect();
    for (route, name) in ROUTES {
        assert!(names.contains(name), "{route}: there is no abuse {name}");
    }
    // No other file of the crate declares routes of the public address.
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".rs") && !FILES.contains(&name) && !OTHERS.contains(&name) {
            let declares = without_tests(&path).contains(".route(");
            assert!(!declares, "{name} declares a route: add it to FILES");
        }
    }
}
