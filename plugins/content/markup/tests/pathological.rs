//! Tests that costly texts need bounded output, nesting and stack.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "corpus/costly.rs"]
mod corpus;

use markup::{Format, Profile, render};
use scraper::Html;

/// The size of the texts: enough to reach every limit; a quarter of the largest text.
const SIZE: usize = 16 * 1024;

/// The maximum number of bytes of output for each byte of input.
const GROWTH: usize = 16;

/// Half of the stack of a call in its sandbox.
const STACK: usize = 512 * 1024;

/// The deepest nesting in any profile: the limit on nesting, the parts of a list or table, and the
/// parser's own root.
const DEEPEST: usize = 40;

fn assert_bounded(markdown: &str, profile: Profile) {
    let html = render(markdown, profile, Format::Html);
    let text = render(markdown, profile, Format::Text);
    let listed = html.links.iter().map(|link| link.url.len() + link.text.len()).sum();
    for (size, what) in [(html.body.len(), "html"), (text.body.len(), "text"), (listed, "links")] {
        let most = GROWTH * markdown.len().max(SIZE);
        assert!(size <= most, "{profile:?} {what} {size}: {markdown:.40}");
    }
    assert!(html.removed.len() <= 64);
    let parsed = Html::parse_fragment(&html.body);
    let deepest = parsed.tree.nodes().map(|node| node.ancestors().count()).max();
    assert!(deepest.unwrap() <= DEEPEST, "{profile:?} {deepest:?}: {markdown:.40}");
}

#[test]
fn output_nesting_and_stack_are_bounded() {
    let run = || {
        for markdown in corpus::pathological(SIZE) {
            for profile in Profile::ALL {
                assert_bounded(&markdown, profile);
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap();
}
