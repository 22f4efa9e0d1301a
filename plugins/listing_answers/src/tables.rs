//! The tables that the build makes from the files of `listing_taxonomy`.

/// A category that can have listings.
pub struct Category {
    pub code: &'static str,
    /// The kind of its listings' attributes.
    pub kind: &'static str,
    pub counterpart: &'static str,
    pub sides: &'static [&'static str],
    pub min_age: u8,
}

/// The rules by which a listing of one kind answers a listing of another.
pub(crate) struct Answers {
    pub(crate) from: &'static str,
    pub(crate) of: &'static str,
    pub(crate) rules: &'static [Rule],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    AtLeast,
    AtMost,
    WithinRange,
    Overlaps,
    ContainsAll,
    SharesTags,
    CoversTags,
    Holds,
    Implies,
    Avoids,
    OrderedLevel,
    LanguageLevel,
    WithinRegion,
    WithinBudget,
    PaysEnough,
    PaysEither,
    WithinKm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excludes {
    Never,
    One,
    Both,
}

/// The listing that makes the distance irrelevant if its field `remote` or its attributes say that
/// it is remote. With `Never`, either listing does so, but only by its field `remote`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remote {
    Never,
    Other,
    Either,
}

/// One rule; `answers.toml` describes its members.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) ask: &'static str,
    pub(crate) upto: Option<&'static str>,
    pub(crate) unless: Option<&'static str>,
    pub(crate) with: Option<&'static str>,
    pub(crate) have: &'static str,
    pub(crate) by: Comparison,
    pub(crate) plus: f64,
    pub(crate) slack: f64,
    pub(crate) relative: bool,
    pub(crate) in_currency: bool,
    pub(crate) near: &'static [(&'static str, &'static str)],
    pub(crate) scale: &'static [&'static str],
    pub(crate) when: &'static [&'static str],
    pub(crate) needs: &'static [&'static str],
    pub(crate) partly: &'static [&'static str],
    pub(crate) near_km: f64,
    pub(crate) remote: Remote,
    pub(crate) moves: Option<&'static str>,
    pub(crate) weight: f64,
    pub(crate) excludes: Excludes,
    /// Whether every listing of the asker's kind has the asked values among its facts
    /// (`ask_indexed`), and every listing of the other kind the answering values (`have_indexed`).
    pub(crate) ask_indexed: bool,
    pub(crate) have_indexed: bool,
}

/// The phrases by which texts say a value; `said.toml` describes its members.
pub(crate) struct Said {
    pub(crate) kinds: &'static [&'static str],
    pub(crate) attribute: &'static str,
    /// The value as JSON.
    pub(crate) value: Option<&'static str>,
    pub(crate) number: bool,
    pub(crate) plus: f64,
    pub(crate) times: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) part: Option<&'static str>,
    pub(crate) unit: Option<&'static str>,
    pub(crate) negated: bool,
    pub(crate) phrases: &'static [&'static [&'static str]],
}

/// The form in which texts of some kinds of listings state a price; `prices.toml` describes its
/// members.
pub(crate) struct Price {
    pub(crate) kinds: &'static [&'static str],
    pub(crate) part: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) least: f64,
    pub(crate) least_with_currency: f64,
}

/// An author's stance towards a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stance {
    Has,
    Lacks,
    Needs,
    Refuses,
    Accepts,
}

/// The meaning of a word or phrase for a topic in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    Not,
    Refuses,
    Accepts,
    Needs,
    Past,
}

/// The strength with which a word or phrase shows that its sentence asks for something or excludes
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    Weak,
    Clear,
    Strong,
}

/// A word or phrase of a language; of any language if `language` is empty.
pub(crate) struct Pattern {
    pub(crate) language: &'static str,
    pub(crate) words: &'static [&'static str],
    /// The stem of a single word whose other forms match too; empty if there is none.
    pub(crate) stem: &'static str,
}

/// A thing that people have, need or refuse; `topics.toml` describes its members.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) kinds: &'static [&'static str],
    pub(crate) parts: &'static [&'static str],
    /// Whether a refusal says only that the thing is lacking.
    pub(crate) is_given: bool,
    /// Whether a contradiction does not exclude.
    pub(crate) is_mild: bool,
    pub(crate) words: &'static [Pattern],
    pub(crate) cues: &'static [(Cue, Pattern)],
    pub(crate) had_in: &'static [&'static str],
    pub(crate) needed_in: &'static [&'static str],
    pub(crate) refused_in: &'static [&'static str],
    pub(crate) never_refused_in: &'static [&'static str],
    /// The unstated wishes of people of these kinds of listings.
    pub(crate) assumed: &'static [(Stance, &'static [&'static str])],
    pub(crate) says: &'static [(Says, Pattern)],
    pub(crate) attributes: &'static [OfAttribute],
}

/// The stance that a phrase shows by itself, in texts of these kinds or of all if there are none.
pub(crate) struct Says {
    pub(crate) kinds: &'static [&'static str],
    pub(crate) stance: Stance,
    pub(crate) is_negatable: bool,
}

/// The stance that a value of an attribute shows.
pub(crate) struct OfAttribute {
    pub(crate) kinds: &'static [&'static str],
    pub(crate) name: &'static str,
    pub(crate) value: &'static str,
    pub(crate) stance: Stance,
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// Returns the category with this code; `None` if there is none, or if it cannot have listings.
pub fn category(code: &str) -> Option<&'static Category> {
    CATEGORIES.iter().find(|category| category.code == code)
}

/// Returns the rules by which a listing of the kind `of` answers one of the kind `from`.
pub(crate) fn rules(from: &str, of: &str) -> &'static [Rule] {
    let found = ANSWERS.iter().find(|answers| answers.from == from && answers.of == of);
    found.map_or(&[], |answers| answers.rules)
}
