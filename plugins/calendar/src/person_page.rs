//! The parts and forms of this capability on a person's own page.

use portolan_sdk::PersonPage;

const CALENDARS: &str = "Calendars elsewhere";
const FREEBUSY: &str = "Your busy times for other programs";

pub(crate) fn subscriptions() -> PersonPage {
    PersonPage::in_section(CALENDARS)
        .things(&["items"])
        .columns(&["label", "address", "state", "blocks", "read_at", "problem"])
        .glance()
}

pub(crate) fn refresh() -> PersonPage {
    PersonPage::in_section(CALENDARS)
        .titled("Read it now")
        .about(&[("subscription_id", "subscription_id")])
}

pub(crate) fn unsubscribe() -> PersonPage {
    PersonPage::in_section(CALENDARS)
        .titled("End the subscription")
        .about(&[("subscription_id", "subscription_id")])
        .confirm("What it has put into my calendar here is removed.")
}

pub(crate) fn freebusy() -> PersonPage {
    PersonPage::in_section(FREEBUSY).columns(&["address", "since"]).whole(&["address"])
}

pub(crate) fn publish() -> PersonPage {
    PersonPage::in_section(FREEBUSY)
        .titled("Get an address")
        .about(&[])
        .note("Whoever has the address sees when you are busy, and nothing else.")
}

pub(crate) fn rotate() -> PersonPage {
    PersonPage::in_section(FREEBUSY)
        .titled("Replace the address")
        .about(&[])
        .confirm("Programs that read the present address get nothing any more.")
}

pub(crate) fn unpublish() -> PersonPage {
    PersonPage::in_section(FREEBUSY)
        .titled("End the address")
        .about(&[])
        .confirm("Programs that read the address get nothing any more.")
}
