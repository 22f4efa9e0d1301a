//! Random texts that one person leaves with the capabilities, and where they are found again.

use crate::harness::database::Database;
use rand::RngExt as _;
use std::collections::{BTreeMap, BTreeSet};

/// The origin of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The person has written it for themselves.
    Own,
    /// The person has written it for others.
    Shared,
    /// The host or a capability has made it from the person's data.
    Made,
    /// It is the id of something of the person, and tells nothing as soon as nothing else has it.
    Id,
}

struct Canary {
    /// The capability and the place where it was left.
    place: (&'static str, &'static str),
    origin: Origin,
    text: String,
    /// The part that is searched for.
    part: String,
}

/// The texts that one person has left.
#[derive(Default)]
pub struct Canaries(Vec<Canary>);

/// The number of letters with which words can be alike: a full-text index may store a word without the
/// beginning that it shares with the previous one.
const BEGINNING: usize = 4;

impl Canaries {
    /// Returns a new word that nobody else may read.
    pub fn own(&mut self, capability: &'static str, place: &'static str) -> String {
        self.plant((capability, place), Origin::Own)
    }

    /// Returns a new word that others may read as long as the person exists.
    pub fn shared(&mut self, capability: &'static str, place: &'static str) -> String {
        self.plant((capability, place), Origin::Shared)
    }

    /// Notes a text that was made from the person's data, for the person alone.
    pub fn note(&mut self, capability: &'static str, place: &'static str, text: &str) {
        self.add((capability, place), Origin::Made, text);
    }

    /// Notes a text that was made from the person's data, for others too.
    pub fn note_shared(&mut self, capability: &'static str, place: &'static str, text: &str) {
        self.add((capability, place), Origin::Shared, text);
    }

    /// Notes the id of something that is the person's alone.
    pub fn note_id(&mut self, capability: &'static str, place: &'static str, id: &str) {
        self.add((capability, place), Origin::Id, id);
    }

    fn add(&mut self, place: (&'static str, &'static str), origin: Origin, text: &str) {
        assert!(text.len() >= 10, "{place:?}: {text} could be anywhere");
        let (text, part) = (text.to_owned(), text.to_owned());
        self.0.push(Canary { place, origin, text, part });
    }

    /// Returns a new word of letters only, because texts with digits can be contact data.
    fn plant(&mut self, place: (&'static str, &'static str), origin: Origin) -> String {
        let mut random = rand::rng();
        let text: String = (0..16).map(|_| char::from(random.random_range(b'a'..=b'z'))).collect();
        let part = text[BEGINNING..].to_owned();
        self.0.push(Canary { place, origin, text: text.clone(), part });
        text
    }

    /// Returns the places of each capability.
    pub fn table(&self) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        let mut table: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for Canary { place: (capability, place), .. } in &self.0 {
            assert!(table.entry(*capability).or_default().insert(*place), "{place} twice");
        }
        table
    }

    /// Returns the places of all texts.
    pub fn places(&self) -> Vec<String> {
        self.where_text(|_| true)
    }

    /// Returns the places whose texts are in this one.
    pub fn in_text(&self, text: &str) -> Vec<String> {
        self.where_text(|canary| text.contains(&canary.text))
    }

    /// Returns the places of the texts that the person has written, and that are in this one.
    pub fn written_in(&self, text: &str) -> Vec<String> {
        let is_written = |origin| matches!(origin, Origin::Own | Origin::Shared);
        self.where_text(|canary| is_written(canary.origin) && text.contains(&canary.text))
    }

    /// Returns the places whose texts are not in this one.
    pub fn missing_in(&self, text: &str) -> Vec<String> {
        self.where_text(|canary| !text.contains(&canary.text))
    }

    /// Returns the places of the texts that nobody else may read, and that are in this one.
    pub fn private_in(&self, text: &str) -> Vec<String> {
        self.where_text(|canary| canary.origin != Origin::Shared && text.contains(&canary.text))
    }

    /// Returns the places whose texts are in a database.
    pub fn in_database(&self, database: &Database) -> Vec<String> {
        let found = self.parts_in(database);
        self.where_text(|canary| found.contains(&canary.part))
    }

    /// Returns the places whose texts are in a database, without ids.
    pub fn left_in(&self, database: &Database) -> Vec<String> {
        let found = self.parts_in(database);
        self.where_text(|canary| canary.origin != Origin::Id && found.contains(&canary.part))
    }

    fn parts_in(&self, database: &Database) -> BTreeSet<String> {
        let parts: Vec<&str> = self.0.iter().map(|canary| canary.part.as_str()).collect();
        database.texts_found(&parts).into_iter().collect()
    }

    fn where_text(&self, is_wanted: impl Fn(&Canary) -> bool) -> Vec<String> {
        let wanted = self.0.iter().filter(|canary| is_wanted(canary));
        wanted
            .map(|Canary { place: (capability, place), .. }| format!("{capability}: {place}"))
            .collect()
    }
}
