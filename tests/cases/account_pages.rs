//! A person's own pages, without any agent: what is theirs, with plain forms.

use crate::harness::{
    Host, Options,
    oauth::{ADA, BOB, call, open, post, public_client, redemption, text},
    person::{Page, Person},
    time::MINUTE,
};
use scraper::{ElementRef, Html, Selector};
use std::{fs::File, process::Command};

const ACCOUNT: &str = "/account";
const RIGHTS: &str = "/account/data_rights";
const OWNERS: &str = "/account/owners";
const RELATIONSHIPS: &str = "/account/social_relationships";
const CAPABILITIES: [&str; 6] = [
    "svc_phone_binding",
    "ledger",
    "owners",
    "data_rights",
    "social_permissions",
    "social_relationships",
];

/// A form of a page: its fields as a browser would send them.
#[derive(Debug, Clone)]
pub struct Form(Vec<(String, String)>);

impl Form {
    fn of(form: ElementRef<'_>) -> Self {
        let all = Selector::parse("input, textarea, select").unwrap();
        let chosen = Selector::parse("option[selected]").unwrap();
        let field = |element: ElementRef<'_>| {
            let name = element.attr("name")?.to_owned();
            let value = match element.value().name() {
                "select" => element.select(&chosen).next()?.attr("value")?.to_owned(),
                "textarea" => element.text().collect(),
                _ if element.attr("type") == Some("checkbox") => {
                    element.attr("checked").map(|_| "on".to_owned())?
                }
                _ => element.attr("value").unwrap_or_default().to_owned(),
            };
            Some((name, value))
        };
        Self(form.select(&all).filter_map(field).collect())
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    pub fn value(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub async fn submit(&self, person: &mut Person<'_>, path: &str) -> Page {
        let fields: Vec<_> = self.0.iter().map(|(name, value)| (&**name, &**value)).collect();
        person.submit_to(path, &fields).await
    }
}

/// Returns the forms of a page whose button has this text.
pub fn forms(page: &Page, button: &str) -> Vec<Form> {
    let html = Html::parse_document(&page.reply.text);
    let (all, own) = (Selector::parse("form").unwrap(), Selector::parse("button").unwrap());
    let has = |form: &ElementRef<'_>| {
        form.select(&own).any(|one| one.text().collect::<String>() == button)
    };
    html.select(&all).filter(has).map(Form::of).collect()
}

pub fn form(page: &Page, button: &str) -> Form {
    let found = forms(page, button);
    found.into_iter().next().unwrap_or_else(|| panic!("{button}: {}", page.reply.text))
}

pub fn shown(page: &Page, selector: &str) -> Vec<String> {
    let html = Html::parse_document(&page.reply.text);
    let selector = Selector::parse(selector).unwrap();
    let found = html.select(&selector);
    found.map(|element| element.text().collect::<String>()).collect()
}

async fn host() -> Host {
    Host::with(&CAPABILITIES).await
}

/// Returns a person who has signed in at a page, without any agent.
async fn signed_in<'a>(host: &'a Host, path: &str, phone: &str) -> (Person<'a>, Page) {
    let mut person = Person::new(host);
    let page = person.sign_in(path, phone).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply.text);
    (person, page)
}

/// Returns the people in the rows of the audit log about this action where it was done.
pub async fn people_of_rows(host: &Host, action: &str) -> Vec<String> {
    let rows = host.operate("/audit?limit=1000").await.body["entries"].clone();
    let done = |row: &&serde_json::Value| row["action"] == action && row["outcome"] == "ok";
    let rows = rows.as_array().unwrap().iter().filter(done);
    rows.map(|row| text(row, "owner_id").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_at_the_page_that_they_have_opened() {
    let host = host().await;
    let mut ada = Person::new(&host);
    let page = ada.open(ACCOUNT).await;
    assert_eq!((page.reply.status.as_u16(), &*page.heading), (401, "Sign in with your phone"));
    assert!(!page.reply.text.contains("asks to act for you"), "{}", page.reply.text);
    let page = ada.submit(&page, "phone", &[("phone", "12")]).await;
    assert!(page.error_text().starts_with("This is not a mobile number"), "{}", page.reply.text);
    let page = ada.sign_in(ACCOUNT, ADA).await;
    assert_eq!(page.heading, "Your account", "{}", page.reply.text);
    assert!(page.reply.text.contains("No agent acts for you"), "{}", page.reply.text);
    // No agent was made that the person sees, and the sign-in leads to the page that was opened.
    let (_, page) = signed_in(&host, RIGHTS, BOB).await;
    assert_eq!(page.heading, "Your data");
    let mut nobody = Person::new(&host);
    assert_eq!(nobody.open("/account/ledger").await.reply.status, 404);
    assert_eq!(nobody.open("/account/nothing").await.reply.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_what_an_agent_did_and_revokes_it() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut thief = Person::new(&host);
    let code = crate::harness::oauth::code(&mut thief, &client, ADA).await;
    let granted = post(&host, "/oauth/token", &redemption(&client, &code), None).await.body;
    let token = text(&granted, "access_token");
    assert_eq!(call(&host, token, open("stolen")).await.status, 200);
    host.advance(MINUTE).await;

    let (mut ada, page) = signed_in(&host, ACCOUNT, ADA).await;
    let log = shown(&page, ".log li");
    assert!(log.iter().any(|line| line.contains("ledger")), "{log:?}");
    assert!(page.reply.text.contains("Publish listings, write to people"), "{}", page.reply.text);
    let agents = forms(&page, "Revoke this agent");
    assert_eq!(agents.len(), 1);
    let page = agents[0].clone().with("step", "end_agent").submit(&mut ada, ACCOUNT).await;
    assert!(page.reply.text.contains("No agent acts for you"), "{}", page.reply.text);
    call(&host, token, open("more")).await.assert_refused(401, "client_revoked");
    // The thief's browser is signed in still, until its session ends.
    assert_eq!(thief.open(ACCOUNT).await.reply.status, 200);
    assert_eq!(forms(&page, "Sign out of this browser").len(), 1);
    let sessions = forms(&page, "Sign this browser out");
    assert_eq!(sessions.len(), 1);
    sessions[0].clone().with("step", "end_session").submit(&mut ada, ACCOUNT).await;
    assert_eq!(thief.open(ACCOUNT).await.reply.status, 401);
    assert_eq!(ada.open(ACCOUNT).await.reply.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_exports_and_downloads_everything() {
    let host = host().await;
    let (mut ada, _) = signed_in(&host, ACCOUNT, ADA).await;
    let page = ada.open(OWNERS).await;
    let profile = form(&page, "Change my profile").with("field.headline", "canary headline");
    let page = profile.submit(&mut ada, OWNERS).await;
    assert_eq!(shown(&page, "[role=status]"), ["Done: Change my profile"], "{}", page.reply.text);

    let page = ada.open(RIGHTS).await;
    let export = form(&page, "Export my data");
    let page = export.clone().submit(&mut ada, RIGHTS).await;
    assert_eq!(page.reply.status, 409, "without consent: {}", page.reply.text);
    assert!(page.error_text().contains("the box was not ticked"), "{}", page.reply.text);
    let page = export.with("agreed", "on").submit(&mut ada, RIGHTS).await;
    assert_eq!(shown(&page, "[role=status]"), ["Done: Export my data"], "{}", page.reply.text);
    host.wait_until_settled().await;
    let page = ada.open(RIGHTS).await;
    assert!(
        shown(&page, ".things strong").contains(&"Export: ready".to_owned()),
        "{}",
        page.reply.text
    );

    let fields = form(&page, "Download my data").0;
    let cookies = ada.cookies.iter().map(|(name, value)| format!("{name}={value}"));
    let cookies = cookies.collect::<Vec<_>>().join("; ");
    let request = host.client.post(format!("{}{RIGHTS}", host.url)).header("cookie", &cookies);
    let reply = request.form(&fields).send().await.unwrap();
    assert_eq!(reply.headers()["content-type"], "application/zip");
    assert_eq!(reply.headers()["content-disposition"], "attachment; filename=\"data_rights.zip\"");
    // Another program reads the archive.
    let path = host.folder.path().join("export.zip");
    std::fs::write(&path, reply.bytes().await.unwrap()).unwrap();
    let script = "import sys, zipfile\narchive = zipfile.ZipFile(sys.argv[1])\nassert archive.testzip() is None\nprint(*archive.namelist())\nprint(*(archive.read(name).decode() for name in archive.namelist()))";
    let read = Command::new("python3").args(["-c", script]).arg(&path).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read = String::from_utf8(read.stdout).unwrap();
    assert!(read.contains("capabilities/owners/0001.json") && read.contains("index.md"), "{read}");
    assert!(read.contains("canary headline"));
    assert!(File::open(&path).unwrap().metadata().unwrap().len() > 1_000);

    // Another person's archive is not there, and a second one is refused in words.
    let export_id = fields.iter().find(|(name, _)| name == "of.export_id").unwrap().1.clone();
    let (mut bob, _) = signed_in(&host, RIGHTS, BOB).await;
    let page = bob.open(RIGHTS).await;
    let token = form(&page, "Export my data").value("form_token").to_owned();
    let mut foreign = Form(fields).with("form_token", &token);
    foreign = foreign.with("of.export_id", &export_id);
    let refused = foreign.submit(&mut bob, RIGHTS).await;
    assert_eq!((refused.reply.status.as_u16(), &*refused.heading), (404, "Your data"));
    assert!(refused.error_text().contains("This did not work"), "{}", refused.reply.text);
    let page = ada.open(RIGHTS).await;
    let again = form(&page, "Export my data").with("agreed", "on").submit(&mut ada, RIGHTS).await;
    assert_eq!(again.reply.status, 429, "{}", again.reply.text);
    assert!(again.error_text().contains("ready less than a day ago"), "{}", again.error_text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_schedules_their_erasure_and_cancels_it() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, RIGHTS, ADA).await;
    assert!(forms(&page, "Cancel the erasure").is_empty());
    let erase = form(&page, "Erase my data").with("agreed", "on");
    let page = erase.submit(&mut ada, RIGHTS).await;
    assert!(
        shown(&page, ".things strong").contains(&"Erasure: scheduled".to_owned()),
        "{}",
        page.reply.text
    );
    let page = form(&page, "Cancel the erasure").submit(&mut ada, RIGHTS).await;
    assert!(
        shown(&page, ".things strong").contains(&"Erasure: cancelled".to_owned()),
        "{}",
        page.reply.text
    );
    assert!(forms(&page, "Cancel the erasure").is_empty());
    // The audit log has both, in the person's name and by the agent of their page.
    assert_eq!(people_of_rows(&host, "erase").await, people_of_rows(&host, "cancel").await);
    let page = ada.open(ACCOUNT).await;
    let log = shown(&page, ".log li").join("\n");
    assert!(log.contains("Cancel the scheduled erasure"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_blocks_somebody_and_sets_quiet_hours() {
    let host = host().await;
    let (mut bob, page) = signed_in(&host, OWNERS, BOB).await;
    form(&page, "Change my profile").with("field.city", "Oakland").submit(&mut bob, OWNERS).await;
    let bobs_id = people_of_rows(&host, "update_profile").await.remove(0);

    let (mut ada, page) = signed_in(&host, RELATIONSHIPS, ADA).await;
    assert!(forms(&page, "Unblock").is_empty());
    let block = form(&page, "Block a person").with("agreed", "on");
    let page = block.clone().with("field.owner_id", "Bob").submit(&mut ada, RELATIONSHIPS).await;
    assert_eq!(page.reply.status, 400, "{}", page.reply.text);
    assert!(
        page.error_text().contains("Owner id does not have the right form"),
        "{}",
        page.error_text()
    );
    assert_eq!(
        form(&page, "Block a person").value("field.owner_id"),
        "Bob",
        "what was typed stays"
    );
    let page = block.with("field.owner_id", &bobs_id).submit(&mut ada, RELATIONSHIPS).await;
    assert!(page.reply.text.contains(&bobs_id), "{}", page.reply.text);
    let overview = ada.open(ACCOUNT).await;
    let facts = shown(&overview, "dl.facts div");
    assert!(facts.iter().any(|fact| fact.starts_with("Blocked people1")), "{facts:?}");
    let page = form(&page, "Unblock").submit(&mut ada, RELATIONSHIPS).await;
    assert!(forms(&page, "Unblock").is_empty(), "{}", page.reply.text);

    let page = ada.open(OWNERS).await;
    let change = form(&page, "Change notifications and quiet hours");
    assert_eq!(change.value("field.notify.pairing_reply"), "on", "{change:?}");
    assert_eq!(change.value("field.contact_policy"), "anyone_matching");
    let hours = change
        .clone()
        .with("field.quiet_hours.from", "22:00")
        .with("field.quiet_hours.to", "7 o'clock")
        .with("field.quiet_hours.time_zone", "America/Los_Angeles");
    let page = hours.clone().submit(&mut ada, OWNERS).await;
    assert_eq!(page.reply.status, 400, "{}", page.reply.text);
    let hours = hours.with("field.quiet_hours.to", "07:00").without("field.notify.match_update");
    let page = hours.submit(&mut ada, OWNERS).await;
    let facts = shown(&page, "dl.facts div").join("\n");
    assert!(facts.contains("Quiet hours: from22:00"), "{facts}");
    let change = form(&page, "Change notifications and quiet hours");
    assert_eq!(change.value("field.quiet_hours.to"), "07:00");
    assert_eq!(
        (change.value("field.notify.match_update"), change.value("field.notify.pairing_reply")),
        ("", "on")
    );
    // Emptied, they end.
    let names = ["from", "to", "time_zone"].map(|name| format!("field.quiet_hours.{name}"));
    let emptied = names.iter().fold(change, |form, name| form.with(name, ""));
    let page = emptied.submit(&mut ada, OWNERS).await;
    assert!(!page.reply.text.contains("Quiet hours: from</dt>"), "{}", page.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_forms_of_the_own_page_are_carried_out() {
    let host = host().await;
    let (mut ada, page) = signed_in(&host, RIGHTS, ADA).await;
    let erase = form(&page, "Erase my data").with("agreed", "on");
    let (mut bob, _) = signed_in(&host, RIGHTS, BOB).await;
    // A form of another browser, one without its token, and one for an action that no page
    // declares.
    assert_eq!(erase.submit(&mut bob, RIGHTS).await.reply.status, 400);
    assert_eq!(
        erase.clone().without("form_token").submit(&mut ada, RIGHTS).await.reply.status,
        400
    );
    for (name, value) in [("action", "schedule_erasure"), ("action", "status"), ("part", "99")] {
        let other = erase.clone().with(name, value).submit(&mut ada, RIGHTS).await;
        assert_eq!(other.reply.status, 400, "{name} {value}: {}", other.reply.text);
    }
    let page = ada.open(RIGHTS).await;
    assert!(!page.reply.text.contains("Erasure:"), "{}", page.reply.text);
    // An address that somebody else has made claims nothing.
    let page = ada.open(&format!("{RIGHTS}?done=cancel&proof=0")).await;
    assert!(shown(&page, "[role=status]").is_empty(), "{}", page.reply.text);
    // A form of a browser without a session is refused.
    let mut nobody = Person::new(&host);
    let page = nobody.open(RIGHTS).await;
    let token = erase.clone().with("form_token", &page.form_token);
    let refused = token.submit(&mut nobody, RIGHTS).await;
    assert!([400, 401].contains(&refused.reply.status.as_u16()), "{}", refused.reply.text);
    assert!(people_of_rows(&host, "erase").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_and_failing_component_is_a_line_on_the_page() {
    let settings = "[limits]\ncall_wall_time_ms = 400\n";
    let components = [&CAPABILITIES[..], &["poser"]].concat();
    let host = Host::start(Options::with(&components).configuration(settings)).await;
    let (mut ada, page) = signed_in(&host, ACCOUNT, ADA).await;
    let text = &page.reply.text;
    assert_eq!(page.heading, "Your account");
    for wrong in ["<script>", "<b>Sign out", "<i>Your", "onmouseover=\"alert"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    assert!(
        text.contains("from another publisher: <code>poser</code> by <code>unsigned:poser</code>"),
        "{text}"
    );
    assert_eq!(text.matches("cannot be shown now").count(), 2, "{text}");
    // The facts of the host's own capabilities are there.
    let facts = shown(&page, "dl.facts div");
    assert!(facts.iter().any(|fact| fact.starts_with("Blocked people")), "{facts:?}");

    let page = ada.open("/account/poser").await;
    let text = &page.reply.text;
    for wrong in ["<script>", "<b>", "<i>", "onmouseover=\"alert"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    assert!(text.contains("Not by this host."), "{text}");
    assert_eq!(text.matches("This cannot be shown now.").count(), 2, "{text}");
    assert_eq!(shown(&page, ".things > li").len(), 50);
    assert!(text.contains("There are more than can be shown here"), "{text}");
    // Each treasure has the form that carries its id, and none has the one that would carry 5,000 letters.
    assert_eq!(forms(&page, "Lure the person").len(), 50);
    assert!(forms(&page, "Carry a value that is too long for a form").is_empty());
    assert!(text.len() < 1 << 20, "{}", text.len());
    let page = form(&page, "Lure the person")
        .with("field.code", "123456")
        .submit(&mut ada, "/account/poser")
        .await;
    assert_eq!(page.reply.status, 409, "{}", page.reply.text);
    assert!(page.error_text().contains("<script>"), "escaped: {}", page.error_text());
    assert!(!page.reply.text.contains("<script>"), "{}", page.reply.text);
    assert!(page.reply.header("content-security-policy").contains("default-src 'none'"));
    // An action that the component has not declared for the page cannot be called there.
    let undeclared = form(&page, "Lure the person").with("action", "take");
    assert_eq!(undeclared.submit(&mut ada, "/account/poser").await.reply.status, 400);
}
