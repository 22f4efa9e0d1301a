//! Where roles and organisations are: which roles are published, and how addresses become positions.

use crate::support::{BOARD_PATH, City, document, ok, options};
use portolan_feeds::{Report, Sources, build, check, places::RemoteRule};
use serde_json::{Value, json};
use std::path::Path;

/// Returns a board on which each role is at one place: title, city, state, country, remote.
fn board(roles: &[(&str, &str, &str, &str, bool)]) -> String {
    let jobs = roles.iter().map(|(title, city, state, country, remote)| {
        json!({
            "title": title, "shortcode": title, "url": format!("https://jobs.copperleaf.example/{title}"),
            "published_on": "2026-11-01", "description": "<p>Build.</p>",
            "city": city, "state": state, "country": country, "telecommuting": remote,
        })
    });
    json!({ "name": "Copperleaf Robotics", "jobs": jobs.collect::<Vec<_>>() }).to_string()
}

async fn built(city: &City, remote: RemoteRule, within_km: f64) -> (Report, Vec<String>) {
    let mut sources = city.sources();
    (sources.roles.remote, sources.roles.within_km) = (remote, within_km);
    let report = build(&sources, &city.options, &|_| {}).await.unwrap();
    let mut titles: Vec<String> = city.roles().into_iter().map(|(title, _)| title).collect();
    titles.sort();
    (report, titles)
}

#[tokio::test]
async fn roles_are_those_of_the_city_and_remote_ones_by_the_rule() {
    let city = City::open().await;
    let roles = [
        ("City", "San Francisco", "California", "United States", false),
        ("Near", "Oakland", "California", "United States", false),
        ("Far", "Berlin", "", "Germany", false),
        ("Somewhere", "Qwertyville", "", "", false),
        ("Nowhere", "", "", "", false),
        ("Anywhere", "", "", "", true),
        ("Country", "", "", "United States", true),
        ("Abroad", "", "", "Germany", true),
    ];
    city.board.plays(BOARD_PATH, [ok("", board(&roles))]);
    let (report, titles) = built(&city, RemoteRule::Country, 0.0).await;
    assert_eq!(titles, ["Anywhere", "City", "Country", "Nowhere"]);
    let left_out = report.left_out;
    assert_eq!((left_out.elsewhere, left_out.remote, left_out.unknown), (2, 1, 1));
    assert_eq!(left_out.texts, ["Qwertyville".to_owned()].into());
    assert_eq!(report.quarantined, []);

    let (_, titles) = built(&city, RemoteRule::CityCompanies, 15.0).await;
    assert_eq!(titles, ["Abroad", "Anywhere", "City", "Country", "Near", "Nowhere"]);
    let (report, titles) = built(&city, RemoteRule::None, 15.0).await;
    assert_eq!(titles, ["City", "Near", "Nowhere"]);
    assert_eq!(report.left_out.remote, 3);
    assert_eq!(check(city.folder.path()).unwrap(), []);
}

#[tokio::test]
async fn a_role_has_structured_places_and_so_has_its_job_posting() {
    let city = City::open().await;
    let text = "San Francisco, CA; Remote - US; Remote (California)";
    let roles =
        [("Many", text, "", "", false), ("Odd", "San Francisco | Qwertyville", "", "", false)];
    city.board.plays(BOARD_PATH, [ok("", board(&roles))]);
    city.build().await.unwrap();
    let role = city.document("sf-job-roles.json")["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|role| role["title"] == "Many")
        .cloned()
        .unwrap();
    assert_eq!(
        role["locations"],
        json!([
            { "label": "San Francisco, California", "city": "San Francisco", "region": "California",
              "region_code": "US-CA", "country": "US", "lat": 37.775, "lng": -122.419, "primary": true },
            { "label": "Remote, US", "country": "US", "remote": true, "primary": false },
            { "label": "Remote, California", "region": "California", "region_code": "US-CA", "country": "US",
              "remote": true, "primary": false },
        ])
    );
    let posting = &role["schema_org"];
    let address = json!({ "@type": "PostalAddress", "addressLocality": "San Francisco",
        "addressRegion": "California", "addressCountry": "US" });
    assert_eq!(
        posting["jobLocation"],
        json!([{ "@type": "Place", "name": "San Francisco, California", "address": address }])
    );
    assert_eq!(posting["jobLocationType"], "TELECOMMUTE");
    assert_eq!(
        posting["applicantLocationRequirements"],
        json!([{ "@type": "Country", "name": "US" }, { "@type": "AdministrativeArea", "name": "California" }])
    );
    let meta = city.document("sf-job-roles.json")["_meta"].clone();
    let names = |entry: &Value| entry.as_str().is_some_and(|text| text.contains("GeoNames"));
    assert!(meta["attribution"].as_array().unwrap().iter().any(names), "{meta}");
}

#[tokio::test]
async fn a_table_and_the_operators_corrections_make_a_map() {
    let city = City::open().await;
    let table = "Firm;Where;Site\nCopperleaf;500 Howard Street, San Francisco, CA 94105;https://copperleaf.example\n\
        Pierworks;Pier 99;https://pierworks.example\nNowhere;Qwertyville;\n";
    city.registry.plays("/firms.csv", [ok("content-type: text/csv\r\n", table)]);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "places.toml",
        "[[place]]\ntext = \"Pier 99\"\ncity = \"San Francisco\"\nregion = \"US-CA\"\nlat = 37.75\nlng = -122.38\n",
    );
    write(
        "sources.toml",
        &format!(
            r#"
            license = "CC0-1.0"
            opt_out_url = "https://map.example/opt-out"
            places = "places.toml"
            [city]
            id = "sf"
            name = "San Francisco"
            country = "US"
            time_zone = "America/Los_Angeles"
            center = [-122.41942, 37.77493]
            bbox = [-122.52, 37.7, -122.35, 37.84]
            [[registry]]
            id = "firms"
            publisher = "Register"
            url = "{}/firms.csv"
            format = "csv"
            delimiter = ";"
            columns = {{ name = "Firm", address = "Where", website = "Site" }}
            defaults = {{ kind = "startup" }}
            "#,
            city.registry.origin()
        ),
    );
    let sources = Sources::read(&folder.path().join("sources.toml"), None).unwrap();
    let report = build(&sources, &options(city.folder.path()), &|_| {}).await.unwrap();
    assert_eq!(report.sources[0].refused.len(), 1);
    let targets = document(city.folder.path(), "sf-live-targets.json");
    let mut placed: Vec<(String, String)> = (targets["features"].as_array().unwrap().iter())
        .map(|target| {
            let text = |pointer| target.pointer(pointer).unwrap().as_str().unwrap().to_owned();
            (text("/properties/name"), text("/properties/geo/precision"))
        })
        .collect();
    placed.sort();
    let expected = [("Copperleaf", "city"), ("Pierworks", "street")];
    assert_eq!(placed, expected.map(|(name, precision)| (name.to_owned(), precision.to_owned())));

    write(
        "places.toml",
        "[[place]]\ntext = \"Pier 99\"\n[[place]]\ntext = \"X\"\ncountry = \"XX\"\n",
    );
    let faults = Sources::read(&folder.path().join("sources.toml"), None).unwrap_err().0;
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(Sources::read(Path::new("/nowhere.toml"), None).is_err());
}
