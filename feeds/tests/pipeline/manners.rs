//! How sources are asked: `robots.txt`, contact, files of this machine, career pages, licences.

use crate::support::{BOARD, BOARD_PATH, City, REGISTRY, ok, status};
use portolan_feeds::{Sources, build};

const ROBOTS: &str = "User-agent: *\nDisallow: /api\n";

fn reason(report: &portolan_feeds::Report, id: &str) -> String {
    let source = report.sources.iter().find(|source| source.id == id).unwrap();
    source.failing.as_ref().map(|failing| failing.reason.clone()).unwrap_or_default()
}

const BOARD_ID: &str = "board/workable/copperleaf";

#[tokio::test]
async fn what_robots_txt_forbids_is_not_asked_for() {
    let city = City::open().await;
    city.board.plays("/robots.txt", [ok("", ROBOTS)]);
    let report = city.build().await.unwrap();
    let told = reason(&report, BOARD_ID);
    assert!(told.starts_with("robots.txt of 127.0.0.1 does not allow it"), "{told}");
    assert!(told.contains("ignore_robots = true"), "{told}");
    assert!(city.board.asked().is_empty());
    assert_eq!(city.board.asked_robots(), 1);
    // The operator of the host permits it.
    let mut sources = city.sources();
    sources.board[0].ignore_robots = true;
    build(&sources, &city.options, &|_| {}).await.unwrap();
    assert_eq!(city.roles().len(), 1);
}

#[tokio::test]
async fn a_host_that_does_not_say_what_it_allows_is_not_asked() {
    let city = City::open().await;
    city.board.plays("/robots.txt", [status("503 Service Unavailable", "")]);
    let report = city.build().await.unwrap();
    let told = reason(&report, BOARD_ID);
    assert!(
        told.starts_with("robots.txt of 127.0.0.1 answers 503, so nothing is allowed"),
        "{told}"
    );
    assert!(city.board.asked().is_empty());
    // A host that answers that there is nothing has no such file.
    city.board.plays("/robots.txt", [status("403 Forbidden", "")]);
    let report = city.build().await.unwrap();
    assert_eq!(reason(&report, BOARD_ID), "");
}

#[tokio::test]
async fn a_host_that_is_down_is_no_host_that_forbids() {
    let city = City::open().await;
    let mut sources = city.sources();
    sources.board[0].base = Some("http://127.0.0.1:1".to_owned());
    let report = build(&sources, &city.options, &|_| {}).await.unwrap();
    assert_eq!(reason(&report, BOARD_ID), "the server does not answer");
}

#[tokio::test]
async fn rules_are_found_on_another_host_and_count_for_where_a_redirect_leads() {
    let city = City::open().await;
    let to = format!("location: {}/rules\r\n", city.paper.origin());
    city.board.plays("/robots.txt", [status("301 Moved", &to)]);
    city.paper.plays("/rules", [ok("", ROBOTS)]);
    let report = city.build().await.unwrap();
    assert!(reason(&report, BOARD_ID).starts_with("robots.txt of 127.0.0.1 does not allow it"));
    assert!(city.board.asked().is_empty());
    // The address is allowed, the one behind it is not.
    city.board.plays("/robots.txt", [ok("", "User-agent: *\nDisallow: /private\n")]);
    city.board.plays(BOARD_PATH, [status("302 Found", "location: /private/jobs\r\n")]);
    city.board.plays("/private/jobs", [ok("", BOARD)]);
    let report = city.build().await.unwrap();
    assert!(reason(&report, BOARD_ID).starts_with("robots.txt of 127.0.0.1 does not allow it"));
    assert!(city.board.asked().iter().all(|head| !head.contains("/private")));
    city.board.plays("/robots.txt", [ok("", "User-agent: *\nDisallow: /secret\n")]);
    let report = city.build().await.unwrap();
    assert_eq!(reason(&report, BOARD_ID), "");
}

#[tokio::test]
async fn no_wait_that_a_host_asks_for_stops_the_others() {
    let city = City::open().await;
    let later = || status("503 Busy", "retry-after: 18446744073709551615\r\n");
    for path in [BOARD_PATH, "/robots.txt"] {
        city.board.plays(path, [later()]);
        let report = city.build().await.unwrap();
        let told = reason(&report, BOARD_ID);
        assert!(told.starts_with("the server asks to wait"), "{path}: {told}");
        assert_eq!(city.document("sf-live-targets.json")["_meta"]["count"], 2);
    }
}

#[tokio::test]
async fn requests_name_the_operator() {
    let city = City::open().await;
    let mut sources = city.sources();
    sources.contact = Some("https://map.example/about".to_owned());
    build(&sources, &city.options, &|_| {}).await.unwrap();
    let head = city.board.asked()[0].to_lowercase();
    assert!(head.contains("user-agent: portolan-feeds/"), "{head}");
    assert!(head.contains("(+https://map.example/about)"), "{head}");
}

#[tokio::test]
async fn files_are_read_only_if_the_operator_allows_it() {
    let city = City::open().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sources.toml");
    std::fs::write(folder.path().join("registry.json"), REGISTRY).unwrap();
    std::fs::write(folder.path().join("board.json"), BOARD).unwrap();
    let text = r#"
        license = "CC0-1.0"
        opt_out_url = "https://map.example/opt-out"
        city = { id = "sf", name = "San Francisco", country = "US", time_zone = "America/Los_Angeles", center = [-122.4, 37.8], bbox = [-122.52, 37.7, -122.35, 37.84] }
        [[registry]]
        id = "registry"
        publisher = "Register"
        url = "file:registry.json"
        license = "CC-BY-4.0"
        attribution = "Register of the city"
        [[board]]
        target = "copperleaf"
        ats = "workable"
        token = "copperleaf"
        base = "file:board.json"
        license = "employer's terms"
    "#;
    std::fs::write(&file, text).unwrap();
    let sources = Sources::read(&file, None).unwrap();
    let report = build(&sources, &city.options, &|_| {}).await.unwrap();
    for id in ["registry", BOARD_ID] {
        let told = reason(&report, id);
        assert!(told.contains("`portolan feeds build --allow-local`"), "{told}");
    }
    let mut options = city.options.clone();
    options.allow_local = true;
    let report = build(&sources, &options, &|_| {}).await.unwrap();
    assert!(report.sources.iter().all(|source| source.failing.is_none()), "{report:?}");
    assert_eq!(city.roles().len(), 1);
    // Each record says under which licence it is offered, and the document whom to name.
    let targets = city.document("sf-live-targets.json");
    assert_eq!(targets["_meta"]["attribution"][0], "Register of the city");
    assert_eq!(targets["features"][0]["properties"]["sources"][0]["license"], "CC-BY-4.0");
    let roles = city.document("sf-job-roles.json");
    assert_eq!(roles["items"][0]["sources"][0]["license"], "employer's terms");
    // What is no file of this folder, or no file at all, is a fault of that source only.
    std::fs::remove_file(folder.path().join("board.json")).unwrap();
    let report = build(&sources, &options, &|_| {}).await.unwrap();
    assert!(reason(&report, BOARD_ID).starts_with("the file cannot be read"));
}

#[tokio::test]
async fn a_server_of_this_machine_needs_the_option_too() {
    let mut city = City::open().await;
    city.options.opened.clear();
    let report = city.build().await.unwrap();
    assert!(reason(&report, BOARD_ID).contains("--allow-local"));
    city.options.allow_local = true;
    let report = city.build().await.unwrap();
    assert_eq!(reason(&report, BOARD_ID), "");
}

#[tokio::test]
async fn the_roles_of_a_career_page_stay_while_their_pages_cannot_be_read() {
    let mut city = City::open().await;
    let page = |title: &str| {
        format!(
            r#"<html><script type="application/ld+json">{{"@type":"JobPosting","title":"{title}","identifier":"{title}","url":"/open/{title}","datePosted":"2026-11-01"}}</script></html>"#
        )
    };
    city.board
        .plays("/careers", [ok("", r#"<a href="/jobs/a?ref=list">A</a><a href="/jobs/b/">B</a>"#)]);
    city.board.plays("/jobs/a?ref=list", [ok("", page("Welder"))]);
    city.board.plays("/jobs/b/", [ok("", page("Fitter"))]);
    let mut sources = city.sources();
    sources.board[0].ats = portolan_feeds::record::Ats::CareerPage;
    sources.board[0].base = Some(format!("{}/careers", city.board.origin()));
    let report = build(&sources, &city.options, &|_| {}).await.unwrap();
    assert_eq!(reason(&report, "board/career_page/copperleaf"), "");
    let both = |state: &str| {
        ["Fitter", "Welder"].map(|title| (title.to_owned(), state.to_owned())).to_vec()
    };
    let roles = |city: &City| {
        let mut roles = city.roles();
        roles.sort();
        roles
    };
    assert_eq!(roles(&city), both("verified"));
    city.board.plays("/jobs/b/", [status("500 Internal Server Error", "")]);
    for day in 1..4 {
        city.options.now = crate::support::at(day);
        build(&sources, &city.options, &|_| {}).await.unwrap();
        assert_eq!(roles(&city), both("verified"));
    }
    city.board.plays("/careers", [ok("", r#"<a href="/jobs/a?ref=list">A</a>"#)]);
    for day in 4..6 {
        city.options.now = crate::support::at(day);
        build(&sources, &city.options, &|_| {}).await.unwrap();
    }
    assert_eq!(roles(&city), [("Welder".to_owned(), "verified".to_owned())]);
}

#[tokio::test]
async fn a_role_with_a_new_identifier_is_not_there_twice() {
    let mut city = City::open().await;
    city.build().await.unwrap();
    city.board.plays(BOARD_PATH, [ok("", BOARD.replace("\"A1\"", "\"B1\""))]);
    city.options.now = crate::support::at(1);
    city.build().await.unwrap();
    assert_eq!(city.roles(), [("Backend Engineer".to_owned(), "verified".to_owned())]);
}
