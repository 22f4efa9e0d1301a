//! The capability `notes`: search by text, place and field, a subscription, and one action for each
//! of the host's other services.

mod search;
mod types;

use portolan_sdk::{documents::Person, events::Happened, prelude::*, secrets};
use search::{count, find};
use types::*;

const NOTES: Collection<Note> = Collection::new("notes")
    .index("owner", &["owner"])
    .index("tags", &["tags[]"])
    .index("priority", &["priority"])
    .index("pinned", &["pinned"])
    .index("due", &["due"])
    .text(&["title", "body"])
    .geo("place.lat", "place.lng")
    .people(&[Person::delete("owner")]);

/// The transfers of each subject, in the order in which their events were delivered.
const HEARD: Collection<Heard> = Collection::new("heard").people(&[Person::delete("$id")]);

const DRAWS: Collection<Draw> = Collection::new("draws").nobody();

/// The number of wrong guesses of each word by another capability.
const GUESSES: Collection<Count> = Collection::new("guesses").nobody();

#[derive(Refusals)]
enum NotesError {
    /// There is no such note.
    #[refusal(not_found)]
    NoteNotFound,
    /// There is a note of this id already.
    #[refusal(conflict)]
    NoteExists,
    /// Wrong, and counted.
    #[refusal(forbidden, keep_writes)]
    WrongGuess,
    #[refusal(transparent)]
    Common(Refusal),
}

struct Notes;

/// Keeps notes and finds them again.
#[capability(id = "notes", title = "Notes", tags = ["test"], collections = [NOTES, HEARD, DRAWS, GUESSES])]
impl Notes {
    /// Write a note.
    ///
    /// With `if_revision`, only if the stored one still has it.
    #[action(access = write)]
    fn put(_call: &Call, input: Put) -> Result<Saved, NotesError> {
        let revision = NOTES.put(&input.id, &input.note, input.if_revision.into())?;
        Ok(Saved { id: input.id, revision })
    }

    /// Read a note.
    #[action(access = read, idempotent)]
    fn get(_call: &Call, input: NoteId) -> Result<Found, NotesError> {
        Ok(NOTES.get(&input.id)?.ok_or(NotesError::NoteNotFound)?.into())
    }

    /// Delete a note.
    #[action(access = write, idempotent, destructive)]
    fn delete(_call: &Call, input: Delete) -> Result<NoOutput, NotesError> {
        NOTES.delete(&input.id, input.if_revision.into())?;
        Ok(NoOutput {})
    }

    /// Add a note for another capability.
    #[action(access = internal, callers = ["ledger"])]
    fn add_internal(_call: &Call, input: Add) -> Result<Saved, NotesError> {
        let note = Note { title: input.title, body: input.body, ..Note::default() };
        let revision =
            NOTES.put(&input.id, &note, Expect::Absent).on_conflict(NotesError::NoteExists)?;
        Ok(Saved { id: input.id, revision })
    }

    /// Guess a word for another capability. It is always wrong.
    ///
    /// Guessing `forever` never ends, and `undeclared` is refused as was never declared.
    #[action(access = internal, callers = ["ledger"])]
    fn guess(_call: &Call, input: Guess) -> Result<NoOutput, NotesError> {
        let before = GUESSES.get(&input.word)?.map_or(0, |guesses| guesses.value.count);
        GUESSES.put(&input.word, &Count { count: before + 1 }, Expect::Any)?;
        match input.word.as_str() {
            "forever" => loop {
                std::hint::black_box(());
            },
            "undeclared" => {
                let (code, keep_writes) = ("made_up".to_owned(), true);
                let refusal = Refusal::common(ErrorCode::NotFound, "Nobody knows this code.");
                Err(NotesError::Common(Refusal { code, keep_writes, ..refusal }))
            }
            _ => Err(NotesError::WrongGuess),
        }
    }

    /// Count how often a word was guessed.
    #[action(access = read, idempotent)]
    fn guesses(_call: &Call, input: Guess) -> Result<Count, NotesError> {
        Ok(GUESSES.get(&input.word)?.map_or(Count::default(), |guesses| guesses.value))
    }

    /// Try to write although it may only read.
    #[action(access = read)]
    fn write_unseen(_call: &Call, input: Guess) -> Result<NoOutput, NotesError> {
        GUESSES.put(&input.word, &Count { count: 1 }, Expect::Any)?;
        Ok(NoOutput {})
    }

    /// Find notes.
    #[action(access = read, idempotent)]
    fn find(_call: &Call, input: Search) -> Result<Results, NotesError> {
        Ok(find(input)?)
    }

    /// Count notes.
    #[action(access = read, idempotent)]
    fn count(_call: &Call, input: CountSearch) -> Result<Count, NotesError> {
        Ok(count(input)?)
    }

    /// Write and delete notes, then find among them.
    #[action(access = write)]
    fn put_then_find(_call: &Call, input: PutThenFind) -> Result<Results, NotesError> {
        for put in input.put {
            NOTES.put(&put.id, &put.note, put.if_revision.into())?;
        }
        for id in input.delete {
            NOTES.delete(&id, Expect::Any)?;
        }
        Ok(find(input.find)?)
    }

    /// Write down a transfer of the ledger.
    ///
    /// Crashes while there is a note with its memo as id.
    #[action(access = internal, on = "ledger.transferred")]
    #[expect(clippy::panic, reason = "tests need an event that cannot be delivered")]
    fn on_transferred(_call: &Call, event: Happened<Transferred>) -> Result<NoOutput, NotesError> {
        if NOTES.get(&event.data.memo)?.is_some() {
            panic!("there is a note {}", event.data.memo);
        }
        let mut heard = HEARD.get(&event.subject)?.map(|heard| heard.value).unwrap_or_default();
        heard.transfers.push(event.data.transfer);
        HEARD.put(&event.subject, &heard, Expect::Any)?;
        Ok(NoOutput {})
    }

    /// Read which transfers were heard of, in the order they came.
    #[action(access = read, idempotent)]
    fn heard(_call: &Call, input: Subject) -> Result<Heard, NotesError> {
        Ok(HEARD.get(&input.subject)?.map(|heard| heard.value).unwrap_or_default())
    }

    /// Seal a text, open it again, and sign it.
    #[action(access = write)]
    fn seal_open(_call: &Call, input: Secret) -> Result<Opened, NotesError> {
        let data = input.text.as_bytes();
        let (mac, sealed) = (secrets::mac(data)?, secrets::seal(data)?);
        let mut changed = sealed.clone();
        changed.iter_mut().take(1).for_each(|byte| *byte ^= 1);
        let opened = secrets::open(&sealed)?;
        Ok(Opened {
            opened: opened.map(|data| String::from_utf8_lossy(&data).into_owned()),
            changed_opens: secrets::open(&changed)?.is_some(),
            mac_fits: secrets::is_mac(data, &mac)?,
            mac: hex(&mac),
            sealed: hex(&sealed),
        })
    }

    /// Return the time, random bytes and a new id of this call, store them, and write them to the log.
    #[action(access = write)]
    fn same_chance(call: &Call, input: NoteId) -> Result<Draw, NotesError> {
        // The read makes a conflict possible, after which the host runs the call again.
        let before = DRAWS.get(&input.id)?.map_or(0, |draw| draw.value.draws);
        let draw = Draw {
            draws: before + 1,
            now_ms: call.now(),
            random: hex(&call.random(16)),
            new_id: call.new_id("drw"),
        };
        // Unlike what is stored, the log keeps what a run drew that conflicted with others.
        log::info!("drew {} {} at {} ms", draw.random, draw.new_id, draw.now_ms);
        DRAWS.put(&input.id, &draw, Expect::Any)?;
        Ok(draw)
    }

    /// Read what `same_chance` has stored.
    #[action(access = read, idempotent)]
    fn chance(_call: &Call, input: NoteId) -> Result<Draw, NotesError> {
        Ok(DRAWS.get(&input.id)?.ok_or(NotesError::NoteNotFound)?.value)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
