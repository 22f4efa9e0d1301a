//! What people say who want an action, for the search of the tools.

pub(crate) const ENCOUNTERS: &[&str] = &[
    "about whom can I write a reference?",
    "which references am I still to write?",
    "people whom I have dealt with lately and can review",
    "is there somebody I can rate after a meeting?",
    "what have I written that is not shown yet?",
    "open reviews of mine",
    "whom may I leave feedback for?",
    "über wen kann ich eine Referenz schreiben?",
    "sur qui puis-je écrire une référence ?",
    "¿sobre quién puedo escribir una referencia?",
    "sobre quem posso escrever uma referência?",
];

pub(crate) const ENCOUNTER: &[&str] = &[
    "until when can I write a reference about Bo?",
    "read again what I wrote about her before it is shown",
    "is my reference about the landlord still changeable?",
    "when are the references of our meeting shown?",
    "bis wann kann ich die Referenz ändern?",
    "jusqu'à quand puis-je écrire ma référence ?",
    "¿hasta cuándo puedo escribir mi referencia?",
];

pub(crate) const WRITE: &[&str] = &[
    "write a reference about somebody I met",
    "leave a review for my landlord",
    "rate the person after our meeting",
    "give feedback about the tenant",
    "say that she was on time and friendly",
    "recommend this tutor to others",
    "state that he did not turn up",
    "review the candidate I hired",
    "change the reference I wrote this morning",
    "write a testimonial for the plumber",
    "tell others that working with Leo was good",
    "he was nothing like his listing, put that in a review",
    "vouch for my former flatmate in writing",
    "eine Referenz über jemanden schreiben",
    "den Vermieter bewerten",
    "écrire une référence sur quelqu'un",
    "laisser un avis sur le propriétaire",
    "escribir una referencia sobre alguien",
    "dejar una reseña del inquilino",
    "escrever uma referência sobre alguém",
    "scrivere una referenza su una persona",
];

pub(crate) const WITHDRAW: &[&str] = &[
    "withdraw the reference I wrote before it is shown",
    "delete my review of him, nobody has seen it yet",
    "take back what I wrote about the tenant",
    "I don't want my feedback published after all",
    "retract my testimonial draft",
    "meine Referenz zurückziehen",
    "retirer ma référence avant sa publication",
    "retirar mi referencia antes de que se muestre",
    "retirar a minha referência",
];

pub(crate) const REPLY: &[&str] = &[
    "reply to a reference about me",
    "answer the bad review I got",
    "give my side of what she wrote about me",
    "comment on the feedback of my landlord",
    "respond to what he states in his review",
    "that reference is unfair, I want to answer it",
    "auf eine Referenz über mich antworten",
    "répondre à un avis sur moi",
    "responder a una referencia sobre mí",
    "responder a uma referência sobre mim",
];

pub(crate) const GET: &[&str] = &[
    "read this reference",
    "show the review with its reply",
    "what exactly does the testimonial say?",
    "open one reference about me",
    "diese Referenz lesen",
    "lire cette référence",
    "leer esta referencia",
];

pub(crate) const LIST: &[&str] = &[
    "which references are there about me?",
    "show the reviews I got",
    "what do people write about me?",
    "list the references that I wrote",
    "all my testimonials",
    "my ratings by others",
    "has the review about me been published?",
    "Referenzen über mich anzeigen",
    "afficher les avis sur moi",
    "mostrar las referencias sobre mí",
    "mostrar as referências sobre mim",
    "mostrami le referenze su di me",
];

pub(crate) const ABOUT: &[&str] = &[
    "what do others say about this landlord?",
    "read the references about a person",
    "does she have good reviews?",
    "is this tenant reliable according to others?",
    "check the testimonials of the tutor before I meet him",
    "look at the feedback about this founder",
    "can I see the ratings of the flatmate?",
    "Referenzen einer Person lesen",
    "lire les références de cette personne",
    "leer las referencias de esta persona",
    "ler as referências desta pessoa",
];

pub(crate) const SHOW: &[&str] = &[
    "show my references to the landlord",
    "let her read the reviews about me",
    "share my testimonials with the recruiter",
    "give this person access to my references",
    "prove to him that others recommend me",
    "meine Referenzen jemandem zeigen",
    "montrer mes références à quelqu'un",
    "mostrar mis referencias a alguien",
    "mostrar as minhas referências a alguém",
];

pub(crate) const HIDE: &[&str] = &[
    "hide my references from the landlord again",
    "stop sharing the reviews about me with her",
    "he should no longer read my testimonials",
    "take away access to my references",
    "meine Referenzen vor jemandem verbergen",
    "ne plus montrer mes références",
    "dejar de mostrar mis referencias",
];

pub(crate) const SHOWN_TO: &[&str] = &[
    "who can read the references about me?",
    "to whom do I show my reviews?",
    "people with access to my testimonials",
    "wer sieht meine Referenzen?",
    "qui voit mes références ?",
    "¿quién ve mis referencias?",
];
