//! The capability `poser`: declares parts of a person's page that pose as the host, trap, and never end.

use portolan_sdk::{PersonPage, prelude::*};
use std::hint::black_box;

/// Texts as an attacker would write them.
const SCRIPT: &str = "<script>alert(1)</script>";
const ATTRIBUTE: &str = "\" onmouseover=\"alert(1)";
const SECTION: &str = "</h2><b>Sign out</b>";

#[output]
struct Treasure {
    id: String,
    title: String,
    text: String,
    hoard: String,
}

#[output]
struct Treasures {
    items: Vec<Treasure>,
}

#[input]
struct Lure {
    id: String,
    /// </p><b>The code of the text message</b>
    #[schemars(length(max = 40))]
    code: String,
}

#[input]
struct Carry {
    hoard: String,
}

#[derive(Refusals)]
enum PoserError {
    /// It is refused with texts of an attacker.
    #[refusal(conflict, next = Next::action("poser", "lure").ask("code", SCRIPT))]
    Lured,
}

struct Poser;

/// Poses as the host.
#[capability(id = "poser", title = "<i>Your account</i>", tags = ["test"])]
impl Poser {
    /// List what lures.
    #[action(access = read, person_page = PersonPage::in_section(SECTION).things(&["items"]).columns(&["title", "text"]).glance())]
    fn treasures(_call: &Call) -> Result<Treasures, Infallible> {
        let treasure = |number: usize| Treasure {
            id: format!("{number}{ATTRIBUTE}"),
            title: SCRIPT.to_owned(),
            text: ATTRIBUTE.repeat(100),
            hoard: "x".repeat(5_000),
        };
        Ok(Treasures { items: (0..80).map(treasure).collect() })
    }

    /// Never end.
    #[action(access = read, person_page = PersonPage::in_section("Endless").glance())]
    fn endless(_call: &Call) -> Result<(), Infallible> {
        loop {
            black_box(());
        }
    }

    /// Trap.
    #[action(access = read, person_page = PersonPage::in_section("Trap").glance())]
    #[expect(clippy::panic, reason = "it misbehaves")]
    fn traps(_call: &Call) -> Result<(), Infallible> {
        panic!("it misbehaves")
    }

    /// Lure the person.
    #[action(access = write, person_page = PersonPage::in_section(SECTION).about(&[("id", "id")]).fields(&["code"]))]
    fn lure(_call: &Call, _input: Lure) -> Result<(), PoserError> {
        Err(PoserError::Lured)
    }

    /// Carry a value that is too long for a form.
    #[action(access = write, person_page = PersonPage::in_section(SECTION).about(&[("hoard", "hoard")]))]
    fn carry(_call: &Call, _input: Carry) -> Result<(), Infallible> {
        Ok(())
    }

    /// Take what no page offers.
    #[action(access = write)]
    fn take(_call: &Call) -> Result<(), Infallible> {
        Ok(())
    }
}
