//! A claim on a page of the host, which a client opens in its person's browser: no code passes through the client.

use crate::harness::{
    Host, Options,
    mcp::{Mcp, Messages, message},
    oauth::{ADA, BOB, host},
    person::{Page, Person, code, messages},
    time::{MINUTE, SECOND},
};
use serde_json::{Value, json};
use std::time::Duration;

const ALL: &str = "svc.read svc.write svc.events";
const OVER: &str = "has expired or was used";
const CLAIMED: &str = "acts for a person already";

/// Returns a client that can only open pages.
async fn client_with_pages(host: &Host) -> Mcp<'_> {
    host.mcp(ALL).await.with_capabilities(json!({ "elicitation": { "url": {} } }))
}

fn open(account: &str) -> Value {
    json!({ "name": "ledger", "arguments": { "action": "open", "account": account } })
}

/// Returns the path of the claim's page that an answer asks the person to open.
fn requested_page(host: &Host, result: &Value) -> String {
    assert_eq!(result["resultType"], "input_required", "{result:#}");
    let request = &result["inputRequests"]["answers"];
    assert_eq!(request["method"], "elicitation/create");
    page_path(host, &request["params"])
}

fn page_path(host: &Host, params: &Value) -> String {
    assert_eq!(params["mode"], "url", "{params:#}");
    assert!(params["requestedSchema"].is_null() && params["message"].is_string());
    let path = params["url"].as_str().unwrap().strip_prefix(&host.url).unwrap();
    assert!(path.starts_with("/claim/") && path.len() > 100, "{path}");
    path.to_owned()
}

fn repeated(call: &Value, asked: &Value, action: &str) -> Value {
    let mut call = call.clone();
    call["inputResponses"] = json!({ "answers": { "action": action } });
    call["requestState"] = asked["requestState"].clone();
    call
}

fn assert_done(result: &Value, account: &str) {
    assert_eq!(result["isError"], false, "{result:#}");
    assert_eq!(result["structuredContent"]["result"]["account"], account);
}

fn assert_consent(page: &Page) {
    assert_eq!(page.heading, "Allow a test to act for you?", "{}", page.reply.text);
    for part in ["<strong>yours</strong>", "If somebody has sent you this address, refuse"] {
        assert!(page.reply.text.contains(part), "{}", page.reply.text);
    }
}

/// Signs in at the claim's page and confirms it.
async fn claim(person: &mut Person<'_>, path: &str, phone: &str) {
    let page = person.sign_in(path, phone).await;
    assert_consent(&page);
    let done = person.submit(&page, "allow", &[]).await;
    assert_eq!(done.heading, "The agent is yours", "{}", done.reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_client_opens_a_page_and_never_sees_the_code() {
    let host = host().await;
    // A page is preferred to a form.
    for (modes, phone) in [(json!({ "url": {} }), ADA), (json!({ "url": {}, "form": {} }), BOB)] {
        let client = host.mcp(ALL).await.with_capabilities(json!({ "elicitation": modes }));
        let call = open(phone);
        let asked = client.result("tools/call", call.clone()).await;
        let path = requested_page(&host, &asked);
        // The page shows whose agent it is, and opening it changes nothing.
        let mut person = Person::new(&host);
        let page = person.open(&path).await;
        assert_eq!(page.heading, "Sign in with your phone");
        assert!(page.reply.text.contains("<strong>a test</strong> asks to act for you"));
        assert!(page.reply.header("content-security-policy").contains("form-action 'self'"));
        // The call that the client repeats at once waits until the person has finished.
        let count = messages(&host, 0).await.len();
        let waiting = client.result("tools/call", repeated(&call, &asked, "accept"));
        let (done, ()) = tokio::join!(waiting, claim(&mut person, &path, phone));
        assert_done(&done, phone);
        let code = code(&host, count + 1).await;
        for answer in [&asked, &done] {
            assert!(!answer.to_string().contains(&code), "{answer:#}");
        }
        // The address was used, and the page says so.
        let page = person.open(&path).await;
        assert!(page.reply.status == 409 && page.reply.text.contains(CLAIMED));
        // From now on nothing is asked.
        let more = format!("{phone}more");
        assert_done(&client.result("tools/call", open(&more)).await, &more);
        let account = person.open("/account").await;
        assert!(account.reply.text.contains("a test"), "{}", account.reply.text);
    }
    assert!(!host.log().contains("claim/ey"), "an address of a claim is in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_of_an_agent_waits_for_its_person_and_each_wait_costs_a_call() {
    let limit = "rate_limits = \"on\"\n[limits]\nanonymous_calls_per_minute = 3\n";
    let options = Options::with(&["svc_phone_binding", "ledger"]).configuration(limit);
    let host = Host::start_at_fixed_time(options).await;
    let client = client_with_pages(&host).await;
    let call = open("ada");
    let asked = client.result("tools/call", call.clone()).await;
    let path = requested_page(&host, &asked);
    let repeat = || client.result("tools/call", repeated(&call, &asked, "accept"));
    let (mut one, mut other) = (Box::pin(repeat()), Box::pin(repeat()));
    // One waits; the other is told at once to open the page.
    let (told, waiting) = tokio::select! {
        told = &mut one => (told, other),
        told = &mut other => (told, one),
    };
    assert_eq!(requested_page(&host, &told), path);
    // The two waits have left one call.
    let told = repeat().await;
    assert_eq!(requested_page(&host, &told), path);
    let refused = repeat().await;
    assert_eq!(refused["structuredContent"]["error_code"], "rate_limited", "{refused:#}");
    let mut person = Person::new(&host);
    let (done, ()) = tokio::join!(waiting, claim(&mut person, &path, ADA));
    assert_done(&done, "ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_older_protocol_opens_a_page_while_the_call_waits() {
    let host = host().await;
    let client = client_with_pages(&host).await.legacy().await;
    let mut received = Messages::of(client.request("tools/call", open("ada")).await);
    let asked = received.next().await.unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let path = page_path(&host, &asked["params"]);
    assert!(!asked["params"]["elicitationId"].as_str().unwrap().is_empty());
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } });
    assert_eq!(client.send(&answer, &[]).await.status(), 202);
    claim(&mut Person::new(&host), &path, ADA).await;
    let done = received.next().await.unwrap();
    assert_done(&done["result"], "ada");
    let code = code(&host, 1).await;
    assert!(!asked.to_string().contains(&code) && !done.to_string().contains(&code));
    // A person who declines in the client is not waited for.
    let other = client_with_pages(&host).await.legacy().await;
    let mut received = Messages::of(other.request("tools/call", open("bob")).await);
    let asked = received.next().await.unwrap();
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } });
    assert_eq!(other.send(&answer, &[]).await.status(), 202);
    let refused = received.next().await.unwrap();
    let refused = &refused["result"]["structuredContent"];
    assert_eq!(refused["error_code"], "phone_binding_required", "{refused:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_a_while_for_the_page_and_then_asks_for_the_same_one() {
    let host = host().await;
    let client = client_with_pages(&host).await;
    let call = open("ada");
    let asked = client.result("tools/call", call.clone()).await;
    let path = requested_page(&host, &asked);
    let late = async {
        // The waiting time is that of the host, so it must have begun.
        tokio::time::sleep(Duration::from_millis(700)).await;
        host.clock.advance(41 * SECOND);
    };
    let accepted = repeated(&call, &asked, "accept");
    let (again, ()) = tokio::join!(client.result("tools/call", accepted.clone()), late);
    assert_eq!(requested_page(&host, &again), path);
    // Without an answer, the page is asked for again at once.
    let mut unanswered = accepted.clone();
    unanswered["inputResponses"] = json!({});
    assert_eq!(requested_page(&host, &client.result("tools/call", unanswered).await), path);
    for action in ["decline", "cancel"] {
        let refused = client.result("tools/call", repeated(&call, &asked, action)).await;
        let refused = &refused["structuredContent"];
        assert_eq!(refused["error_code"], "phone_binding_required", "{refused:#}");
        assert_eq!(refused["next"]["then"], "retry_original");
    }
    claim(&mut Person::new(&host), &path, ADA).await;
    assert_done(&client.result("tools/call", accepted).await, "ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_over_when_it_was_refused_or_its_time_has_passed() {
    let host = host().await;
    let client = client_with_pages(&host).await;
    let call = open("ada");
    let asked = client.result("tools/call", call.clone()).await;
    let path = requested_page(&host, &asked);
    let mut person = Person::new(&host);
    let page = person.open(&path).await;
    assert_eq!(person.submit(&page, "refuse", &[]).await.heading, "Refused");
    // A page that was opened before the claim is refused as well.
    let again = person.submit(&page, "refuse", &[]).await;
    assert!(again.reply.status == 404 && again.reply.text.contains(OVER), "{}", again.reply.text);
    let refused = person.open(&path).await;
    assert!(refused.reply.status == 404 && refused.reply.text.contains(OVER));
    for path in ["/claim/x", "/claim/x.y.z", "/claim/%FF", &*format!("{path}x")] {
        let page = person.open(path).await;
        assert!(page.reply.status == 404 && page.reply.text.contains(OVER), "{path}");
    }

    let asked = client.result("tools/call", call.clone()).await;
    let path = requested_page(&host, &asked);
    let page = person.sign_in(&path, ADA).await;
    assert_consent(&page);
    host.advance(10 * MINUTE).await;
    let late = person.submit(&page, "allow", &[]).await;
    assert!(late.reply.status == 404 && late.reply.text.contains(OVER), "{}", late.reply.text);
    assert_eq!(person.open(&path).await.reply.status, 404);
    let answer = client.request("tools/call", repeated(&call, &asked, "accept")).await;
    assert_eq!(message(answer).await["error"]["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_was_claimed_meanwhile_calls_and_its_page_says_so() {
    let host = host().await;
    let client = client_with_pages(&host).await;
    let call = open("ada");
    let asked = client.result("tools/call", call.clone()).await;
    let path = requested_page(&host, &asked);
    let mut bob = Person::new(&host);
    let page = bob.sign_in(&path, BOB).await;
    assert_consent(&page);
    // Ada types her code into the agent, which is a way in too.
    let tool = "svc_phone-binding";
    let count = messages(&host, 0).await.len();
    client.tool(tool, json!({ "action": "bind", "phone": ADA })).await;
    let code = code(&host, count + 1).await;
    let verified = client.tool(tool, json!({ "action": "verify", "code": code })).await;
    assert_eq!(verified["isError"], false, "{verified:#}");
    let late = bob.submit(&page, "allow", &[]).await;
    assert!(late.reply.status == 409 && late.reply.text.contains(CLAIMED), "{}", late.reply.text);
    let late = bob.open(&path).await;
    assert!(late.reply.status == 409 && late.reply.text.contains(CLAIMED));
    for action in ["accept", "decline"] {
        let done = client.result("tools/call", repeated(&open(action), &asked, action)).await;
        assert_done(&done, action);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_session_claims_no_agent_without_a_form_of_its_own_browser() {
    let host = host().await;
    let (client, eves) = (client_with_pages(&host).await, client_with_pages(&host).await);
    let asked = client.result("tools/call", open("ada")).await;
    let path = requested_page(&host, &asked);
    // Bob is signed in. Somebody has him open the page, and sends forms from elsewhere.
    let (mut bob, mut eve) = (Person::new(&host), Person::new(&host));
    bob.sign_in(&path, BOB).await;
    let other = requested_page(&host, &eves.result("tools/call", open("eve")).await);
    let shown = bob.open(&other).await;
    assert_consent(&shown);
    let hers = eve.open(&other).await;
    for form in [
        &[("steps", hers.steps.as_str()), ("step", "allow")][..],
        &[("steps", "forged"), ("step", "allow")],
        &[("step", "allow")],
    ] {
        assert_eq!(bob.post(form).await.status, 400);
    }
    assert_eq!(eve.post(&[("steps", &shown.steps), ("step", "allow")]).await.status, 400);
    let refused = eves.tool("ledger", json!({ "action": "balance", "account": "eve" })).await;
    assert_eq!(refused["structuredContent"]["error_code"], "account_not_found", "{refused:#}");
    let unclaimed = "SELECT id FROM documents WHERE id LIKE 'agt_%' AND body LIKE '%\"name\":\"a test\"%' AND body LIKE '%\"owner_id\":null%' AND body LIKE '%\"signs_in\":false%'";
    assert_eq!(host.database().texts(unclaimed).await.len(), 2);
    // The state is valid for its agent only.
    for state in [asked["requestState"].as_str().unwrap(), "nonsense"] {
        let mut call = repeated(&open("eve"), &asked, "accept");
        call["requestState"] = json!(state);
        let answer = message(eves.request("tools/call", call).await).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_pages_and_an_agent_of_test_mode_get_forms() {
    let names = ["svc_phone_binding", "ledger"];
    let host = Host::start(Options::with(&names)).await;
    let body = json!({ "type": "anonymous", "mode": "test" });
    let request = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
    let agent: Value = request.send().await.unwrap().json().await.unwrap();
    let token = host.mcp_token(&agent, ALL).await;
    let both = json!({ "elicitation": { "url": {}, "form": {} } });
    let tester = Mcp::new(&host, token.clone()).with_capabilities(both);
    let forms = host.mcp(ALL).await.with_capabilities(json!({ "elicitation": { "form": {} } }));
    for client in [&tester, &forms] {
        let asked = client.result("tools/call", open("ada")).await;
        let params = &asked["inputRequests"]["answers"]["params"];
        assert_eq!(params["requestedSchema"]["required"], json!(["phone"]), "{asked:#}");
        assert!(params["url"].is_null());
    }
    let pages = json!({ "elicitation": { "url": {} } });
    let tester = Mcp::new(&host, token).with_capabilities(pages);
    let refused = tester.result("tools/call", open("ada")).await;
    assert_eq!(refused["structuredContent"]["error_code"], "phone_binding_required");
}
