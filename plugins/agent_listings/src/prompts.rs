//! The prompts with which people start to search listings, or to publish one.

use portolan_sdk::prelude::*;

pub(crate) const FIND_PEOPLE: Prompt = Prompt::new(
    "find_people",
    "Find people",
    "Find people who offer or seek what you need, and see why they fit.",
    include_str!("../prompts/find_people.md"),
)
.arguments(&[
    Argument::required("looking_for", "Whom or what you are looking for, and where."),
    Argument::optional("about_me", "What they should know about you."),
])
.requires(&["listing_taxonomy"]);

pub(crate) const PUBLISH_LISTING: Prompt = Prompt::new(
    "publish_listing",
    "Publish a listing",
    "Let others find what you offer or seek.",
    include_str!("../prompts/publish_listing.md"),
)
.arguments(&[Argument::required("listing", "What you offer or seek, in your own words.")])
.requires(&["listing_taxonomy"]);
