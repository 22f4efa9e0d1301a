//! The next steps of an agent, which depend on its state and on the catalog.

use crate::{EVENTS, READ, State, WRITE, holds};
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

/// A call or an HTTP request, like the `next` of an answer.
#[output(PartialEq)]
pub(crate) struct Step {
    purpose: Purpose,
    /// The purpose of the step, in one sentence.
    why: &'static str,
    /// The capability to call.
    capability: Option<&'static str>,
    /// The body of the call.
    input: Option<BTreeMap<&'static str, &'static str>>,
    /// The fields of the body that are still missing.
    missing: Option<Vec<&'static str>>,
    /// The question for the person whose answer is the missing field.
    ask_user: Option<&'static str>,
    /// The request to make, relative to the host.
    http: Option<Request>,
    /// The scopes to request.
    scope: Option<String>,
}

#[choice]
enum Purpose {
    /// Ask a person to claim the agent, so that it may write.
    Claim,
    /// Get a token with the scopes that this one lacks.
    GetScopes,
    /// See which capabilities exist.
    BrowseCatalog,
    /// Read and complete what others see of the person.
    ReadProfile,
    /// Search the questions and answers about this service.
    SearchFaq,
}

#[output(Clone, Copy, PartialEq)]
struct Request {
    method: &'static str,
    url: &'static str,
}

/// A step that calls a capability, and the agents to which it is offered.
struct Offer {
    purpose: Purpose,
    why: &'static str,
    state: Option<State>,
    test_mode: Option<bool>,
    scope: Option<&'static str>,
    capability: &'static str,
    input: &'static [(&'static str, &'static str)],
    missing: Option<&'static str>,
    ask_user: Option<&'static str>,
}

const CLAIM: Offer = Offer {
    purpose: Purpose::Claim,
    why: "Writing needs a person who has claimed this agent with a code sent to their phone.",
    state: Some(State::Anonymous),
    test_mode: Some(false),
    scope: None,
    capability: "svc.phone-binding",
    input: &[("action", "bind")],
    missing: Some("phone"),
    ask_user: Some("Which mobile number may I send a code to?"),
};

/// The same step in test mode, in which numbers are fictitious and the answer contains the code.
const REHEARSE_CLAIM: Offer = Offer {
    test_mode: Some(true),
    input: &[("action", "bind"), ("phone", "+14155550100")],
    missing: None,
    ask_user: None,
    ..CLAIM
};

const READ_PROFILE: Offer = Offer {
    purpose: Purpose::ReadProfile,
    why: "Others see this profile: ask the person what should stand in it.",
    state: Some(State::Claimed),
    test_mode: None,
    scope: Some(READ),
    capability: "owners",
    input: &[("action", "me")],
    missing: None,
    ask_user: None,
};

const SEARCH_FAQ: Offer = Offer {
    purpose: Purpose::SearchFaq,
    why: "Questions about this service are answered here, each with the calls to make.",
    state: None,
    test_mode: None,
    scope: Some(READ),
    capability: "faq_search",
    input: &[("action", "search")],
    missing: Some("query"),
    ask_user: None,
};

/// Returns the next steps, most useful first. Only capabilities in the catalog are offered.
pub(crate) fn steps(
    state: State,
    scopes: &[String],
    test_mode: bool,
    catalog: &[String],
) -> Vec<Step> {
    let fits = |offer: &&Offer| {
        offer.state.is_none_or(|wanted| wanted == state)
            && offer.test_mode.is_none_or(|wanted| wanted == test_mode)
            && offer.scope.is_none_or(|scope| holds(scopes, scope))
            && catalog.iter().any(|id| id == offer.capability)
    };
    let offered = |offers: &[Offer]| offers.iter().filter(fits).map(call).collect::<Vec<_>>();
    let mut steps = offered(&[CLAIM, REHEARSE_CLAIM]);
    steps.extend(get_scopes(scopes));
    steps.push(request(
        Purpose::BrowseCatalog,
        "The catalog lists every capability with its actions, and where their schemas are.",
        Request { method: "GET", url: "/v1/capabilities" },
    ));
    steps.extend(offered(&[READ_PROFILE, SEARCH_FAQ]));
    steps
}

fn call(offer: &Offer) -> Step {
    view!(offer => Step {
        purpose, why, ask_user;
        capability: Some(offer.capability),
        input: Some(offer.input.iter().copied().collect()),
        missing: offer.missing.map(|field| vec![field]),
        http: None,
        scope: None,
    })
}

/// Returns the step that gets a token with all scopes, if this one lacks any.
fn get_scopes(scopes: &[String]) -> Option<Step> {
    let all = [READ, WRITE, EVENTS];
    let lacks = all.iter().any(|scope| !holds(scopes, scope));
    lacks.then(|| Step {
        scope: Some(all.join(" ")),
        ..request(
            Purpose::GetScopes,
            "This token lacks scopes: ask for another one with the same credentials.",
            Request { method: "POST", url: "/oauth/token" },
        )
    })
}

fn request(purpose: Purpose, why: &'static str, http: Request) -> Step {
    let (capability, input, missing, ask_user, scope) = Default::default();
    Step { purpose, why, capability, input, missing, ask_user, http: Some(http), scope }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purposes(state: State, scopes: &[&str], test_mode: bool, catalog: &[&str]) -> Vec<Purpose> {
        let owned = |texts: &[&str]| -> Vec<_> { texts.iter().map(|&text| text.into()).collect() };
        let steps = steps(state, &owned(scopes), test_mode, &owned(catalog));
        steps.into_iter().map(|step| step.purpose).collect()
    }

    const ALL: [&str; 3] = ["faq_search", "owners", "svc.phone-binding"];

    #[test]
    fn steps_fit_the_agent_and_the_catalog() {
        use Purpose::{BrowseCatalog, Claim, GetScopes, ReadProfile, SearchFaq};
        assert_eq!(
            purposes(State::Anonymous, &[READ], false, &ALL),
            [Claim, GetScopes, BrowseCatalog, SearchFaq]
        );
        assert_eq!(
            purposes(State::Claimed, &[READ, WRITE, EVENTS], true, &ALL),
            [BrowseCatalog, ReadProfile, SearchFaq]
        );
        assert_eq!(purposes(State::Anonymous, &[], true, &[]), [GetScopes, BrowseCatalog]);
    }

    #[test]
    fn a_test_mode_claim_needs_no_question() {
        let catalog = ["svc.phone-binding".to_owned()];
        let step = |test_mode| steps(State::Anonymous, &[], test_mode, &catalog).swap_remove(0);
        assert_eq!(step(false).missing, Some(vec!["phone"]));
        assert_eq!((step(true).missing, step(true).ask_user), (None, None));
    }
}
