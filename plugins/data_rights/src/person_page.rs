//! The parts and forms of this capability on a person's own page.

use portolan_sdk::{PersonFile, PersonPage};

pub(crate) fn export() -> PersonPage {
    PersonPage::in_section("Your data")
        .titled("Export my data")
        .confirm("Collect everything that is stored about me, to download.")
}

pub(crate) fn status() -> PersonPage {
    PersonPage::in_section("Your data").things(&["export", "erasure"]).columns(&[
        "state",
        "requested_at",
        "ready_at",
        "expires_at",
        "bytes",
        "scheduled_at",
        "erases_at",
        "requested_by",
    ])
}

pub(crate) fn download() -> PersonPage {
    PersonPage::in_section("Your data")
        .titled("Download my data")
        .about(&[("export_id", "export_id")])
        .input("limit", 10)
        .file(PersonFile {
            parts: "items",
            name: "file",
            text: "text",
            next: "next_part",
            input: "part",
        })
}

pub(crate) fn erase() -> PersonPage {
    PersonPage::in_section("Your data").titled("Erase my data").input("confirm", true).confirm("Erase everything that is stored about me, in seven days. Until then I can cancel it; afterwards nothing brings it back.")
}

pub(crate) fn cancel() -> PersonPage {
    PersonPage::in_section("Your data").titled("Cancel the erasure").about(&[])
}
