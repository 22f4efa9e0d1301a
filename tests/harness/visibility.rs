//! A few people who create listings, connect and block each other at random, and the model of who
//! may see whom.

use crate::harness::{
    Agent, Host,
    listings::{Lister, room},
};
use rand::{RngExt as _, rngs::StdRng};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

pub const PEOPLE: usize = 5;
/// The maximum number of listings of a person; few, so that every search is short.
const LISTINGS_EACH: usize = 3;
/// Ids of a person and of a listing that do not exist.
pub const UNKNOWN_OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub const UNKNOWN_LISTING: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const RELATIONSHIPS: &str = "social_relationships";
const PERMISSIONS: &str = "social_permissions";

/// The viewer and the person viewed, as indexes.
pub type Pair = (usize, usize);

pub fn pairs() -> Vec<Pair> {
    let all = (0..PEOPLE).flat_map(|viewer| (0..PEOPLE).map(move |other| (viewer, other)));
    all.filter(|(viewer, other)| viewer != other).collect()
}

pub struct Listing {
    pub id: String,
    pub owner: usize,
    pub remote: bool,
    /// A word that no other listing has.
    pub word: String,
    visibility: String,
    state: String,
}

impl Listing {
    fn is_active(&self, visibility: &str) -> bool {
        self.state == "active" && self.visibility == visibility
    }

    pub fn is_found_by_all(&self) -> bool {
        self.is_active("public")
    }

    fn is_withdrawn(&self) -> bool {
        self.state == "withdrawn"
    }
}

/// Returns a word that is in no listing.
pub fn unused_word() -> &'static str {
    "vexilologia"
}

/// A call, and whether its answer is the same for a person who does not exist even if the caller
/// has blocked or muted the person.
pub struct Probe {
    pub capability: String,
    pub body: Value,
    pub if_related: bool,
}

impl Probe {
    fn new(capability: &str, body: Value, if_related: bool) -> Self {
        Self { capability: capability.to_owned(), body, if_related }
    }
}

fn batch_check(object: &str, relations: &[&str]) -> Value {
    let questions =
        relations.iter().map(|relation| json!({ "relation": relation, "object": object }));
    json!({ "action": "batch_check", "questions": questions.collect::<Vec<_>>() })
}

/// Returns every call that anybody can make about a person by their id.
pub fn about_person(owner_id: &str) -> Vec<Probe> {
    let of = |action: &str| json!({ "action": action, "owner_id": owner_id });
    let reply =
        |action: &str, kind: &str| json!({ "action": action, "owner_id": owner_id, "kind": kind });
    let object = format!("owner:{owner_id}");
    let relations = [
        "self",
        "delegate",
        "connected",
        "freebusy_viewer",
        "contact_viewer",
        "can_see_freebusy",
        "can_see_contact",
        "can_message",
        "blocked",
        "apart",
    ];
    let calendar = batch_check(&format!("calendar:{owner_id}"), &["owner", "scheduler"]);
    let seen =
        |action: &str| json!({ "action": action, "object": object, "relation": "connected" });
    let apart = |relation: &str| {
        let (me, subject) = ("owner:me", object.as_str());
        json!({ "action": "check", "subject": subject, "relation": relation, "object": me })
    };
    let mut all = vec![
        Probe::new("owners", of("get"), true),
        Probe::new(RELATIONSHIPS, of("mutuals"), true),
        Probe::new(RELATIONSHIPS, reply("accept", "follow"), true),
        Probe::new(RELATIONSHIPS, reply("accept", "connect"), true),
        Probe::new(RELATIONSHIPS, reply("reject", "follow"), true),
        Probe::new(RELATIONSHIPS, reply("reject", "connect"), true),
        Probe::new(RELATIONSHIPS, of("unfollow"), true),
        Probe::new(RELATIONSHIPS, of("disconnect"), true),
        Probe::new(PERMISSIONS, batch_check(&object, &relations), true),
        Probe::new(PERMISSIONS, calendar, true),
        Probe::new(PERMISSIONS, seen("list_subjects"), true),
        Probe::new(PERMISSIONS, seen("expand"), true),
        Probe::new(PERMISSIONS, json!({ "action": "list_grants", "object": object }), true),
    ];
    all.extend([
        Probe::new(RELATIONSHIPS, of("get"), false),
        Probe::new(RELATIONSHIPS, of("follow"), false),
        Probe::new(RELATIONSHIPS, of("connect"), false),
        Probe::new(RELATIONSHIPS, of("unblock"), false),
        Probe::new(RELATIONSHIPS, of("unmute"), false),
        Probe::new(PERMISSIONS, apart("blocked"), false),
        Probe::new(PERMISSIONS, apart("apart"), false),
    ]);
    all
}

/// Returns every call that anybody can make about a listing by its id, also those
/// that only its owner may.
pub fn about_listing(listing_id: &str) -> Vec<Probe> {
    let of = |action: &str| json!({ "action": action, "listing_id": listing_id });
    let object = format!("listing:{listing_id}");
    let relations = ["owner", "editor", "viewer", "can_view", "manager", "apart"];
    let seen = json!({ "action": "list_subjects", "object": object, "relation": "viewer" });
    let patch = json!({ "action": "update", "listing_id": listing_id, "patch": { "title": "It" } });
    let calls = ["get", "stats", "publish", "pause", "resume", "renew", "withdraw", "mark_filled"];
    let calls = calls.into_iter().map(of).chain([patch]);
    let mut all: Vec<_> =
        calls.map(|body| Probe::new(crate::harness::listings::LISTINGS, body, true)).collect();
    all.extend([
        Probe::new(PERMISSIONS, batch_check(&object, &relations), true),
        Probe::new(PERMISSIONS, seen, true),
    ]);
    all
}

/// Makes a call and returns the status and text of its answer, without what differs in each answer:
/// the id that the call is about, the request's id, and the consistency token.
pub async fn answer_text(agent: &Agent<'_>, capability: &str, body: Value, id: &str) -> String {
    let reply = agent.call(capability, body.clone()).await;
    let mut text = reply.text.replace(id, "ID");
    let others = [&reply.body["meta"]["request_id"], &reply.body["result"]["consistency_token"]];
    for other in others.into_iter().filter_map(Value::as_str) {
        text = text.replace(other, "OTHER");
    }
    format!("{capability} {}: {} {text}", body["action"], reply.status)
}

pub struct World<'a> {
    people: Vec<Lister<'a>>,
    /// An organisation of which all the people are members.
    pub org_id: String,
    pub listings: Vec<Listing>,
    /// The states of relationships by kind, subject and object; a connection has one
    /// entry for both people.
    relationships: BTreeMap<(&'static str, usize, usize), String>,
    /// The pairs of which the first has granted the second to see when they are busy.
    pub granted: BTreeSet<Pair>,
    /// The answers to calls about people and listings that do not exist, by viewer and call; they
    /// stay the same.
    unknown_answers: Mutex<BTreeMap<(usize, String), String>>,
}

impl<'a> World<'a> {
    pub async fn new(host: &'a Host) -> Self {
        let mut people = Vec::new();
        for _ in 0..PEOPLE {
            people.push(Lister::new(host).await);
        }
        let org = json!({ "action": "create", "name": "Copperleaf", "kind": "company" });
        let org_id = people[0].agent().result("social_org", org).await["org_id"].clone();
        let org_id = org_id.as_str().unwrap().to_owned();
        let world = Self {
            people,
            org_id,
            listings: Vec::new(),
            relationships: BTreeMap::new(),
            granted: BTreeSet::new(),
            unknown_answers: Mutex::default(),
        };
        for person in 0..PEOPLE {
            let name = json!({ "action": "update_profile", "display_name": world.name(person) });
            world.agent(person).result("owners", name).await;
            if person > 0 {
                let (org_id, owner_id) = (&world.org_id, world.id(person));
                let invite =
                    json!({ "action": "invite_member", "org_id": org_id, "owner_id": owner_id });
                world.agent(0).result("social_org", invite).await;
                let accept =
                    json!({ "action": "respond_invite", "org_id": org_id, "decision": "accept" });
                world.agent(person).result("social_org", accept).await;
            }
        }
        world
    }

    pub fn agent(&self, person: usize) -> &Agent<'a> {
        self.people[person].agent()
    }

    pub fn id(&self, person: usize) -> &str {
        &self.people[person].id
    }

    pub fn name(&self, person: usize) -> &'static str {
        ["Adalhard", "Berengar", "Childeric", "Dagobert", "Euphemia"][person]
    }

    pub fn index_of(&self, owner_id: &str) -> usize {
        self.people.iter().position(|person| person.id == owner_id).unwrap()
    }

    pub fn has_relationship(&self, kind: &'static str, subject: usize, object: usize) -> bool {
        self.relationships.contains_key(&(kind, subject, object))
    }

    pub fn is_blocked(&self, (one, other): Pair) -> bool {
        self.has_relationship("block", one, other) || self.has_relationship("block", other, one)
    }

    pub fn are_connected(&self, one: usize, other: usize) -> bool {
        let is_active = |from, to| {
            self.relationships.get(&("connect", from, to)).is_some_and(|state| state == "active")
        };
        is_active(one, other) || is_active(other, one)
    }

    pub fn is_shown_to_network(&self, viewer: usize, listing: &Listing) -> bool {
        listing.is_active("network") && self.are_connected(viewer, listing.owner)
    }

    /// Returns whether the viewer's search finds the listing.
    pub fn can_find(&self, viewer: usize, listing: &Listing) -> bool {
        if viewer == listing.owner {
            return listing.is_active("public") || listing.is_active("network");
        }
        !self.is_blocked((viewer, listing.owner))
            && (listing.is_active("public") || self.is_shown_to_network(viewer, listing))
    }

    /// Returns whether a viewer who knows the listing's id may read it.
    pub fn can_see(&self, viewer: usize, listing: &Listing) -> bool {
        let hidden = self.is_blocked((viewer, listing.owner));
        self.can_find(viewer, listing) || listing.is_active("unlisted") && !hidden
    }

    /// Returns the kind, subject, object and state of each relationship that a person may know of.
    pub fn relationships_of(&self, person: usize) -> BTreeSet<[String; 4]> {
        let seen = self.relationships.iter().filter(|((kind, subject, object), _)| {
            let mutual = ["follow", "connect"].contains(kind);
            *subject == person || *object == person && mutual
        });
        let id = |person: &usize| self.id(*person).to_owned();
        seen.map(|((kind, subject, object), state)| {
            [(*kind).to_owned(), id(subject), id(object), state.clone()]
        })
        .collect()
    }

    /// Asserts that a text has no id, name or listing of a person from whom the viewer is blocked.
    pub fn assert_names_nobody_blocked(&self, viewer: usize, text: &str) {
        for other in (0..PEOPLE).filter(|other| self.is_blocked((viewer, *other))) {
            let listings = self.listings.iter().filter(|listing| listing.owner == other);
            let named = listings.flat_map(|listing| [listing.id.as_str(), listing.word.as_str()]);
            for word in named.chain([self.id(other), self.name(other)]) {
                assert!(!text.contains(word), "{word} is shown to {viewer}: {text}");
            }
        }
    }

    /// Returns the answer to the same call about a person or listing that does not exist.
    pub async fn answer_about_unknown(
        &self,
        viewer: usize,
        capability: &str,
        body: &Value,
        id: &str,
        unknown_id: &str,
    ) -> String {
        let body = body.to_string().replace(id, unknown_id);
        let key = (viewer, format!("{capability} {body}"));
        let known = self.unknown_answers.lock().unwrap().get(&key).cloned();
        if let Some(known) = known {
            return known;
        }
        let body = serde_json::from_str(&body).unwrap();
        let answer = answer_text(self.agent(viewer), capability, body, unknown_id).await;
        self.unknown_answers.lock().unwrap().insert(key, answer.clone());
        answer
    }

    /// Makes a random person take a random step.
    pub async fn step(&mut self, random: &mut StdRng) {
        let (one, mut other) = (random.random_range(0..PEOPLE), random.random_range(0..PEOPLE - 1));
        other += usize::from(other >= one);
        let live = |listing: &&Listing| listing.owner == one && !listing.is_withdrawn();
        match random.random_range(0..20) {
            0..5 if self.listings.iter().filter(live).count() < LISTINGS_EACH => {
                self.create_listing(one, random).await;
            }
            0..8 => self.change_listing(one, random).await,
            8..10 => self.relate("follow", one, other).await,
            10..13 => {
                self.relate("connect", one, other).await;
                self.relate("accept", other, one).await;
            }
            13 => {
                self.relate(["unfollow", "disconnect"][random.random_range(0..2)], one, other).await
            }
            14..17 => self.relate("block", one, other).await,
            17 => {
                let blocks: Vec<_> =
                    self.relationships.keys().filter(|key| key.0 == "block").copied().collect();
                if !blocks.is_empty() {
                    let (_, one, other) = blocks[random.random_range(0..blocks.len())];
                    self.relate("unblock", one, other).await;
                }
            }
            18 => self.relate(["mute", "unmute"][random.random_range(0..2)], one, other).await,
            _ => self.set_grant(one, other, random.random_bool(0.7)).await,
        }
    }

    async fn create_listing(&mut self, owner: usize, random: &mut StdRng) {
        let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
        let number = self.listings.len();
        // No stemmer shortens a word that ends like this.
        let word = format!("quixo{}{}x", letter(number / 26), letter(number));
        let visibility = ["public", "unlisted", "network"][random.random_range(0..3)];
        let remote = random.random_bool(0.5);
        let listing = json!({
            "title": format!("Room {word}"), "visibility": visibility, "remote": remote,
        });
        let listing = self.people[owner].result("create", room(listing)).await;
        let mut created = Listing {
            id: listing["listing_id"].as_str().unwrap().to_owned(),
            owner,
            remote,
            word,
            visibility: String::new(),
            state: String::new(),
        };
        created.update_from(&listing);
        self.listings.push(created);
    }

    /// Pauses, resumes, renews or withdraws a random listing of the person, or
    /// changes its visibility.
    async fn change_listing(&mut self, owner: usize, random: &mut StdRng) {
        let own: Vec<_> = self
            .listings
            .iter_mut()
            .filter(|listing| listing.owner == owner && !listing.is_withdrawn())
            .collect();
        if own.is_empty() {
            return;
        }
        let at = random.random_range(0..own.len());
        let listing = own.into_iter().nth(at).unwrap();
        let mut fields = json!({ "listing_id": listing.id });
        let action = ["pause", "resume", "resume", "renew", "update", "update", "withdraw"];
        let action = action[random.random_range(0..action.len())];
        if action == "update" {
            let visibility = ["public", "unlisted", "network"][random.random_range(0..3)];
            fields["patch"] = json!({ "visibility": visibility });
        }
        let reply = self.people[owner].call(action, fields).await;
        match reply.status.as_u16() {
            200 => listing.update_from(&reply.body["result"]),
            _ => reply.assert_refused(409, "invalid_transition"),
        }
    }

    /// Runs an action on a relationship and updates the model by the answer. Asserts that nobody
    /// can follow or connect with a person from whom they are blocked.
    async fn relate(&mut self, action: &str, one: usize, other: usize) {
        let mut body = json!({ "action": action, "owner_id": self.id(other) });
        if action == "accept" {
            body["kind"] = json!("connect");
        }
        let reply = self.agent(one).call(RELATIONSHIPS, body).await;
        let asks = ["follow", "connect", "accept"].contains(&action);
        if asks && self.is_blocked((one, other)) {
            assert!(reply.status.is_client_error(), "{action} of somebody hidden: {}", reply.text);
        }
        if reply.status != 200 {
            let expected = reply.status == 404 || reply.status == 409 || reply.status == 403;
            assert!(expected, "{}", reply.text);
            return;
        }
        let kind = match reply.body["result"]["kind"].as_str().unwrap() {
            "follow" => "follow",
            "connect" => "connect",
            "block" => "block",
            _ => "mute",
        };
        if kind == "block" && action == "block" {
            let between = [(one, other), (other, one)];
            self.relationships.retain(|(kind, subject, object), _| {
                !(between.contains(&(*subject, *object)) && ["follow", "connect"].contains(kind))
            });
        }
        let subject = self.index_of(reply.body["result"]["subject_id"].as_str().unwrap());
        let object = self.index_of(reply.body["result"]["object_id"].as_str().unwrap());
        match reply.body["result"]["state"].as_str().unwrap() {
            "none" => drop(self.relationships.remove(&(kind, subject, object))),
            state => drop(self.relationships.insert((kind, subject, object), state.to_owned())),
        }
    }

    async fn set_grant(&mut self, one: usize, other: usize, grants: bool) {
        let (action, again) =
            if grants { ("grant", "on_duplicate") } else { ("revoke", "on_missing") };
        let body = json!({
            "action": action, "relation": "freebusy_viewer", "object": "owner:me", again: "ignore",
            "subject": format!("owner:{}", self.id(other)),
        });
        self.agent(one).result(PERMISSIONS, body).await;
        match grants {
            true => self.granted.insert((one, other)),
            false => self.granted.remove(&(one, other)),
        };
    }
}

impl Listing {
    fn update_from(&mut self, view: &Value) {
        view["state"].as_str().unwrap().clone_into(&mut self.state);
        view["visibility"].as_str().unwrap().clone_into(&mut self.visibility);
    }
}
