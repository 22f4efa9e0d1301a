//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

pub(crate) fn list() -> PersonPage {
    PersonPage::in_section("Conversations")
        .things(&["items"])
        .columns(&["last_message.text", "state", "unread", "muted", "archived", "active_at"])
        .glance()
}

pub(crate) fn mute() -> PersonPage {
    PersonPage::in_section("Conversations").titled("Mute").about(&[("thread_id", "thread_id")])
}

pub(crate) fn unmute() -> PersonPage {
    PersonPage::in_section("Conversations").titled("Unmute").about(&[("thread_id", "thread_id")])
}

pub(crate) fn archive() -> PersonPage {
    PersonPage::in_section("Conversations").titled("Archive").about(&[("thread_id", "thread_id")])
}

pub(crate) fn unarchive() -> PersonPage {
    PersonPage::in_section("Conversations")
        .titled("Take out of the archive")
        .about(&[("thread_id", "thread_id")])
}

pub(crate) fn accept() -> PersonPage {
    PersonPage::in_section("Conversations")
        .titled("Accept the invitation")
        .about(&[("thread_id", "thread_id"), ("expected_version", "version")])
}

pub(crate) fn decline() -> PersonPage {
    PersonPage::in_section("Conversations")
        .titled("Decline the invitation")
        .about(&[("thread_id", "thread_id"), ("expected_version", "version")])
}

pub(crate) fn leave() -> PersonPage {
    PersonPage::in_section("Conversations")
        .titled("Leave")
        .about(&[("thread_id", "thread_id"), ("expected_version", "version")])
        .confirm("Leave this conversation.")
}
