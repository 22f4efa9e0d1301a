//! An organisation of two people of a walk, which lets a room and offers jobs. Proposals and
//! applications of others reach both members, who decide, assign and take over, and one of whom changes
//! the role of the other.

use crate::harness::{
    conversations::CONVERSATIONS,
    listings::room,
    pairings::{PAIRINGS, wanted_room},
    walk::Walker,
};
use rand::{RngExt as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const APPLICATIONS: &str = "applications";
const ORG: &str = "social_org";
/// The members: the owner of the organisation, and the one whose role changes.
const MEMBERS: [usize; 2] = [3, 4];
/// The people who look for a room and a job.
const SEEKERS: [usize; 3] = [0, 1, 2];
const ROLES: [&str; 3] = ["recruiter", "admin", "member"];

/// A call: the person who makes it, the capability, and the body.
type Act = (usize, &'static str, Value);

pub struct Office {
    org_id: Value,
    room: String,
    jobs: Vec<String>,
    /// The listing of each seeker.
    wanted: Vec<String>,
    /// The seekers, by the ids of their applications.
    applications: BTreeMap<String, usize>,
    /// The seekers, by the ids of their pairings.
    pairings: BTreeMap<String, usize>,
    /// The seekers, by the ids of their conversations.
    threads: BTreeMap<String, usize>,
}

/// Returns whether two people are the members of the organisation. They hear of each other's work for it,
/// also if one has blocked the other.
pub fn are_colleagues(one: usize, other: usize) -> bool {
    MEMBERS.contains(&one) && MEMBERS.contains(&other)
}

/// Returns whether an event of this type is about an organisation or an application.
pub fn is_of_office(event_type: &str) -> bool {
    event_type == "pairing.assigned"
        || event_type.starts_with("application.")
        || event_type.starts_with("org.")
}

async fn create(walker: &Walker<'_>, listing: Value) -> String {
    let created = walker.seeker.lister.result("create", listing).await;
    created["listing_id"].as_str().unwrap().to_owned()
}

impl Office {
    pub async fn open(walkers: &[Walker<'_>]) -> Self {
        let [owner, colleague] = MEMBERS.map(|member| &walkers[member]);
        let org = json!({ "action": "create", "name": "Copperleaf", "kind": "company" });
        let org_id = owner.agent().result(ORG, org).await["org_id"].clone();
        let invite = json!({
            "action": "invite_member", "org_id": org_id, "owner_id": colleague.id(),
            "role": "recruiter",
        });
        owner.agent().result(ORG, invite).await;
        let accept = json!({ "action": "respond_invite", "org_id": org_id, "decision": "accept" });
        colleague.agent().result(ORG, accept).await;
        let let_room = create(owner, room(json!({ "as_org": org_id }))).await;
        let mut jobs = Vec::new();
        for title in ["Rust engineer", "Wasm engineer"] {
            let job = room(json!({
                "category": "work.job.software", "title": title, "as_org": org_id,
                "attributes": { "employment_type": "FULL_TIME", "skills": ["Rust", "Wasm"] },
                "compensation": {
                    "currency": "USD", "min": 150_000, "max": 190_000, "unit": "YEAR",
                },
            }));
            jobs.push(create(owner, job).await);
        }
        let mut wanted = Vec::new();
        for seeker in SEEKERS {
            wanted.push(create(&walkers[seeker], wanted_room()).await);
        }
        Self {
            org_id,
            room: let_room,
            jobs,
            wanted,
            applications: BTreeMap::new(),
            pairings: BTreeMap::new(),
            threads: BTreeMap::new(),
        }
    }

    /// Lets somebody write to the organisation, or act for it.
    pub async fn step(&mut self, walkers: &[Walker<'_>], random: &mut StdRng) {
        let (by, capability, body) = self.random_act(walkers, random);
        let action = body["action"].clone();
        let reply = walkers[by].agent().call(capability, body).await;
        assert!(!reply.status.is_server_error(), "{capability} {action}: {}", reply.text);
        let result = &reply.body["result"];
        let id = |field: &str| result[field].as_str().map(str::to_owned);
        let mut seeker = None;
        for (field, known) in
            [("application_id", &mut self.applications), ("pairing_id", &mut self.pairings)]
        {
            if let Some(id) = id(field) {
                // Only the seekers make the first call about one.
                seeker = Some(*known.entry(id).or_insert(by));
            }
        }
        self.threads.extend(id("thread_id").zip(seeker));
    }

    fn random_act(&self, walkers: &[Walker<'_>], random: &mut StdRng) -> Act {
        let act = match random.random_range(0..16) {
            0..3 => None,
            3..7 => self.decision(random),
            7 | 8 => self.reaction(random),
            9 | 10 => Some(self.proposal(random)),
            11 | 12 => self.reply(random),
            13 => self.assignment(walkers, random),
            14 => self.message(random),
            _ => Some(self.change_of_role(walkers, random)),
        };
        act.unwrap_or_else(|| self.application(random))
    }

    fn application(&self, random: &mut StdRng) -> Act {
        let body = json!({
            "action": "apply", "listing_id": self.jobs.choose(random), "message": "I know Rust.",
            "profile": { "headline": "Engineer", "skills": ["Rust"] },
        });
        (*SEEKERS.choose(random).unwrap(), APPLICATIONS, body)
    }

    fn decision(&self, random: &mut StdRng) -> Option<Act> {
        let (id, _) = chosen(&self.applications, random)?;
        let decisions = ["shortlist", "invite", "invite", "offer", "reject"];
        let decision = *decisions.choose(random).unwrap();
        let mut body = json!({ "action": "decide", "application_id": id, "decision": decision });
        if decision == "reject" {
            body["reason_code"] = json!("skills");
        }
        Some((random_member(random), APPLICATIONS, body))
    }

    /// Returns what an applicant does with an application.
    fn reaction(&self, random: &mut StdRng) -> Option<Act> {
        let (id, applicant) = chosen(&self.applications, random)?;
        let mut body = json!({ "action": "answer", "application_id": id });
        match random.random_range(0..3) {
            0 => body["action"] = json!("withdraw"),
            1 => body["answer"] = json!("accept"),
            _ => body["answer"] = json!("decline"),
        }
        Some((applicant, APPLICATIONS, body))
    }

    fn proposal(&self, random: &mut StdRng) -> Act {
        let seeker = random.random_range(0..SEEKERS.len());
        let body = json!({
            "action": "propose", "from_listing_id": self.wanted[seeker],
            "to_listing_id": self.room, "message": "May I see the room?",
        });
        (SEEKERS[seeker], PAIRINGS, body)
    }

    fn reply(&self, random: &mut StdRng) -> Option<Act> {
        let (id, _) = chosen(&self.pairings, random)?;
        let mut body = json!({ "action": "reply", "pairing_id": id, "decision": "accept" });
        match random.random_range(0..4) {
            0 => body["decision"] = json!("decline"),
            1 => {
                body["decision"] = json!("ask");
                body["message"] = json!("Since when do you look?");
            }
            _ => {}
        }
        Some((random_member(random), PAIRINGS, body))
    }

    fn assignment(&self, walkers: &[Walker<'_>], random: &mut StdRng) -> Option<Act> {
        let (id, _) = chosen(&self.pairings, random)?;
        let body = match random.random_bool(0.5) {
            true => json!({ "action": "take_over", "pairing_id": id }),
            false => json!({
                "action": "assign", "pairing_id": id, "owner_id": walkers[random_member(random)].id(),
            }),
        };
        Some((random_member(random), PAIRINGS, body))
    }

    fn message(&self, random: &mut StdRng) -> Option<Act> {
        let (id, seeker) = chosen(&self.threads, random)?;
        let by = if random.random_bool(0.5) { seeker } else { random_member(random) };
        let body = json!({ "action": "send", "thread_id": id, "text": "What about Friday?" });
        Some((by, CONVERSATIONS, body))
    }

    fn change_of_role(&self, walkers: &[Walker<'_>], random: &mut StdRng) -> Act {
        let [owner, colleague] = MEMBERS;
        let body = json!({
            "action": "set_role", "org_id": self.org_id, "owner_id": walkers[colleague].id(),
            "role": ROLES.choose(random),
        });
        (owner, ORG, body)
    }
}

fn random_member(random: &mut StdRng) -> usize {
    *MEMBERS.choose(random).unwrap()
}

fn chosen(known: &BTreeMap<String, usize>, random: &mut StdRng) -> Option<(String, usize)> {
    let known: Vec<_> = known.iter().map(|(id, seeker)| (id.clone(), *seeker)).collect();
    known.choose(random).cloned()
}
