//! What people want when an action is right for them.

pub(crate) const INVITE: &[&str] = &[
    "set up a group whose common free times we can search",
    "ask five people whether I may look for a time that suits everyone",
    "get consent to compare calendars without showing them",
    "gather the team so that we can find a slot across time zones",
    "frag drei Leute, ob ich nach gemeinsamen Zeiten suchen darf",
    "invite the band members into a scheduling group",
];
pub(crate) const ACCEPT: &[&str] = &[
    "yes, my free time may be counted when they look for a slot",
    "join the scheduling group I was invited to",
    "agree to be asked for common times",
    "ja, meine Zeit darf bei der Terminsuche zählen",
];
pub(crate) const DECLINE: &[&str] = &[
    "no, do not count my time in their slot search",
    "turn down the scheduling group",
    "I don't want my availability compared",
];
pub(crate) const LEAVE: &[&str] = &[
    "stop letting that group search my free time",
    "get me out of the scheduling group",
    "withdraw my agreement to be asked for times",
];
pub(crate) const CLOSE: &[&str] =
    &["we are done, dissolve the scheduling group", "end the group for finding common times"];
pub(crate) const GET: &[&str] = &[
    "who of the scheduling group has agreed so far?",
    "how often was my free time asked for by this group?",
];
pub(crate) const LIST: &[&str] = &[
    "which scheduling groups am I in?",
    "who may search for times that suit me?",
    "show the groups that count my free time",
];
pub(crate) const FIND: &[&str] = &[
    "find a time that suits all twelve of us across three continents",
    "earliest slot when everyone in the group can do an hour",
    "a common hour for the whole group, without seeing calendars",
    "best time if one or two cannot make it",
    "when can the group meet with a quarter of an hour of buffer?",
    "finde eine Stunde, in der die ganze Gruppe kann",
    "trouve un créneau commun pour tout le groupe",
    "encuentra una hora que le venga bien a todo el grupo",
];
pub(crate) const HOLD: &[&str] = &[
    "keep that common slot for ten minutes while I ask",
    "hold the time for the whole group so nobody else takes it",
    "put a short hold on Tuesday at three for everybody",
];
pub(crate) const RELEASE_HOLD: &[&str] =
    &["let go of the slot I was holding", "drop the hold on the group's time"];
pub(crate) const OPEN_POLL: &[&str] = &[
    "let everyone vote on three possible times",
    "start a poll about when the group meets",
    "make a scheduling poll with a deadline",
    "Terminumfrage für die Gruppe starten",
];
pub(crate) const VOTE: &[&str] = &[
    "vote in the scheduling poll: Tuesday yes, Friday only if needed",
    "tell the poll which times suit me",
    "in der Terminumfrage abstimmen",
];
pub(crate) const CLOSE_POLL: &[&str] =
    &["end the scheduling poll now", "stop the vote and take the best time"];
pub(crate) const GET_POLL: &[&str] =
    &["how does the scheduling poll stand?", "which time is winning in the poll?"];
pub(crate) const LIST_POLLS: &[&str] =
    &["which scheduling polls wait for my vote?", "show my polls about times"];
pub(crate) const BOOK: &[&str] = &[
    "book the slot for everyone in the group",
    "book whoever of the panel is next in turn and free",
    "assign the interview round robin to one of us",
    "fix the time that the group found",
];
pub(crate) const CANCEL_BOOKING: &[&str] =
    &["call off the meeting that was booked by link", "cancel my booking of that slot"];
pub(crate) const GET_BOOKING: &[&str] =
    &["who was assigned to the booked slot?", "details of the booking"];
pub(crate) const LIST_BOOKINGS: &[&str] =
    &["what has been booked by my link?", "list my bookings of others' time"];
pub(crate) const CREATE_LINK: &[&str] = &[
    "make a booking link, thirty minutes, at most four a day",
    "let people pick a time with me through a link",
    "a link by which guests book one of the team in turn",
    "Buchungslink mit einem Tag Vorlauf anlegen",
];
pub(crate) const CLOSE_LINK: &[&str] =
    &["turn off my booking link", "nobody should book through that link any more"];
pub(crate) const GET_LINK: &[&str] =
    &["what does this booking link offer?", "terms of the booking link"];
pub(crate) const LIST_LINKS: &[&str] = &["show my booking links", "which booking links are open?"];
pub(crate) const LINK_TIMES: &[&str] = &[
    "which times does this booking link have next week?",
    "open slots of a booking link somebody sent me",
];
pub(crate) const BOOK_LINK: &[&str] =
    &["book a slot through the link I got", "take the ten o'clock of this booking link"];
