//! Answers of public sources. The first byte selects the reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portolan_feeds::{
    Sources,
    board::Board,
    directory, parts,
    record::Ats,
    registry, syndication,
    text::{description, find, line, link, plain_description},
};

const CITY: [f64; 4] = [-123.0, 37.0, -121.0, 38.5];

fuzz_target!(|data: &[u8]| {
    let Some((reader, bytes)) = data.split_first() else { return };
    let board = |ats| {
        let board = Board { ats, token: "fuzz".to_owned(), base: None };
        if let Ok(page) = board.read(bytes) {
            let _next = board.next(&page, 0);
            let _doubt = board.doubt(&page);
            for posting in page.postings {
                assert_text(&posting.title);
                assert_html(&posting.description_html);
                let _detail = board.detail(&posting);
                let _complete = board.complete(posting, bytes);
            }
        }
    };
    match reader % 10 {
        0 => board(Ats::Greenhouse),
        1 => board(Ats::Lever),
        2 => board(Ats::Ashby),
        3 => board(Ats::Smartrecruiters),
        4 => board(Ats::Workable),
        5 => {
            if let Ok((items, _)) = syndication::read(bytes, "https://press.example/feed") {
                for item in &items {
                    assert_text(&item.title);
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
            if let Ok((organisations, _)) = registry::read(bytes, CITY) {
                organisations.iter().for_each(|organisation| assert_text(&organisation.name));
            }
        }
        8 => {
            let _parts = parts::Parts::of("roles.json", bytes);
        }
        _ => {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            let _sources = Sources::parse(text, Some("http://127.0.0.1:1"));
            for cleaned in [description(text, 2_000), plain_description(text, 2_000)] {
                assert_text(&cleaned.text);
                assert_html(&cleaned.html);
            }
            assert_text(&line(text, 120));
        }
    }
});

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
