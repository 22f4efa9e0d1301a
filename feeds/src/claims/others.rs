//! Claims besides those of funding and hiring in sentences.

use super::{
    Claim, Modality, Predicate,
    company::Mention,
    frame::{Role, Standing, Subject},
    lexicon::Class,
    reader::Item,
};
use std::collections::BTreeSet;

impl Item<'_> {
    /// An item of a board of open posts is itself a post, unless it says that it is over.
    pub(super) fn posted(&self, claims: &[Claim]) -> Option<Claim> {
        let told = claims.iter().any(|claim| {
            matches!(claim.predicate, Predicate::IsHiring | Predicate::StoppedHiring)
                && claim.company.is_some()
        });
        if !self.is_board() || told {
            return None;
        }
        let company = self.frame.own.or(self.topic)?;
        Some(Claim {
            company: Some(company),
            predicate: Predicate::IsHiring,
            amount: None,
            round: None,
            investors: Vec::new(),
            is_negated: false,
            modality: Modality::Announced,
            evidence: self.words(&(0..self.text().title_end)),
            doubt: None,
        })
    }

    /// Below a title about the round of a rival or a customer, a round of the company is told in passing.
    pub(super) fn hold_asides(&self, claims: &mut [Claim]) {
        let is_funding = |claim: &Claim| claim.predicate == Predicate::RaisedFunding;
        let title = 0..self.text().title_end;
        let is_related = |mention: &Mention| self.frame.role(mention) == Role::Relation;
        let begins =
            claims.first().is_some_and(|claim| is_funding(claim) && claim.company.is_none());
        if begins && self.frame.mentions_in(&title).iter().any(is_related) {
            for claim in claims.iter_mut().filter(|claim| is_funding(claim)) {
                claim.modality = Modality::Background;
            }
        }
    }

    /// Returns the first claim of each other kind, as the title or the first sentences tell it.
    pub(super) fn others(&self) -> Vec<Claim> {
        const OTHERS: [(Class, Predicate); 9] = [
            (Class::Acquire, Predicate::Acquired),
            (Class::Acquired, Predicate::Acquired),
            (Class::Shut, Predicate::ShutDown),
            (Class::Public, Predicate::WentPublic),
            (Class::Meetup, Predicate::Met),
            (Class::Launch, Predicate::Launched),
            (Class::Appoint, Predicate::Appointed),
            (Class::Partner, Predicate::Partnered),
            (Class::Announce, Predicate::Announced),
        ];
        let mut claims = Vec::new();
        for (class, predicate) in OTHERS {
            let found =
                self.text().sentences.iter().take(6).find_map(|sentence| {
                    Some((sentence, self.frame.cues_in(sentence, class).next()?))
                });
            let Some((sentence, event)) = found else { continue };
            let company = match self.frame.subject(sentence, &event, false) {
                Subject::Company(company) => Some(company),
                Subject::Topic => self.topic,
                Subject::Other => None,
            };
            let modality = match self.frame.standing(sentence, &event) {
                Standing::Fact if self.reported => Modality::Reported,
                Standing::Fact => Modality::Announced,
                Standing::Hearsay | Standing::Open | Standing::Rumoured => Modality::Rumoured,
                Standing::Planned => Modality::Planned,
                Standing::Denied => Modality::Denied,
                Standing::Past => Modality::Background,
            };
            claims.push(Claim {
                company,
                predicate,
                amount: None,
                round: None,
                investors: Vec::new(),
                is_negated: modality == Modality::Denied,
                modality,
                evidence: self.words(sentence),
                doubt: None,
            });
        }
        claims
    }
}

/// An item that tells of the rounds of several companies is a list, and no news of one of them.
pub(super) fn hold_lists(claims: &mut [Claim]) {
    let funding = |claim: &Claim| claim.predicate == Predicate::RaisedFunding && claim.holds();
    let companies: BTreeSet<usize> =
        claims.iter().filter(|claim| funding(claim)).filter_map(|claim| claim.company).collect();
    if companies.len() >= 3 {
        for claim in claims.iter_mut().filter(|claim| funding(claim)) {
            claim.modality = Modality::Background;
        }
    }
}
