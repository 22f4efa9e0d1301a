//! Stances in sentences.

use super::*;

fn stance(kind: &str, text: &str, topic: &str) -> Option<String> {
    stances(kind, text, words::language(text))
        .get(topic)
        .and_then(Value::as_str)
        .map(|stance| stance.trim_start_matches(MAYBE).to_owned())
}

#[test]
fn a_mention_is_read_by_its_nearest_cue() {
    for (kind, text, topic, expected) in [
        ("date_seeker", "My two cats rule the flat.", "cats", "has"),
        ("date_seeker", "Around cats my eyes itch, I am allergic.", "cats", "refuses"),
        ("room_wanted", "Dogs make me sneeze", "dogs", "refuses"),
        ("room_to_let", "Unsere Katze schläft viel", "cats", "has"),
        ("dwelling_to_let", "Hunde leider nicht, gegen Katzen haben wir nichts", "dogs", "refuses"),
        ("dwelling_to_let", "Keine Hunde, Katzen gern", "cats", "accepts"),
        ("dwelling_to_let", "Perros no, por favor", "dogs", "refuses"),
        ("dwelling_to_let", "Les chiens sont les bienvenus", "dogs", "accepts"),
        ("dwelling_to_let", "犬はお断りしています", "dogs", "refuses"),
        ("service", "Je suis allergique aux chats", "cats", "refuses"),
        ("date_seeker", "Ich qualme abends auf dem Balkon", "smoke", "has"),
        ("date_seeker", "Je ne supporte pas la fumée de cigarette", "smoke", "refuses"),
        ("date_seeker", "I gave up cigarettes years ago", "smoke", "lacks"),
        ("candidate", "I can't work nights", "night_work", "refuses"),
        ("job", "Turno de noche en el hotel", "night_work", "has"),
        ("dwelling_to_let", "Fünfter Stock ohne Aufzug", "lift", "lacks"),
        ("dwelling_wanted", "Necesitamos elevador o planta baja", "lift", "needs"),
        ("service", "Limpio casas, pero no le puedo dar factura", "invoice", "lacks"),
        ("date_seeker", "Ich wünsche mir noch ein Baby", "children", "needs"),
        ("date_seeker", "Die Familienplanung ist abgeschlossen", "children", "refuses"),
    ] {
        assert_eq!(stance(kind, text, topic).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn what_is_uncertain_is_not_said() {
    for (kind, text, topic) in [
        ("service", "Antes no entraba a casas con animales por miedo", "animals"),
        ("date_seeker", "„Da fehlt noch ein Baby“, sagt meine Mutter.", "children"),
        ("candidate", "I like to be at home every evening", "night_work"),
        ("service_client", "A garden to be weeded", "dogs"),
    ] {
        assert_eq!(stance(kind, text, topic), None, "{text}");
    }
}

#[test]
fn other_forms_of_a_word_count_and_limits_are_no_negations() {
    for (kind, text, topic, expected) in [
        ("date_seeker", "Ich suche eine Frau, Raucherinnen bitte nicht", "smoke", "refuses"),
        ("tutor", "Je ne prends que des adultes", "adult_learners", "needs"),
        ("date_seeker", "Zusammenwohnen muss nicht sein", "living_together", "accepts"),
        ("student", "Le labrador est là, impossible de le mettre dehors", "dogs", "has"),
    ] {
        assert_eq!(stance(kind, text, topic).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn a_stance_whose_cue_is_far_is_doubtful() {
    let stances = |text: &str| stances("dwelling_to_let", text, Language::English);
    let near = stances("Sorry, no dogs.");
    assert_eq!(near.get("dogs"), Some(&Value::from("refuses")));
    let far = stances("Allergic people live in this house, so dogs");
    assert_eq!(far.get("dogs"), Some(&Value::from("maybe refuses")));
    let found = Found::read("maybe refuses").unwrap();
    assert!(found.stance == Stance::Refuses && !found.is_clear);
    assert_eq!(Found::read("perhaps"), None);
}

#[test]
fn stances_contradict_by_the_kind_of_topic() {
    let topic = |name: &str| TOPICS.iter().find(|topic| topic.name == name).unwrap();
    assert!(Stance::Refuses.contradicts(Stance::Has, topic("dogs")));
    assert!(!Stance::Lacks.contradicts(Stance::Needs, topic("dogs")));
    assert!(Stance::Lacks.contradicts(Stance::Needs, topic("invoice")));
    assert!(!Stance::Accepts.contradicts(Stance::Has, topic("dogs")));
}
