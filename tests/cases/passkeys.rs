//! Passkeys: a second factor beside the number, and the way in without the number.

use crate::harness::{
    Host,
    inbox::Reader,
    oauth::{
        ADA, BOB, assert_oauth_error, challenge, parameters, post, public_client, query, redemption,
    },
    operators::run,
    passkeys::{Authenticator, ORIGIN, Request, add, host, passkey_id, submit},
    person::{Page, Person, code, messages},
    time::MINUTE,
};
use serde_json::json;

const ACCOUNT: &str = "/account";
const BINDING: &str = "svc.phone-binding";

/// Sends the answer of a passkey to a page that needs one.
async fn answer(person: &mut Person<'_>, page: &Page, passkey: &mut Authenticator) -> Page {
    let request = Request::of(page);
    let credential = passkey.answer(&request);
    send(person, page, &request, &credential).await
}

async fn send(person: &mut Person<'_>, page: &Page, request: &Request, credential: &str) -> Page {
    let fields = [("step", "answer"), ("ceremony", &*request.ceremony), ("credential", credential)];
    submit(person, "/passkey", page, &fields).await
}

/// Returns the page of an authorization request.
async fn authorize(host: &Host) -> String {
    query(&parameters(&public_client(host).await, &challenge()))
}

/// Starts the sign-in with a passkey alone.
async fn start(person: &mut Person<'_>, path: &str) -> Page {
    let page = person.open(path).await;
    let page = submit(person, "/passkey", &page, &[("step", "start"), ("next", path)]).await;
    assert_eq!(page.heading, "Sign in with a passkey", "{}", page.reply.text);
    page
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_alone_does_not_sign_in_a_person_with_a_passkey() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    let mut passkey = add(&mut ada, "The phone of Ada").await;

    let mut elsewhere = Person::new(&host);
    let page = elsewhere.sign_in(&path, ADA).await;
    assert_eq!(page.heading, "Now your passkey", "{}", page.reply.text);
    assert_eq!(elsewhere.open(ACCOUNT).await.reply.status, 401);
    let page = answer(&mut elsewhere, &page, &mut passkey).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
    assert!(page.reply.text.contains("+1•••••0123"), "{}", page.reply.text);

    // Nor does the link of a message.
    let mut phone = Person::new(&host);
    let page = phone.open(&path).await;
    phone.submit(&page, "phone", &[("phone", ADA)]).await;
    let message = messages(&host, 3).await[2]["text"].as_str().unwrap().to_owned();
    let link = message.split(' ').find_map(|word| word.strip_prefix(ORIGIN)).unwrap();
    let page = phone.open(link).await;
    let page = submit(&mut phone, link, &page, &[("step", "sign_in")]).await;
    assert_eq!(page.heading, "Now your passkey", "{}", page.reply.text);
    let page = answer(&mut phone, &page, &mut passkey).await;
    assert_eq!(page.heading, "Approve an agent", "{}", page.reply.text);

    // Another person's number is not concerned.
    let page = Person::new(&host).sign_in(&path, BOB).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_without_their_number_signs_in_with_a_passkey() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    let mut passkey = add(&mut ada, "Key ring").await;

    let mut elsewhere = Person::new(&host);
    let page = start(&mut elsewhere, ACCOUNT).await;
    let page = answer(&mut elsewhere, &page, &mut passkey).await;
    assert_eq!(page.heading, "Your account", "{}", page.reply.text);
    assert!(page.reply.text.contains("Signed in with the passkey Key ring"), "{}", page.reply.text);

    // On the page of a client, too.
    let mut third = Person::new(&host);
    let page = third.open(&path).await;
    let page = third.submit(&page, "passkey", &[]).await;
    let page = answer(&mut third, &page, &mut passkey).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
    let redirected = third.submit(&page, "allow", &[]).await.redirect_parameters();
    assert!(redirected.contains_key("code"));
    assert_eq!(messages(&host, 1).await.len(), 1, "no other message was needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_alone_does_not_claim_an_agent_for_a_person_with_a_passkey() {
    let host = host().await;
    let mut ada = Person::new(&host);
    ada.sign_in(&authorize(&host).await, ADA).await;
    add(&mut ada, "Laptop").await;
    let agent = host.agent().await;
    let sent = agent.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let code = code(&host, 2).await;
    let verify = json!({ "action": "verify", "code": code });
    for _ in 0..2 {
        agent.call(BINDING, verify.clone()).await.assert_refused(409, "passkey_required");
    }

    let approval_code = sent["approval_code"].as_str().unwrap();
    let page = ada.open(&format!("/approve?approval_code={approval_code}")).await;
    let fields = [("step", "approve"), ("approval_code", approval_code)];
    let page = submit(&mut ada, "/approve", &page, &fields).await;
    assert_eq!(page.heading, "Approved", "{}", page.reply.text);
    let status = agent.result(BINDING, json!({ "action": "status" })).await;
    assert_eq!(status["state"], "claimed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_valid_once_in_its_browser_and_for_its_passkey() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    let mut passkey = add(&mut ada, "Laptop").await;
    let mut bob = Person::new(&host);
    bob.sign_in(&path, BOB).await;
    let mut bobs = add(&mut bob, "The key of Bob").await;

    let refuses = async |person: &mut Person<'_>, page: &Page, request: &Request, text: &str| {
        let refused = send(person, page, request, text).await;
        assert_eq!(refused.reply.status, 401, "{}", refused.reply.text);
        let account = person.open(ACCOUNT).await;
        assert_eq!(account.reply.status, 401, "{}", account.reply.text);
    };
    // Twice, and in another browser.
    let mut first = Person::new(&host);
    let page = start(&mut first, ACCOUNT).await;
    let request = Request::of(&page);
    let credential = passkey.answer(&request);
    let mut other = Person::new(&host);
    let others = start(&mut other, ACCOUNT).await;
    refuses(&mut other, &others, &request, &credential).await;
    assert_eq!(send(&mut first, &page, &request, &credential).await.reply.status, 200);
    refuses(&mut other, &others, &request, &credential).await;
    // The passkey of somebody else as the second factor.
    let mut thief = Person::new(&host);
    let page = thief.sign_in(&path, ADA).await;
    let request = Request::of(&page);
    let credential = bobs.answer(&request);
    refuses(&mut thief, &page, &request, &credential).await;
    // Credentials for another address, for another challenge and too late, and a value that is no
    // credential.
    passkey.origin = "http://portolan.test.example".to_owned();
    let mut late = Person::new(&host);
    let page = start(&mut late, ACCOUNT).await;
    let credential = passkey.answer(&Request::of(&page));
    refuses(&mut late, &page, &Request::of(&page), &credential).await;
    passkey.origin = ORIGIN.to_owned();
    for credential in ["", "{}", "[1]", "\u{0}", &passkey.answer(&request)] {
        let page = start(&mut late, ACCOUNT).await;
        refuses(&mut late, &page, &Request::of(&page), credential).await;
    }
    let page = start(&mut late, ACCOUNT).await;
    let credential = passkey.answer(&Request::of(&page));
    host.advance(6 * MINUTE).await;
    refuses(&mut late, &page, &Request::of(&page), &credential).await;
    // A copy of the passkey that is behind the original.
    let page = start(&mut late, ACCOUNT).await;
    let request = Request::of(&page);
    let old = passkey.answer(&request);
    let mut original = Person::new(&host);
    let newer = start(&mut original, ACCOUNT).await;
    assert_eq!(answer(&mut original, &newer, &mut passkey).await.reply.status, 200);
    refuses(&mut late, &page, &request, &old).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_valid_for_the_purpose_of_its_request_only() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    let mut passkey = add(&mut ada, "Laptop").await;
    let save = async |person: &mut Person<'_>, page: &Page, ceremony: &str, credential: &str| {
        let fields = [
            ("step", "save_passkey"),
            ("ceremony", ceremony),
            ("credential", credential),
            ("name", "Phone"),
        ];
        submit(person, ACCOUNT, page, &fields).await
    };
    let refused = |page: &Page| {
        assert!(page.reply.status.is_client_error(), "{}", page.reply.text);
    };
    // A sign-in is answered to the request for a new passkey, and the reverse.
    let account = ada.open(ACCOUNT).await;
    let adding = submit(&mut ada, ACCOUNT, &account, &[("step", "add_passkey")]).await;
    let request = Request::of(&adding);
    let credential = passkey.answer(&request);
    refused(&save(&mut ada, &account, &request.ceremony, &credential).await);
    let adding = submit(&mut ada, ACCOUNT, &account, &[("step", "add_passkey")]).await;
    let request = Request::of(&adding);
    let (_, credential) = Authenticator::create(&request, ORIGIN);
    refused(&send(&mut ada, &adding, &request, &credential).await);
    let mut elsewhere = Person::new(&host);
    let page = start(&mut elsewhere, ACCOUNT).await;
    let request = Request::of(&page);
    let mut unknown = Authenticator::create(&request, ORIGIN).0;
    refused(&send(&mut elsewhere, &page, &request, &unknown.answer(&request)).await);
    let signing_in = start(&mut elsewhere, ACCOUNT).await;
    let request = Request::of(&signing_in);
    let credential = Authenticator::create(&request, ORIGIN).1;
    refused(&save(&mut ada, &account, &request.ceremony, &credential).await);
    assert_eq!(elsewhere.open(ACCOUNT).await.reply.status, 401);
    assert!(!ada.open(ACCOUNT).await.reply.text.contains("Phone"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_person_does_not_come_back_by_a_passkey() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    let mut passkey = add(&mut ada, "Laptop").await;
    let account = ada.open(ACCOUNT).await;
    let adding = submit(&mut ada, ACCOUNT, &account, &[("step", "add_passkey")]).await;
    let mut second = Person::new(&host);
    let factor = second.sign_in(&path, ADA).await;
    let mut alone = Person::new(&host);
    let signing_in = start(&mut alone, ACCOUNT).await;

    let owners = "SELECT id FROM documents WHERE id LIKE 'own!_%' ESCAPE '!'";
    let owner_id = host.database().texts(owners).await.remove(0);
    let erase = host.operator.delete(format!("{}/people/{owner_id}", host.admin_url));
    assert_eq!(erase.send().await.unwrap().status(), 200);

    for (person, page) in [(&mut second, &factor), (&mut alone, &signing_in)] {
        let page = answer(person, page, &mut passkey).await;
        assert_eq!(page.reply.status, 401, "{}", page.reply.text);
    }
    let request = Request::of(&adding);
    let (_, credential) = Authenticator::create(&request, ORIGIN);
    let fields = [
        ("step", "save_passkey"),
        ("ceremony", &*request.ceremony),
        ("credential", &*credential),
        ("name", "Phone"),
    ];
    let page = submit(&mut ada, ACCOUNT, &adding, &fields).await;
    assert!(page.reply.status.is_client_error(), "{}", page.reply.text);
    assert_eq!(host.database().texts(owners).await, Vec::<String>::new());
    // A sign-in with the number creates a new account.
    let page = Person::new(&host).sign_in(&path, ADA).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
    assert_ne!(host.database().texts(owners).await, [owner_id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_signed_in_just_now_changes_passkeys_and_the_agents_learn_of_it() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    let reader = Reader::new(&host).await;
    reader.agent.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let verify = json!({ "action": "verify", "code": code(&host, 2).await });
    reader.agent.result(BINDING, verify).await;
    let changes = async || {
        host.wait_until_settled().await;
        let page = reader.page("wait=0&cursor=0&types=identity.passkeys_changed").await;
        let events = page["events"].as_array().unwrap().clone();
        events.iter().map(|event| event["data"]["change"].clone()).collect::<Vec<_>>()
    };
    add(&mut ada, "Laptop").await;
    assert_eq!(changes().await, ["added"]);

    // A stolen cookie is no way to stay.
    host.advance(11 * MINUTE).await;
    let page = ada.open(ACCOUNT).await;
    let id = passkey_id(&page);
    for fields in [&[("step", "add_passkey")][..], &[("step", "remove_passkey"), ("passkey", &id)]]
    {
        let refused = submit(&mut ada, ACCOUNT, &page, fields).await;
        assert_eq!(refused.reply.status, 401, "{}", refused.reply.text);
        assert!(refused.reply.text.contains("ten minutes ago"), "{}", refused.reply.text);
    }
    assert!(ada.open(ACCOUNT).await.reply.text.contains("Laptop"));
    assert_eq!(changes().await, ["added"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_passkey_ends_what_the_number_alone_has_reached() {
    let host = host().await;
    let client = public_client(&host).await;
    let path = query(&parameters(&client, &challenge()));
    let (mut ada, mut thief) = (Person::new(&host), Person::new(&host));
    let consent = thief.sign_in(&path, ADA).await;
    let redirected = thief.submit(&consent, "allow", &[]).await.redirect_parameters();
    ada.sign_in(&path, ADA).await;
    add(&mut ada, "Laptop").await;
    assert_eq!(thief.open(ACCOUNT).await.reply.status, 401);
    let redeemed = redemption(&client, &redirected["code"]);
    let refused = post(&host, "/oauth/token", &redeemed, None).await;
    assert_oauth_error(&refused, 400, "invalid_grant");
    // A second one ends nothing.
    let mut phone = Person::new(&host);
    phone.cookies = ada.cookies.clone();
    add(&mut ada, "Phone").await;
    assert_eq!(phone.open(ACCOUNT).await.reply.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_of_a_thief_does_not_outlive_signing_out_everywhere() {
    let host = host().await;
    let path = authorize(&host).await;
    let (mut ada, mut thief) = (Person::new(&host), Person::new(&host));
    thief.sign_in(&path, ADA).await;
    let mut thiefs = add(&mut thief, "Mine").await;
    assert_eq!(ada.sign_in(&path, ADA).await.heading, "Now your passkey");
    // One of the person's agents does the same.
    let page = thief.open(ACCOUNT).await;
    submit(&mut thief, ACCOUNT, &page, &[("step", "sign_out_everywhere")]).await;
    let page = start(&mut thief, ACCOUNT).await;
    let page = answer(&mut thief, &page, &mut thiefs).await;
    assert_eq!(page.reply.status, 401, "{}", page.reply.text);
    let page = ada.sign_in(&path, ADA).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_that_does_not_count_signs_in_and_one_that_verifies_nobody_does_not() {
    let host = host().await;
    let mut ada = Person::new(&host);
    ada.sign_in(&authorize(&host).await, ADA).await;
    let mut passkey = add(&mut ada, "Laptop").await;
    passkey.counts = false;
    for _ in 0..2 {
        let mut elsewhere = Person::new(&host);
        let page = start(&mut elsewhere, ACCOUNT).await;
        assert_eq!(answer(&mut elsewhere, &page, &mut passkey).await.reply.status, 200);
    }
    passkey.verifies = false;
    let mut elsewhere = Person::new(&host);
    let page = start(&mut elsewhere, ACCOUNT).await;
    assert_eq!(answer(&mut elsewhere, &page, &mut passkey).await.reply.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_goes_on_at_a_page_of_this_host_only() {
    let host = host().await;
    let mut ada = Person::new(&host);
    ada.sign_in(&authorize(&host).await, ADA).await;
    let mut passkey = add(&mut ada, "Laptop").await;
    for next in ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example"] {
        let mut elsewhere = Person::new(&host);
        let page = elsewhere.open(ACCOUNT).await;
        let fields = [("step", "start"), ("next", next)];
        let page = submit(&mut elsewhere, "/passkey", &page, &fields).await;
        let page = answer(&mut elsewhere, &page, &mut passkey).await;
        assert_eq!(page.heading, "Your account", "{next}: {}", page.reply.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_passkey_no_longer_signs_in_and_the_number_does() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    let mut passkey = add(&mut ada, "Laptop").await;
    let page = ada.open(ACCOUNT).await;
    let id = passkey_id(&page);
    let fields = [("step", "remove_passkey"), ("passkey", &*id)];
    let page = submit(&mut ada, ACCOUNT, &page, &fields).await;
    assert!(!page.reply.text.contains("Laptop"), "{}", page.reply.text);

    let mut elsewhere = Person::new(&host);
    let page = start(&mut elsewhere, ACCOUNT).await;
    let page = answer(&mut elsewhere, &page, &mut passkey).await;
    assert_eq!(page.reply.status, 401, "{}", page.reply.text);
    assert!(page.reply.text.contains("belongs to no account"), "{}", page.reply.text);
    let page = elsewhere.sign_in(&path, ADA).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_helps_a_person_who_has_lost_every_passkey() {
    let host = host().await;
    let path = authorize(&host).await;
    let mut ada = Person::new(&host);
    ada.sign_in(&path, ADA).await;
    add(&mut ada, "Laptop").await;
    add(&mut ada, "Phone").await;
    assert_eq!(Person::new(&host).sign_in(&path, ADA).await.heading, "Now your passkey");
    let owners = "SELECT id FROM documents WHERE id LIKE 'own!_%' ESCAPE '!'";
    let owner_id = host.database().texts(owners).await.remove(0);
    let command = ["people", "remove-passkeys", &owner_id, "--yes"];
    let (succeeded, printed, error) = run(&host, &[], &command);
    assert!(succeeded && printed.contains("2 passkeys removed"), "{printed}{error}");
    let page = Person::new(&host).sign_in(&path, ADA).await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_whose_address_is_a_number_says_that_it_has_no_passkeys() {
    let host = Host::with(&["svc_phone_binding", "ledger"]).await;
    let mut ada = Person::new(&host);
    let page = ada.sign_in(&authorize(&host).await, ADA).await;
    assert!(page.heading.starts_with("Allow"));
    let page = ada.open(ACCOUNT).await;
    assert!(page.reply.text.contains("cannot have passkeys"), "{}", page.reply.text);
    let page = submit(&mut ada, ACCOUNT, &page, &[("step", "add_passkey")]).await;
    assert_eq!(page.reply.status, 403, "{}", page.reply.text);
}
