//! The components that capabilities need, for tests and benchmarks.

/// The capability of listings and those that it needs.
pub const LISTINGS: [&str; 8] = [
    "agent_listings",
    "content_render",
    "listing_taxonomy",
    "owners",
    "social_org",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
];

/// The capability of matching and those that it needs.
pub const MATCHING: [&str; 12] = [
    "agent_credits",
    "agent_listings",
    "content_render",
    "conversations",
    "listing_taxonomy",
    "matching_sessions",
    "owners",
    "pairings",
    "social_org",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
];
