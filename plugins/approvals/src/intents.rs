//! What people want when an action is right for them.

pub(crate) const GET_POLICY: &[&str] = &[
    "what may you do without asking me?",
    "show what my agents are allowed to do alone",
    "do you need my permission for payments?",
    "what is your spending limit?",
    "which calls need my approval?",
    "are you allowed to write to strangers for me?",
    "my approval policy",
    "how much may you spend without me?",
    "at what hours may you act on your own?",
    "was darfst du ohne meine Zustimmung tun?",
    "que peux-tu faire sans me demander ?",
    "¿qué puedes hacer sin preguntarme?",
];

pub(crate) const TIGHTEN: &[&str] = &[
    "ask me before you pay anything",
    "from now on ask me before you contact strangers",
    "never spend more than 20 credits without asking",
    "don't do anything on your own any more",
    "always check with me about this person",
    "let me approve what you send",
    "restrict what my agents may do",
    "be more careful and ask first",
    "lower the spending limit of my agents",
    "frag mich, bevor du etwas abschickst",
    "demande-moi avant de payer",
    "pregúntame antes de escribir a desconocidos",
];

pub(crate) const LIST: &[&str] = &[
    "which calls wait for my approval?",
    "what have I still to approve?",
    "show the pending approvals",
    "what did I deny lately?",
    "is anything waiting for my okay?",
    "list what you asked my permission for",
    "approval requests of my agents",
    "was wartet auf meine Zustimmung?",
    "qu'est-ce qui attend mon accord ?",
    "¿qué espera mi aprobación?",
];

pub(crate) const GET: &[&str] = &[
    "was this call approved?",
    "what came of the payment I approved?",
    "did they approve my request?",
    "show the result of the approved call",
    "status of one approval",
    "why did the approved call fail?",
    "has the person decided yet?",
    "wurde das genehmigt?",
    "cette demande a-t-elle été approuvée ?",
    "¿se aprobó esta llamada?",
];

pub(crate) const CANCEL: &[&str] = &[
    "take back the request for approval",
    "forget it, I no longer want you to send that",
    "withdraw the call that waits for approval",
    "cancel the pending approval",
    "no need to approve that any more",
    "zieh die Anfrage zur Genehmigung zurück",
    "annule la demande d'accord",
    "retira la solicitud de aprobación",
];
