//! The numbering plan of a country code: its regions, and the patterns of their numbers.

use anyhow::Result;
use phonenumber::metadata::{Descriptor, Metadata};
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::util::{primitives::StateID, start, syntax};
use regex_automata::{Anchored, MatchKind};

/// The kinds of numbers, with the same values as in `src/plans.rs`.
pub(crate) const UNKNOWN: u8 = 0;
pub(crate) const OTHER: u8 = 1;
pub(crate) const MOBILE: u8 = 2;

/// The region of the codes of no country: satellites, ships and international networks, whose messages cost
/// many times as much. The metadata calls some of them mobile.
const NO_COUNTRY: &str = "001";

/// The regions that share a country code, in the order in which they are tried.
pub(crate) struct Plan {
    regions: Vec<Region>,
}

struct Region {
    /// The pattern of the first digits, if it distinguishes the region from the others.
    leading: Option<Pattern>,
    general: Pattern,
    /// The patterns of kinds, by precedence: freephone, premium rate, internet telephony and so on
    /// come before mobile and fixed lines.
    kinds: Vec<(u8, Pattern)>,
}

struct Pattern(dense::DFA<Vec<u32>>);

/// The state after some digits: for each region that is still possible, the states of its patterns.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place(Vec<Regional>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Regional {
    region: usize,
    leading: Leading,
    general: Option<StateID>,
    kinds: Vec<Option<StateID>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Leading {
    /// The number is of this region if one of the region's patterns matches.
    Absent,
    Open(StateID),
    /// The first digits have matched: the number is of this region and no other.
    Matched,
}

impl Plan {
    pub(crate) fn of(regions: &[&Metadata]) -> Result<Self> {
        // If a code has only one region, there is nothing to distinguish.
        let alone = regions.len() == 1;
        let regions = regions.iter().map(|region| Region::of(region, alone));
        Ok(Self { regions: regions.collect::<Result<_>>()? })
    }

    pub(crate) fn start(&self) -> Result<Place> {
        let regions = self.regions.iter().enumerate();
        Ok(Place(regions.map(|(at, region)| region.start(at)).collect::<Result<_>>()?))
    }

    /// Returns the state after one more digit; `None` if no number can begin so.
    pub(crate) fn step(&self, place: &Place, digit: u8) -> Option<Place> {
        let mut next = Vec::new();
        for regional in &place.0 {
            let region = self.regions.get(regional.region)?;
            let Some(regional) = region.step(regional, digit) else { continue };
            let matched = regional.leading == Leading::Matched;
            next.push(regional);
            if matched {
                break;
            }
        }
        next.iter().any(|regional| regional.general.is_some()).then_some(Place(next))
    }

    /// Returns the kind of the number that ends here; [`UNKNOWN`] if no number does.
    pub(crate) fn kind(&self, place: &Place) -> u8 {
        for regional in &place.0 {
            let Some(region) = self.regions.get(regional.region) else { continue };
            let kind = region.kind(regional);
            match regional.leading {
                Leading::Matched => return kind,
                Leading::Absent if kind != UNKNOWN => return kind,
                Leading::Absent | Leading::Open(_) => {}
            }
        }
        UNKNOWN
    }
}

impl Region {
    fn of(region: &Metadata, alone: bool) -> Result<Self> {
        let of = region.descriptors();
        let special = [
            of.premium_rate(),
            of.toll_free(),
            of.shared_cost(),
            of.voip(),
            of.personal_number(),
            of.pager(),
            of.uan(),
            of.voicemail(),
        ];
        let mut kinds = Vec::new();
        let mobile = if region.id() == NO_COUNTRY { OTHER } else { MOBILE };
        let precedence: [(u8, &[Option<&Descriptor>]); 3] =
            [(OTHER, &special), (mobile, &[of.mobile()]), (OTHER, &[of.fixed_line()])];
        for (kind, described) in precedence {
            kinds.extend(Pattern::described(described)?.map(|pattern| (kind, pattern)));
        }
        let leading = region.leading_digits().filter(|_| !alone);
        let leading = leading.map(|pattern| Pattern::any_of(&[pattern.as_str()])).transpose()?;
        let general = Pattern::any_of(&[of.general().national_number().as_str()])?;
        Ok(Self { leading, general, kinds })
    }

    fn start(&self, region: usize) -> Result<Regional> {
        let leading = self.leading.as_ref().map(Pattern::start).transpose()?;
        let leading = leading.map_or(Leading::Absent, Leading::Open);
        let kinds = self.kinds.iter().map(|(_, pattern)| pattern.start().map(Some));
        let (general, kinds) = (Some(self.general.start()?), kinds.collect::<Result<_>>()?);
        Ok(Regional { region, leading, general, kinds })
    }

    /// Returns the state after one more digit; `None` if the number is of another region.
    fn step(&self, at: &Regional, digit: u8) -> Option<Regional> {
        let general = at.general.and_then(|state| self.general.step(state, digit));
        let leading = match (&at.leading, &self.leading) {
            (Leading::Open(state), Some(pattern)) => {
                let state = pattern.step(*state, digit)?;
                if pattern.fits(state) { Leading::Matched } else { Leading::Open(state) }
            }
            (Leading::Matched, _) => Leading::Matched,
            (Leading::Absent | Leading::Open(_), _) => {
                general?;
                Leading::Absent
            }
        };
        // If the general pattern does not match, the others do not count.
        let step = |((_, pattern), state): (&(u8, Pattern), &Option<StateID>)| {
            general.and(*state).and_then(|state| pattern.step(state, digit))
        };
        let kinds = self.kinds.iter().zip(&at.kinds).map(step).collect();
        Some(Regional { region: at.region, leading, general, kinds })
    }

    fn kind(&self, at: &Regional) -> u8 {
        if !at.general.is_some_and(|state| self.general.fits(state)) {
            return UNKNOWN;
        }
        let mut kinds = self.kinds.iter().zip(&at.kinds);
        let fits = kinds.find(|((_, pattern), state)| state.is_some_and(|at| pattern.fits(at)));
        fits.map_or(UNKNOWN, |((kind, _), _)| *kind)
    }
}

impl Pattern {
    fn described(kinds: &[Option<&Descriptor>]) -> Result<Option<Self>> {
        let patterns = kinds.iter().flatten().map(|kind| kind.national_number().as_str());
        let patterns: Vec<_> = patterns.collect();
        (!patterns.is_empty()).then(|| Self::any_of(&patterns)).transpose()
    }

    fn any_of(patterns: &[&str]) -> Result<Self> {
        let whole: Vec<_> = patterns.iter().map(|pattern| format!("(?:{pattern})")).collect();
        let syntax = syntax::Config::new().ignore_whitespace(true).unicode(false).utf8(false);
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            // All alternatives of a pattern are followed, because the whole number has to match.
            .match_kind(MatchKind::All)
            .minimize(true);
        Ok(Self(dense::Builder::new().syntax(syntax).configure(config).build(&whole.join("|"))?))
    }

    fn start(&self) -> Result<StateID> {
        Ok(self.0.start_state(&start::Config::new().anchored(Anchored::Yes))?)
    }

    fn step(&self, state: StateID, digit: u8) -> Option<StateID> {
        let next = self.0.next_state(state, b'0' + digit);
        (!self.0.is_dead_state(next)).then_some(next)
    }

    /// Returns whether the digits up to here match the pattern.
    fn fits(&self, state: StateID) -> bool {
        self.0.is_match_state(self.0.next_eoi_state(state))
    }
}
