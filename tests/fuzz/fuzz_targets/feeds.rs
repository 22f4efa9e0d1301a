//! Answers of public sources. The first byte selects the reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_feeds::{
    Sources,
    board::Board,
    charset,
    claims::{Companies, Company, Reading, read},
    directory, parts,
    places::{Corrections, Stated, locate},
    record::{Ats, SourceType},
    registry, syndication,
    text::{description, find, line, link, plain_description},
    xml,
};
use std::sync::LazyLock;

/// A city with two registries.
static CITY: LazyLock<Sources> = LazyLock::new(|| {
    let text = r#"
        license = "CC0-1.0"
        opt_out_url = "https://map.example/opt-out"
        [city]
        id = "sf"
        name = "San Francisco"
        country = "US"
        time_zone = "America/Los_Angeles"
        center = [-122.41942, 37.77493]
        bbox = [-123.0, 37.0, -121.0, 38.5]
        [[registry]]
        id = "map"
        publisher = "Map"
        url = "https://map.example/registry.json"
        [[registry]]
        id = "table"
        publisher = "Map"
        url = "https://map.example/registry.csv"
        format = "csv"
        header = false
        columns = { name = "1", place = "2", lat = "3", lng = "4", tags = "5", website = "6" }
        defaults = { kind = "startup" }
    "#;
    Sources::parse(text, None).expect("the sources are valid")
});

fuzz_target!(|data: &[u8]| {
    let Some((reader, bytes)) = data.split_first() else { return };
    let board = |ats| {
        let base = (ats == Ats::CareerPage)
            .then(|| "https://fuzz.example/jobs/".parse())
            .and_then(Result::ok);
        let board = Board { ats, token: "fuzz".to_owned(), base };
        let Some(url) = board.first() else { return };
        if let Ok(page) = board.read(bytes, &url) {
            let _next = board.next(&page, 0);
            let _doubt = board.doubt(&page);
            assert!(page.links.iter().all(|link| link.origin() == url.origin()));
            for posting in page.postings {
                assert_text(&posting.title);
                assert_html(&posting.description_html);
                let _detail = board.detail(&posting);
                let _complete = board.complete(posting, bytes);
            }
        }
    };
    match reader % 18 {
        0 => board(Ats::Greenhouse),
        1 => board(Ats::Lever),
        2 => board(Ats::Ashby),
        3 => board(Ats::Smartrecruiters),
        4 => board(Ats::Workable),
        5 => {
            if let Ok((items, _)) = syndication::read(bytes, "https://press.example/feed") {
                for item in &items {
                    assert_text(&item.title);
                    assert_text(&item.text);
                    assert!(item.url.as_ref().is_none_or(|url| link(url).is_some()));
                }
            }
        }
        6 => {
            if let Ok(page) = directory::read(bytes) {
                page.listed.iter().for_each(|listed| assert_text(&listed.name));
            }
        }
        7 => {
            for registry in &CITY.registry {
                if let Ok((organisations, _)) = registry::read(bytes, registry, &CITY) {
                    organisations.iter().for_each(|organisation| assert_text(&organisation.name));
                }
            }
        }
        8 => {
            let _parts = parts::Parts::of("roles.json", bytes);
        }
        9 => board(Ats::Recruitee),
        10 => board(Ats::Personio),
        11 => board(Ats::Teamtailor),
        12 => board(Ats::Bamboohr),
        13 => board(Ats::CareerPage),
        14 => {
            if let Ok(offering) = syndication::offering(bytes) {
                assert_text(&offering.issuer_name);
            }
        }
        15 => {
            if let Ok(document) = xml::parse(bytes) {
                let _elements = document.root().within().count();
            }
        }
        16 => {
            let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
            let (header, body) = bytes.split_at(end);
            let text = charset::utf_8(body.to_vec(), std::str::from_utf8(header).ok());
            assert!(String::from_utf8(text).is_ok());
        }
        _ => {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            let _sources = Sources::parse(text, Some("http://127.0.0.1:1"));
            for cleaned in [description(text, 2_000), plain_description(text, 2_000)] {
                assert_text(&cleaned.text);
                assert_html(&cleaned.html);
            }
            assert_text(&line(text, 120));
            let stated = Stated { text, country: Some("US"), ..Stated::default() };
            let _places = locate(&stated, &Corrections::default());
            let _corrections = Corrections::parse(text);
            read_claims(text);
        }
    }
});

/// Reads the claims of any text.
fn read_claims(text: &str) {
    let named = |name: &str| Company { names: vec![name.to_owned()], ..Company::default() };
    let companies = Companies::new(["Harbor", "Quell!", "ソラノ"].map(named).into());
    let (title, text) = text.split_once('\n').unwrap_or((text, ""));
    for kind in [SourceType::Press, SourceType::Filing, SourceType::AtsBoard] {
        let claims = read(
            &Reading {
                title,
                text,
                kind,
                own: None,
                is_insider: false,
                url: None,
                form: None,
                cik: None,
                year: 2026,
            },
            &companies,
        );
        assert!(claims.named.iter().all(|company| *company < 3));
    }
}

/// Feeds contain no contact data of people.
fn assert_text(text: &str) {
    assert_eq!(find(text), None, "{text}");
}

fn assert_html(html: &str) {
    let html = html.to_ascii_lowercase();
    for hostile in ["<script", "<iframe", "<style", "<svg", "<img", "href=\"javascript:"] {
        assert!(!html.contains(hostile), "{hostile} in {html}");
    }
}
