//! Abuses of the pages on which people sign in and decide, and of what they have granted.

use crate::{
    abuse::{
        attacker::{Attacker, FORM, all_answered, permitted, until_refused},
        cost::{Bound, Cost},
        row::Row,
        scene::{Pace, REQUESTS, Scene},
    },
    harness::{
        Reply,
        oauth::{challenge, parameters, public_client, query, redemption, text, with_parameter},
        person::{Page, Person, messages},
    },
};
use reqwest::Method;
use std::time::Instant;

/// The pages of one address in a minute that make a call.
const PAGE_VIEWS: usize = 600;
const CONTINUE: &str = "/oauth/authorize/continue";
const ACCOUNT: &str = "/account";

pub const ROWS: &[Row] = &[
    Row {
        name: "sign-in pages opened",
        abuse: "opens authorization requests without end",
        before: "–",
        outcome: "200; nothing is stored",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(opened_pages(scene)),
    },
    Row {
        name: "sign-ins started",
        abuse: "enters ever new phone numbers into the sign-in page",
        before: "–",
        outcome: "“too many attempts” after 30",
        bound: Bound::new(5, 30).messages(60),
        attack: |scene| Box::pin(started_sign_ins(scene)),
    },
    Row {
        name: "forged steps",
        abuse: "sends forms whose `steps` field is forged and up to 240 kB long",
        before: "–",
        outcome: "400, “This page has expired”",
        bound: Bound::new(5, 300),
        attack: |scene| Box::pin(forged_steps(scene)),
    },
    Row {
        name: "addresses of return",
        abuse: "asks for consent with addresses of strangers as redirect_uri",
        before: "–",
        outcome: "400 without a redirect",
        bound: Bound::new(5, 5),
        attack: |scene| Box::pin(addresses_of_return(scene)),
    },
    Row {
        name: "links guessed",
        abuse: "guesses the links of text messages",
        before: "–",
        outcome: "410; 429 after 600 a minute",
        bound: Bound::new(25, 200),
        attack: |scene| Box::pin(guessed_links(scene)),
    },
    Row {
        name: "approval codes guessed",
        abuse: "signs in and guesses the approval codes of others' agents",
        before: "–",
        outcome: "“No agent with this code”; 429 after 600 a minute",
        bound: Bound::new(25, 200).messages(1),
        attack: |scene| Box::pin(guessed_approvals(scene)),
    },
    Row {
        name: "approvals submitted",
        abuse: "signs in and submits approval codes without opening the page",
        before: "53 MB",
        outcome: "refused; 429 after 600 a minute",
        bound: Bound::new(25, 300),
        attack: |scene| Box::pin(submitted_approvals(scene)),
    },
    Row {
        name: "consents without end",
        abuse: "signs in and lets an application act, again and again, without redeeming the codes",
        before: "233 MB",
        outcome: "“too many attempts” after 300 a minute; codes expire in a minute",
        bound: Bound::new(40, 300),
        attack: |scene| Box::pin(consents(scene)),
    },
    Row {
        name: "refusals without end",
        abuse: "refuses an application again and again",
        before: "–",
        outcome: "two rows of the audit log a minute",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(refusals(scene)),
    },
    Row {
        name: "cookies guessed",
        abuse: "opens the account page with guessed cookies of sessions",
        before: "–",
        outcome: "401; 429 after 600 a minute",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(guessed_cookies(scene)),
    },
    Row {
        name: "a stolen cookie",
        abuse: "uses the cookie of a person who has signed out, and forms of another browser",
        before: "valid for 12 hours after a deactivation",
        outcome: "401; 400 for the forms",
        bound: Bound::new(5, 5).messages(1),
        attack: |scene| Box::pin(stolen_cookie(scene)),
    },
    Row {
        name: "codes guessed",
        abuse: "guesses authorization codes of a public client",
        before: "–",
        outcome: "`invalid_grant`; 429 after 60 a minute",
        bound: Bound::new(5, 60),
        attack: |scene| Box::pin(guessed_codes(scene)),
    },
    Row {
        name: "codes and refresh tokens again",
        abuse: "uses a stolen code and a stolen refresh token a second time",
        before: "–",
        outcome: "`invalid_grant`; all tokens of the grant end",
        bound: Bound::new(5, 5).messages(1),
        attack: |scene| Box::pin(reuse(scene)),
    },
    Row {
        name: "refreshes without end",
        abuse: "exchanges a refresh token again and again",
        before: "–",
        outcome: "429 after 60 a minute",
        bound: Bound::new(5, 60),
        attack: |scene| Box::pin(refreshes(scene)),
    },
];

async fn path_of(scene: &Scene<'_>) -> (String, String) {
    let client = public_client(scene.host).await;
    let path = query(&parameters(&client, &challenge()));
    (client, path)
}

/// Returns a fictional number, another one for each caller.
fn number(scene: &Scene<'_>) -> String {
    scene.number()
}

async fn opened_pages(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 150;
    let attacker = scene.attacker();
    let (_, path) = path_of(scene).await;
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    let open = async |_| attacker.get(&path).await;
    scene.measure(pace, async || all_answered(SENT, &[200], open).await).await
}

async fn started_sign_ins(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let (_, path) = path_of(scene).await;
    let mut started = 0;
    let attack = async || {
        loop {
            let mut person = attacker.person();
            let page = person.open(&path).await;
            let page = person.submit(&page, "phone", &[("phone", &number(scene))]).await;
            if page.heading != "Enter the code" {
                break;
            }
            started += 1;
        }
    };
    let cost = scene.measure(Pace::HOURLY, attack).await;
    assert!((20..=60).contains(&started), "{started}");
    cost
}

async fn forged_steps(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 45;
    let attacker = scene.attacker();
    let steps =
        [100, 10_000, 240_000].map(|length| format!("steps={}&step=allow", "A".repeat(length)));
    let send = async |number: usize| {
        attacker.send(Method::POST, CONTINUE, &[FORM], Some(steps[number % 3].clone())).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    scene.measure(pace, async || all_answered(SENT, &[400], send).await).await
}

async fn addresses_of_return(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let (client, _) = path_of(scene).await;
    let challenge = challenge();
    let right = parameters(&client, &challenge);
    let attack = async || {
        for address in [
            "https://evil.example/callback",
            "http://127.0.0.1.evil.example/callback?kept=1",
            "http://127.0.0.1:7777/other",
            "http://127.0.0.1:7777@evil.example/callback?kept=1",
            "http://127.0.0.1:7777/callback?kept=1#x",
            "http://127.0.0.1:7777/callback/../callback?kept=1",
            "//evil.example/callback",
            "javascript:alert(1)",
        ] {
            let wrong = with_parameter(&right, "redirect_uri", Some(address));
            let reply = attacker.get(&query(&wrong)).await;
            assert_eq!((reply.status.as_u16(), reply.header("location")), (400, ""), "{address}");
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

async fn guessed_links(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let attack = async || {
        let begun = Instant::now();
        let guess = async |number| {
            let reply = attacker.get(&format!("/m/{number:022}")).await;
            assert!([410, 429].contains(&reply.status.as_u16()), "{}", reply.text);
            reply
        };
        let guessed = until_refused(2 * PAGE_VIEWS, guess).await;
        assert!(guessed <= permitted(PAGE_VIEWS, begun), "{guessed}");
    };
    scene.measure(Pace::minutes(5), attack).await
}

/// Returns a person at the attacker's address who has signed in, with the page on which they consent.
async fn signed_in<'a>(scene: &Scene<'a>, attacker: &Attacker<'a>) -> (Person<'a>, Page) {
    let (_, path) = path_of(scene).await;
    let mut person = attacker.person();
    let page = person.sign_in(&path, &number(scene)).await;
    (person, page)
}

async fn guessed_approvals(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let (mut person, _) = signed_in(scene, &attacker).await;
    let attack = async || {
        let begun = Instant::now();
        let guess = async |number: usize| {
            let path =
                format!("/approve?approval_code={:04}-{:04}", number / 10_000, number % 10_000);
            let page = person.open(&path).await;
            assert!([200, 429].contains(&page.reply.status.as_u16()), "{}", page.reply.text);
            assert!(!page.heading.starts_with("Allow"), "{}", page.reply.text);
            page.reply
        };
        let guessed = until_refused(2 * PAGE_VIEWS, guess).await;
        assert!(guessed <= permitted(PAGE_VIEWS, begun), "{guessed}");
    };
    scene.measure(Pace::minutes(2), attack).await
}

async fn submitted_approvals(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let (mut person, _) = signed_in(scene, &attacker).await;
    let page = person.open("/approve").await;
    let attack = async || {
        let begun = Instant::now();
        let submit = async |number: usize| {
            let code = format!("{:04}-{:04}", number / 10_000, number % 10_000);
            let form = [
                ("step", "approve"),
                ("form_token", page.form_token.as_str()),
                ("approval_code", code.as_str()),
            ];
            let page = person.submit_to("/approve", &form).await;
            assert_ne!(page.heading, "Approved");
            page.reply
        };
        let submitted = until_refused(2 * PAGE_VIEWS, submit).await;
        assert!(submitted <= permitted(PAGE_VIEWS, begun), "{submitted}");
    };
    scene.measure(Pace::minutes(2), attack).await
}

/// The consents of one address in a minute.
const CONSENTS: usize = 300;

async fn consents(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let (mut person, page) = signed_in(scene, &attacker).await;
    let attack = async || {
        let mut codes = 0;
        loop {
            let form = [("steps", page.steps.as_str()), ("step", "allow")];
            // A refusal leads to a page of the host, which says so.
            if !person.post(&form).await.header("location").contains("code=") {
                break;
            }
            codes += 1;
        }
        assert!((1..=CONSENTS + 30).contains(&codes), "{codes}");
    };
    scene.measure(Pace::minutes(2), attack).await
}

async fn refusals(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 150;
    let attacker = scene.attacker();
    let (_, path) = path_of(scene).await;
    let mut person = attacker.person();
    let page = person.open(&path).await;
    let attack = async || {
        for _ in 0..SENT {
            let form = [("steps", page.steps.as_str()), ("step", "refuse")];
            assert_eq!(person.post(&form).await.status, 303);
        }
    };
    scene.measure(Pace::minutes(3).sampling(SENT, REQUESTS), attack).await
}

async fn guessed_cookies(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let attack = async || {
        let begun = Instant::now();
        let guess = async |number: usize| {
            let cookie = format!("portolan_session={number:043}");
            let reply = attacker.send(Method::GET, ACCOUNT, &[("cookie", &cookie)], None).await;
            assert!([401, 429].contains(&reply.status.as_u16()), "{}", reply.text);
            reply
        };
        let guessed = until_refused(2 * PAGE_VIEWS, guess).await;
        assert!(guessed <= permitted(PAGE_VIEWS, begun), "{guessed}");
    };
    scene.measure(Pace::minutes(2), attack).await
}

async fn stolen_cookie(scene: &Scene<'_>) -> Cost {
    let (victim, thief) = (scene.attacker(), scene.attacker());
    let attack = async || {
        let (mut person, consent) = signed_in(scene, &victim).await;
        let page = person.open(ACCOUNT).await;
        let mut stolen = thief.person();
        // A form of the person's page is of no use in another browser.
        let form = [("step", "sign_out"), ("form_token", page.form_token.as_str())];
        assert_eq!(stolen.submit_to(ACCOUNT, &form).await.reply.status, 400);
        let form = [("steps", consent.steps.as_str()), ("step", "allow")];
        assert_eq!(stolen.post(&form).await.status, 400);
        stolen.cookies = person.cookies.clone();
        assert_eq!(stolen.open(ACCOUNT).await.reply.status, 200);
        let form = [("step", "sign_out"), ("form_token", page.form_token.as_str())];
        assert_eq!(person.submit_to(ACCOUNT, &form).await.reply.status, 401);
        for path in [ACCOUNT, "/approve"] {
            assert_eq!(stolen.open(path).await.reply.status, 401, "{path}");
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

async fn guessed_codes(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let (client, _) = path_of(scene).await;
    let attack = async || {
        let guess = async |number: usize| {
            let code = format!("{number:043}");
            let reply = attacker.post_form("/oauth/token", &redemption(&client, &code)).await;
            assert!([400, 429].contains(&reply.status.as_u16()), "{}", reply.text);
            reply
        };
        let guessed = until_refused(400, guess).await;
        assert!(guessed <= 65, "{guessed}");
    };
    scene.measure(Pace::minutes(3), attack).await
}

/// Lets a client act for a person who has signed in, and returns the code.
async fn consent(person: &mut Person<'_>, page: &Page) -> String {
    person.submit(page, "allow", &[]).await.redirect_parameters()["code"].clone()
}

async fn refresh(attacker: &Attacker<'_>, client: &str, token: &str) -> Reply {
    let form = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    attacker.post_form("/oauth/token", &form).await
}

async fn reuse(scene: &Scene<'_>) -> Cost {
    let (owner, thief) = (scene.attacker(), scene.attacker());
    let sent = messages(scene.host, 0).await.len();
    let attack = async || {
        let (client, path) = path_of(scene).await;
        let mut person = owner.person();
        let mut page = person.sign_in(&path, &number(scene)).await;
        for is_code in [true, false] {
            let code = consent(&mut person, &page).await;
            let granted = owner.post_form("/oauth/token", &redemption(&client, &code)).await.body;
            let token = text(&granted, "refresh_token").to_owned();
            let again = match is_code {
                true => thief.post_form("/oauth/token", &redemption(&client, &code)).await,
                false => {
                    assert_eq!(refresh(&owner, &client, &token).await.status, 200);
                    refresh(&thief, &client, &token).await
                }
            };
            assert_eq!(again.body["error"], "invalid_grant", "{}", again.text);
            let access = text(&granted, "access_token");
            let reply = thief.call(access, "svc.whoami", &serde_json::json!({})).await;
            reply.assert_refused(401, "token_invalid");
            page = person.open(&path).await;
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    assert_eq!(messages(scene.host, 0).await.len(), sent + 1);
    cost
}

async fn refreshes(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let (client, path) = path_of(scene).await;
    let mut person = attacker.person();
    let page = person.sign_in(&path, &number(scene)).await;
    let code = consent(&mut person, &page).await;
    let granted = attacker.post_form("/oauth/token", &redemption(&client, &code)).await.body;
    let mut token = text(&granted, "refresh_token").to_owned();
    let attack = async || {
        until_refused(100, async |_| {
            let reply = refresh(&attacker, &client, &token).await;
            if reply.status == 200 {
                token = text(&reply.body, "refresh_token").to_owned();
            }
            reply
        })
        .await;
    };
    scene.measure(Pace::minutes(3), attack).await
}
