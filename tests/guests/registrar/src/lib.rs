//! The capability `registrar`: gives people an export of their data, and erases them.

use portolan_sdk::{
    documents::{Person, PersonalField::Personal},
    people::{self, Part},
    prelude::*,
    to_json,
};

#[derive(Serialize, Deserialize, JsonSchema)]
struct For {
    owner_id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Export {
    export_id: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    owner_id: String,
    export_id: String,
    last: bool,
    /// The items of the part, as JSON text.
    items: String,
}

#[derive(Serialize, JsonSchema)]
struct Parts {
    complete: bool,
    /// JSON.
    items: Vec<String>,
}

/// The parts of exports, by the export's id and the part's number.
const PARTS: Collection<Kept> = Collection::new("parts")
    .people(&[Person::delete("owner_id").fields(&[Personal("items")])])
    .index("export", &["owner_id", "export_id"]);

struct Registrar;

/// Gives people their data, and erases it.
#[capability(id = "registrar", title = "Registrar", collections = [PARTS])]
impl Registrar {
    /// Ask for an export.
    #[action(access = write)]
    fn export(call: &Call) -> Result<Export, Refusal> {
        let about = For { owner_id: call.require_owner()?.to_owned() };
        Ok(Export { export_id: people::export("keep", &about)? })
    }

    /// Keep a part of an export.
    #[action(access = internal)]
    fn keep(_call: &Call, part: Part<For>) -> Result<(), Refusal> {
        let kept = Kept {
            owner_id: part.about.owner_id,
            export_id: part.export_id.clone(),
            last: part.last,
            items: to_json(&part.items),
        };
        PARTS.put(&format!("{}/{}", part.export_id, part.part), &kept, Expect::Any)?;
        Ok(())
    }

    /// Read one's own export.
    #[action(access = read)]
    fn read(call: &Call, input: Export) -> Result<Parts, Refusal> {
        let own = field("owner_id").eq(call.require_owner()?);
        let own = own.and(field("export_id").eq(&input.export_id));
        let parts = PARTS.find(Query::new().filter(own).limit(1000))?.hits;
        let parts: Vec<Kept> = parts.into_iter().map(|hit| hit.document.value).collect();
        Ok(Parts {
            complete: parts.iter().any(|part| part.last),
            items: parts.into_iter().map(|part| part.items).collect(),
        })
    }

    /// Try to erase somebody else, which the host refuses in the call of an agent.
    #[action(access = write, destructive, example = For { owner_id: "own_1".into() })]
    fn erase_other(_call: &Call, input: For) -> Result<(), Refusal> {
        people::erase_owner(&input.owner_id)?;
        Ok(())
    }

    /// Erase everything about the person.
    #[action(access = write, destructive)]
    fn erase(_call: &Call) -> Result<(), Refusal> {
        people::erase()?;
        Ok(())
    }
}
