//! Applications and enquiries, when they are sent.

use crate::recipients::{Recipients, ensure_accepting};
use crate::subject::{self, Subject};
use crate::{
    credits, documents::*, notices, questions, refusals::*, states::*, texts::Texts, transitions,
    types::*, views,
};
use people_kit::listings::{Card, Profile as Listing};
use portolan_sdk::prelude::*;

/// The parts of an application, beside its subject.
struct Sent {
    action: &'static str,
    kind: Kind,
    listing: Option<Listing>,
    profile: Option<Profile>,
    message: Option<String>,
    answers: Vec<Answered>,
}

pub(crate) fn apply(call: &Call, input: Apply) -> Result<views::View> {
    let me = call.require_owner()?;
    let of = RoleInput { role_id: input.role_id, listing_id: input.listing_id };
    let subject = subject::role(&of)?;
    subject::ensure_open(me, &subject)?;
    if input.profile.is_none() && input.profile_listing_id.is_none() {
        let expected = "a profile, a listing in profile_listing_id, or both";
        return Err(Refusal::validation("/profile", "required", expected).into());
    }
    subject::ensure_no_pairing(me, &subject)?;
    let listing = input.profile_listing_id.as_deref();
    let own = |listing_id| subject::own_listing(me, listing_id, Some(subject::CANDIDATE));
    let listing = listing.map(own).transpose()?;
    let mut texts = Texts::new(&subject.category);
    let profile = input.profile.map(|profile| texts.read_profile(profile));
    let message = texts.read_lines("/message", input.message.as_deref());
    let answers = questions::answered(&of, subject.role_id(), &input.answers, &mut texts)?;
    texts.check()?;
    let sent = Sent { action: "apply", kind: Kind::Role, listing, profile, message, answers };
    send(call, me, subject, sent)
}

pub(crate) fn enquire(call: &Call, input: Enquire) -> Result<views::View> {
    let me = call.require_owner()?;
    let subject = subject::of_enquiry(&input)?;
    let own = |listing_id: &str| subject::own_listing(me, listing_id, None);
    let listing = input.listing_id.as_deref().map(own).transpose()?;
    let mut texts = Texts::new(&subject.category);
    let message = texts.read_lines("/message", Some(&*input.message));
    texts.check()?;
    let kind = match input.purpose {
        Purpose::Contact => Kind::Contact,
        Purpose::Service => Kind::Service,
        Purpose::Pitch => Kind::Pitch,
        Purpose::Meeting => Kind::Meeting,
    };
    let (profile, answers) = (None, Vec::new());
    let sent = Sent { action: "enquire", kind, listing, profile, message, answers };
    send(call, me, subject, sent)
}

/// Delivers an application to those who act for the recipient, or keeps it until somebody does.
fn send(call: &Call, me: &str, subject: Subject, sent: Sent) -> Result<views::View> {
    let Sent { action, kind, listing, profile, message, answers } = sent;
    let Subject { about, to_owner_id, title, category, apply_url, .. } = subject;
    let now = call.now();
    let mut value = Application {
        owner_id: me.to_owned(),
        agent_id: Some(call.require_agent()?.agent_id.clone()),
        kind,
        about,
        to_owner_id,
        inbox: None,
        title,
        category,
        apply_url,
        profile_listing_id: listing.as_ref().map(|listing| listing.listing_id.clone()),
        profile,
        message,
        answers,
        state: State::Waiting,
        changed_at: now,
        due_at: None,
        decisions: Vec::new(),
        contact_id: None,
        thread_id: None,
        thread_closed: false,
        hold_id: None,
        cost: 0,
        contact: Consents::default(),
        end_reason: None,
        applicant_away: false,
        recipient_away: false,
    };
    let recipients = Recipients::of(&value)?;
    if recipients.include(me) {
        return Err(ApplicationError::SelfApplication);
    }
    let is_unclaimed = recipients.are_unclaimed();
    if recipients.are_unreachable() || is_unclaimed && value.about.target_id.is_none() {
        return Err(ApplicationError::RecipientNotAccepting);
    }
    ensure_accepting(&value)?;
    transitions::ensure_free(call, &value)?;
    if is_unclaimed {
        transitions::ensure_room(&value)?;
    }
    SENT_A_DAY.count(call, DAYS, me, list().field("role", "sent"))?;
    let id = call.new_id("app");
    credits::hold(&id, action, &mut value)?;
    let mut application = Stored::new(id, value, now);
    let to = if is_unclaimed { State::Waiting } else { State::Submitted };
    transitions::enter(call, &mut application, action, to)?;
    let facts = Facts { card: listing.as_ref().map(Card::from), ..Facts::default() };
    notices::RECEIPT.notify(call, &application, &recipients.reachable, facts)?;
    views::view(me, &application)
}
