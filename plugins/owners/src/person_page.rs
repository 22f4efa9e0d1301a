//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn get_preferences() -> PersonPage {
    PersonPage::in_section("Notifications and quiet hours").things(&["preferences"]).columns(&[
        "",
        "contact_policy",
        "quiet_hours.from",
        "quiet_hours.to",
        "quiet_hours.time_zone",
        "notify",
        "disabled_events",
        "event_digest.at",
    ])
}

pub(crate) fn set_preferences() -> PersonPage {
    PersonPage::in_section("Notifications and quiet hours")
        .titled("Change notifications and quiet hours")
        .about(&[])
        .fields(&[
            "contact_policy",
            "quiet_hours.from",
            "quiet_hours.to",
            "quiet_hours.time_zone",
            "notify",
        ])
}

pub(crate) fn me() -> PersonPage {
    PersonPage::in_section("Profile").things(&["owner"]).columns(&[
        "profile.display_name",
        "state",
        "profile.headline",
        "profile.city",
        "profile.languages",
        "member_since",
        "suspension.reason",
        "suspension.until",
    ])
}

pub(crate) fn update_profile() -> PersonPage {
    PersonPage::in_section("Profile").titled("Change my profile").fields(&[
        "display_name",
        "headline",
        "city",
    ])
}

pub(crate) fn deactivate() -> PersonPage {
    PersonPage::in_section("Profile").titled("Hide my profile").about(&[("expected_version", "version")]).fields(&["reason"]).confirm("Hide my profile, pause my listings, end my open proposals and applications, and cancel my meetings. I am signed out of all browsers; my agents and connections stay. When I show my profile again, my listings stay paused, and what has ended does not come back.")
}

pub(crate) fn reactivate() -> PersonPage {
    PersonPage::in_section("Profile")
        .titled("Show my profile again")
        .about(&[("expected_version", "version")])
}
