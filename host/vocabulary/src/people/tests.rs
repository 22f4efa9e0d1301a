//! Tests of declarations of people, and of what they do to documents.

use super::*;
use serde_json::{Value, json};

const ANNA: &str = "own_01J00000000000000000000001";
const BEN: &str = "own_01J00000000000000000000002";

type Declared<'d> = (&'d str, Erasure, &'d [(&'d str, Audience)]);

fn people(declared: &[Declared<'_>]) -> People {
    let person = |(path, erasure, fields): &Declared<'_>| Person {
        path: (*path).to_owned(),
        erasure: *erasure,
        fields: fields
            .iter()
            .map(|(path, audience)| PersonalField { path: (*path).to_owned(), audience: *audience })
            .collect(),
    };
    People::new(&declared.iter().map(person).collect::<Vec<_>>()).unwrap()
}

fn erased(people: &People, mut document: Value) -> (Erased, Value) {
    let outcome = people.erase("id", &mut document, &[ANNA.to_owned()]);
    (outcome, document)
}

#[test]
fn a_declaration_adds_to_the_stored_one_and_withdraws_nothing() {
    let field = |path: &str, audience| PersonalField { path: path.to_owned(), audience };
    let person = |path: &str, erasure, fields: &[PersonalField]| Person {
        path: path.to_owned(),
        erasure,
        fields: fields.to_vec(),
    };
    let note = field("note", Audience::Personal);
    let mut stored = vec![
        person("owner", Erasure::Redact, std::slice::from_ref(&note)),
        person("by", Erasure::DeleteDocument, &[]),
    ];
    merge_people(&mut stored, &[]);
    assert_eq!(stored.len(), 2);
    let text = field("text", Audience::Shared);
    merge_people(
        &mut stored,
        &[
            person(
                "owner",
                Erasure::DeleteDocument,
                &[field("note", Audience::Public), text.clone()],
            ),
            person("by", Erasure::Redact, &[]),
            person("agent", Erasure::Redact, &[]),
        ],
    );
    let expected = [
        person("owner", Erasure::DeleteDocument, &[note, text]),
        person("by", Erasure::DeleteDocument, &[]),
        person("agent", Erasure::Redact, &[]),
    ];
    assert_eq!(stored, expected);
}

#[test]
fn people_and_agents_are_found_at_declared_paths() {
    let declared = people(&[
        ("owner", Erasure::DeleteDocument, &[]),
        ("members[].by", Erasure::RemoveElement, &[]),
        ("votes{}", Erasure::RemoveElement, &[]),
    ]);
    let document = json!({
        "owner": ANNA,
        "members": [{ "by": "agt_01J00000000000000000000003" }],
        "votes": { BEN: true },
        "note": "own_01J00000000000000000000004 was here",
    });
    let found: Vec<_> = declared.person_ids("id", &document).into_iter().collect();
    assert_eq!(found, ["agt_01J00000000000000000000003", ANNA, BEN]);
}

#[test]
fn ids_are_found_as_whole_words() {
    let found = |text: &'static str| person_ids(text).collect::<Vec<_>>();
    assert_eq!(found("own_01J00000000000000000000001"), [ANNA]);
    assert_eq!(found("a:own_01J00000000000000000000001|x"), [ANNA]);
    assert_eq!(found("xown_01J00000000000000000000001"), Vec::<&str>::new());
    assert_eq!(found("own_01J000000000000000000000019"), Vec::<&str>::new());
    assert_eq!(found("own_00000000000000000000000000"), Vec::<&str>::new());
    assert_eq!(found("the own_ prefix"), Vec::<&str>::new());
}

#[test]
fn ids_are_found_after_what_json_writes_with_letters() {
    for control in ['\n', '\r', '\t', '\u{8}', '\u{c}', '\u{1f}'] {
        let text = serde_json::to_string(&format!("Ask her:{control}{ANNA}{control}")).unwrap();
        assert_eq!(person_ids(&text).collect::<Vec<_>>(), [ANNA], "{text}");
        // Also where the text is part of another one.
        let text = serde_json::to_string(&text).unwrap();
        assert_eq!(person_ids(&text).collect::<Vec<_>>(), [ANNA], "{text}");
    }
    let within = format!("n{ANNA} un{ANNA} u000b{ANNA}");
    assert_eq!(person_ids(&within).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn people_outside_declared_paths_are_reported_by_path() {
    let declared = people(&[
        ("owner_id", Erasure::DeleteDocument, &[("note", Audience::Personal)]),
        ("members[].id", Erasure::RemoveElement, &[]),
        ("votes{}", Erasure::RemoveElement, &[]),
    ]);
    let at =
        |document: Value| declared.find_undeclared_person("id", &document).map(|found| found.at);
    let fit = json!({"owner_id": ANNA, "members": [{"id": BEN}], "votes": {BEN: 1}, "note": ANNA,
        "text": format!("ask {ANNA}")});
    assert_eq!(at(fit), None);
    assert_eq!(at(json!({"by": ANNA})).as_deref(), Some("by"));
    assert_eq!(at(json!({"members": [{"by": BEN}]})).as_deref(), Some("members.0.by"));
    assert_eq!(at(json!({"seen": {BEN: 1}})).as_deref(), Some("a key of seen"));
    assert_eq!(at(json!({"pair": format!("{ANNA}:{BEN}")})).as_deref(), Some("pair"));
    let of_id = UndeclaredPerson { id: ANNA.to_owned(), at: "$id".to_owned() };
    assert_eq!(declared.find_undeclared_person(ANNA, &json!({})), Some(of_id));
}

#[test]
fn an_undeclared_person_is_the_callers_fault_only_if_the_input_has_the_id() {
    let pointer = |at: &str, input: Value| {
        let found = UndeclaredPerson { id: ANNA.to_owned(), at: at.to_owned() };
        let failure = found.caused_by(&input)?;
        assert_eq!(failure.error_code, "validation_failed");
        let pointer = failure.conflict?.pointer("/errors/0/pointer")?.as_str()?.to_owned();
        Some(pointer)
    };
    let at = |input: Value| pointer("title", input);
    assert_eq!(at(json!({"title": ANNA})).as_deref(), Some("/title"));
    assert_eq!(at(json!({"of/a~b": [0, {"x": ANNA}]})).as_deref(), Some("/of~1a~0b/1/x"));
    assert_eq!(at(json!({"labels": {ANNA: 1}})).as_deref(), Some("/labels"));
    assert_eq!(at(json!({"name": format!("by:{ANNA}")})).as_deref(), Some("/name"));
    // A field of the document's name comes before others.
    let twice = json!({"owner_id": ANNA, "texts": [ANNA], "title": ANNA});
    assert_eq!(at(twice.clone()).as_deref(), Some("/title"));
    assert_eq!(pointer("of.texts.3", twice).as_deref(), Some("/texts/0"));
    assert_eq!(at(json!({"title": BEN, "note": 5})), None);
}

#[test]
fn erasure_deletes_removes_or_redacts() {
    let delete = people(&[("owner_id", Erasure::DeleteDocument, &[])]);
    assert_eq!(erased(&delete, json!({"owner_id": ANNA})).0, Erased::Deleted);
    assert_eq!(erased(&delete, json!({"owner_id": BEN})).0, Erased::Unchanged);

    let remove = people(&[("members[].id", Erasure::RemoveElement, &[])]);
    let document = json!({"members": [{"id": ANNA, "role": "a"}, {"id": BEN, "role": "b"}]});
    let expected = json!({"members": [{"id": BEN, "role": "b"}]});
    assert_eq!(erased(&remove, document), (Erased::Changed, expected));

    let redact = people(&[(
        "author_id",
        Erasure::Redact,
        &[("text", Audience::Shared), ("at.place", Audience::Personal)],
    )]);
    let document = json!({"author_id": ANNA, "text": "hello", "at": {"place": 3, "time": 4}});
    let expected = json!({"author_id": "own_00000000000000000000000000", "text": "",
        "at": {"place": 0, "time": 4}});
    assert_eq!(erased(&redact, document), (Erased::Changed, expected));
}

#[test]
fn fields_beside_a_person_in_a_list_are_those_of_the_same_element() {
    let redact = people(&[("rows[].by", Erasure::Redact, &[("rows[].said", Audience::Shared)])]);
    let document = json!({"rows": [{"by": ANNA, "said": "a"}, {"by": BEN, "said": "b"}]});
    let expected = json!({"rows": [
        {"by": "own_00000000000000000000000000", "said": ""}, {"by": BEN, "said": "b"}]});
    assert_eq!(erased(&redact, document), (Erased::Changed, expected));
}

#[test]
fn people_in_keys_are_erased_too() {
    let remove = people(&[("votes{}", Erasure::RemoveElement, &[])]);
    let document = json!({"votes": {ANNA: 1, BEN: 2}});
    assert_eq!(erased(&remove, document), (Erased::Changed, json!({"votes": {BEN: 2}})));
    let redact = people(&[("votes{}", Erasure::Redact, &[])]);
    let expected = json!({"votes": {"own_00000000000000000000000000": 1}});
    assert_eq!(erased(&redact, json!({"votes": {ANNA: 1}})), (Erased::Changed, expected));
}

#[test]
fn an_export_hides_what_is_personal_to_others() {
    let declared = people(&[
        ("by", Erasure::Redact, &[("by", Audience::Personal), ("reason", Audience::Shared)]),
        ("about", Erasure::Redact, &[("secret", Audience::Personal)]),
    ]);
    let document = json!({"by": BEN, "about": ANNA, "reason": "r", "secret": "s"});
    let shown = declared.export("id", document, &[ANNA.to_owned()]);
    assert_eq!(shown, Some(json!({"by": "", "about": ANNA, "reason": "r", "secret": "s"})));
}

#[test]
fn only_a_persons_own_fields_are_changed() {
    let declared = people(&[
        ("by", Erasure::Redact, &[("told", Audience::Personal), ("reason", Audience::Shared)]),
        ("about", Erasure::Redact, &[("secret", Audience::Personal)]),
        ("$id", Erasure::DeleteDocument, &[("number", Audience::Personal)]),
    ]);
    let texts =
        json!({"by": BEN, "about": ANNA, "told": "1", "reason": "2", "secret": "3", "number": "4"});
    let changed = |id: &str, person: &str| {
        let (mut document, mut found) = (texts.clone(), Vec::new());
        declared.change_own(id, &mut document, &[person.to_owned()], &mut |value| {
            found.push(value.as_str().unwrap().to_owned());
        });
        found
    };
    assert_eq!(changed("id", BEN), ["1"]);
    assert_eq!(changed("id", ANNA), ["3"]);
    assert_eq!(changed(ANNA, ANNA), ["3", "4"]);
    assert_eq!(changed(ANNA, BEN), ["1"]);
}

#[test]
fn a_personal_document_is_only_of_the_person_at_its_path() {
    let declared = people(&[
        ("kept_by", Erasure::DeleteDocument, &[("$id", Audience::Personal)]),
        ("about", Erasure::DeleteDocument, &[]),
    ]);
    let document = json!({"kept_by": BEN, "about": ANNA});
    assert_eq!(declared.export("id", document.clone(), &[ANNA.to_owned()]), None);
    assert_eq!(declared.export("id", document.clone(), &[BEN.to_owned()]), Some(document));
    let document = json!({"kept_by": null, "about": ANNA});
    assert_eq!(declared.export("id", document.clone(), &[ANNA.to_owned()]), Some(document));
}

#[test]
fn a_personal_document_with_the_id_of_a_person_is_only_theirs() {
    let declared = people(&[
        ("$id", Erasure::DeleteDocument, &[("$id", Audience::Personal)]),
        ("about", Erasure::DeleteDocument, &[]),
    ]);
    let document = json!({"about": ANNA});
    assert_eq!(declared.export(BEN, document.clone(), &[ANNA.to_owned()]), None);
    assert_eq!(declared.export(BEN, document.clone(), &[BEN.to_owned()]), Some(document));
}

#[test]
fn a_document_that_is_personal_to_several_people_is_hidden_from_others() {
    let declared = people(&[
        ("by", Erasure::Redact, &[("$id", Audience::Personal)]),
        ("decided_against", Erasure::Redact, &[("$id", Audience::Personal)]),
        ("about", Erasure::Redact, &[]),
    ]);
    let hidden = |document| declared.export("id", document, &[ANNA.to_owned()]).is_none();
    assert!(hidden(json!({"by": BEN, "about": ANNA, "decided_against": null})));
    assert!(!hidden(json!({"by": BEN, "about": ANNA, "decided_against": ANNA})));
}

#[test]
fn somebody_who_is_no_party_of_a_shared_document_gets_their_own_part() {
    let declared = people(&[
        ("from", Erasure::Redact, &[("$id", Audience::Shared)]),
        ("to.id", Erasure::Redact, &[("$id", Audience::Shared)]),
        ("to.by", Erasure::Redact, &[("to.phone", Audience::Personal)]),
        ("messages[].by", Erasure::Redact, &[("messages[].text", Audience::Shared)]),
        ("votes{}", Erasure::RemoveElement, &[]),
    ]);
    let carl = "own_01J00000000000000000000003";
    let document = json!({
        "from": ANNA, "to": {"id": BEN, "by": carl, "phone": "1"}, "state": "open",
        "messages": [{"by": ANNA, "text": "a"}, {"by": carl, "text": "c"}],
        "votes": {BEN: 1, carl: 2},
    });
    let export = |person: &str| declared.export("id", document.clone(), &[person.to_owned()]);
    let own_part = json!({
        "to": {"by": carl, "phone": "1"},
        "messages": [{"by": carl, "text": "c"}],
        "votes": {carl: 2},
    });
    assert_eq!(export(carl), Some(own_part));
    let mut of_a_party = document.clone();
    of_a_party["to"]["phone"] = json!("");
    assert_eq!(export(ANNA), Some(of_a_party));
    let without_parties = json!({"from": null, "to": {"by": carl}, "state": "closed"});
    let shown = declared.export("id", without_parties.clone(), &[carl.to_owned()]);
    assert_eq!(shown, Some(without_parties));
}

#[test]
fn a_declaration_that_cannot_be_carried_out_is_refused() {
    let refused = |path: &str, erasure| {
        let person = Person { path: path.to_owned(), erasure, fields: Vec::new() };
        People::new(&[person]).unwrap_err()
    };
    assert!(refused("owner_id", Erasure::RemoveElement).contains("not within a list"));
    assert!(refused("$id", Erasure::Redact).contains("can only be deleted"));
    assert!(refused("a..b", Erasure::Redact).contains("is not a path"));
}
