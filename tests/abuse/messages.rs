//! Abuses of text messages: whom they go to, what they cost and what they say.

use crate::{
    abuse::{
        attacker::{BINDING, FORM, all_answered, bind, until_refused},
        cost::{Bound, Cost},
        row::{LIVE, Row},
        scene::{Pace, REQUESTS, Scene},
    },
    harness::{
        Options, Reply,
        oauth::{ADA, BOB, challenge, parameters, public_client, query},
        person::messages,
        time::{DAY, HOUR, MINUTE},
    },
};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

/// The longest text of two parts in the letters of a short message.
const TWO_PARTS: usize = 306;
/// The time after which an agent may ask for another code.
const PAUSE: Duration = Duration::from_secs(31);

pub fn options() -> Options {
    let settings = "[text_messages]\nprices = { \"+44\" = 0.5 }\n";
    Options::with(&["svc_phone_binding", "svc_whoami", "owners", "social_permissions"])
        .configuration(&format!("{LIVE}{settings}"))
}

pub const ROWS: &[Row] = &[
    Row {
        name: "codes for strange numbers",
        abuse: "has codes sent to ever new numbers of many areas",
        before: "30 messages in 0.9 s, forgotten at a restart",
        outcome: "`sms_rate_limited` after 30, then one in two minutes",
        bound: Bound::new(5, 30).messages(60),
        attack: |scene| Box::pin(strange_numbers(scene)),
    },
    Row {
        name: "a block of rented numbers",
        abuse: "has codes sent to one block of numbers of a costly country for a share of the price",
        before: "30 messages in 0.9 s from one address",
        outcome: "`sms_rate_limited` after 20 that nobody entered",
        bound: Bound::new(5, 30).messages(20),
        attack: |scene| Box::pin(rented_block(scene)),
    },
    Row {
        name: "satellites and premium numbers",
        abuse: "has codes sent to ranges of no country, and to premium and shared-cost numbers",
        before: "satellite ranges accepted",
        outcome: "`phone_not_allowed`, `phone_invalid`",
        bound: Bound::new(5, 30),
        attack: |scene| Box::pin(costly_numbers(scene)),
    },
    Row {
        name: "one person's number",
        abuse: "has codes sent to one person until nobody can claim with this number",
        before: "the person locked out for a day by one address",
        outcome: "five messages; the person signs in by the link of any of them",
        bound: Bound::new(5, 30).messages(7),
        attack: |scene| Box::pin(one_number(scene)),
    },
    Row {
        name: "codes of a person guessed",
        abuse: "guesses the codes that are sent to one person",
        before: "50 guesses by one address",
        outcome: "`too_many_attempts` after five for a code; at most ten are compared",
        bound: Bound::new(5, 30).messages(5),
        attack: |scene| Box::pin(guesses(scene)),
    },
    Row {
        name: "messages again and again",
        abuse: "asks one agent to send the code again without end",
        before: "–",
        outcome: "`resend_too_soon`; five at most",
        bound: Bound::new(5, 30).messages(6),
        attack: |scene| Box::pin(resends(scene)),
    },
    Row {
        name: "names in messages",
        abuse: "names its agent so that the message deceives, or has many parts",
        before: "a message that names “Portolan Support”",
        outcome: "honest names or none; at most two parts",
        bound: Bound::new(5, 30).messages(8),
        attack: |scene| Box::pin(names(scene)),
    },
    Row {
        name: "forged delivery reports",
        abuse: "sends reports that messages were not delivered",
        before: "–",
        outcome: "refused; codes stay valid",
        bound: Bound::new(5, 120),
        attack: |scene| Box::pin(reports(scene)),
    },
    Row {
        name: "the budget of a day",
        abuse: "spends the budget from sixteen addresses, so that nobody gets a message",
        before: "no budget",
        outcome: "people with an account still get theirs",
        bound: Bound::new(10, 60).messages(360),
        attack: |scene| Box::pin(budget(scene)),
    },
];

fn is_sent(reply: &Reply) -> bool {
    reply.status == 200 && reply.body["result"]["channel"] == "sms"
}

async fn strange_numbers(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let agents = attacker.agents(20).await;
    let attack = async || {
        // An agent may ask for another number after half a minute.
        let ask = async |number: usize| {
            let token = &agents[number % agents.len()];
            attacker.call(token, BINDING, &bind(&scene.number())).await
        };
        all_answered(agents.len(), &[200, 429], ask).await;
        scene.host.advance(PAUSE).await;
        all_answered(agents.len(), &[200, 429], ask).await;
    };
    scene.measure(Pace::HOURLY.taking(PAUSE), attack).await
}

async fn rented_block(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let agents = attacker.agents(25).await;
    let mut last = 0;
    let attack = async || {
        for token in &agents {
            last += 1;
            let number = format!("+44740012{last:04}");
            let reply = attacker.call(token, BINDING, &bind(&number)).await;
            assert!([200, 429].contains(&reply.status.as_u16()), "{}", reply.text);
        }
    };
    // After 20 messages to one block within an hour without a verified code, further ones are refused until
    // those are an hour old. The rest of the hour would have only refusals.
    scene.measure(Pace::EACH_MINUTE.windows(2), attack).await
}

async fn costly_numbers(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let numbers = "+881612345678 +8823421234 +883510012345 +870773123456 +878101234567890 +979123456789 \
        +80012345678 +19002345678 +18002345678 +449012345678 +447012345678 +33891123456 +34803123456";
    let attack = async || {
        let token = attacker.agent().await;
        for number in numbers.split_whitespace() {
            let reply = attacker.call(&token, BINDING, &bind(number)).await;
            let code = reply.body["error_code"].as_str().unwrap_or_default();
            assert!(["phone_not_allowed", "phone_invalid"].contains(&code), "{number}: {code}");
        }
    };
    scene.measure(Pace::ONCE, attack).await
}

async fn one_number(scene: &Scene<'_>) -> Cost {
    let (attacker, victim) = (scene.attacker(), scene.attacker());
    let agents = attacker.agents(20).await;
    let before = messages(scene.host, 0).await.len();
    let attack = async || {
        for token in &agents {
            let reply = attacker.call(token, BINDING, &bind(ADA)).await;
            assert!([200, 429].contains(&reply.status.as_u16()), "{}", reply.text);
        }
    };
    let cost = scene.measure(Pace::HOURLY, attack).await;
    // The person, whose messages are used up, opens the link of the last one.
    let sent = messages(scene.host, before + 1).await;
    let asked = victim.result(&victim.agent().await, BINDING, &bind(ADA)).await;
    assert_eq!(asked["channel"], "link", "{asked}");
    let message = sent.iter().rfind(|message| message["to"] == ADA).unwrap();
    let words = message["text"].as_str().unwrap().split(' ');
    let link = words.filter_map(|word| word.strip_prefix(&scene.host.url)).next().unwrap();
    let mut person = victim.person();
    let page = person.open(link).await;
    let page = person.submit_to(link, &[("form_token", page.form_token.as_str())]).await;
    let approval_code = asked["approval_code"].as_str().unwrap();
    let form = [
        ("step", "approve"),
        ("form_token", page.form_token.as_str()),
        ("approval_code", approval_code),
    ];
    assert_eq!(person.submit_to("/approve", &form).await.heading, "Approved");
    cost
}

async fn guesses(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let agents = attacker.agents(20).await;
    let mut compared = 0;
    let attack = async || {
        for token in &agents {
            let reply = attacker.call(token, BINDING, &bind(BOB)).await;
            if !is_sent(&reply) {
                continue;
            }
            for guess in 0..8 {
                let verify = json!({ "action": "verify", "code": format!("{guess:06}") });
                let reply = attacker.call(token, BINDING, &verify).await;
                assert_ne!(reply.status, 200, "the code was guessed");
                compared += usize::from(reply.body["error_code"] == "code_invalid");
            }
        }
    };
    let cost = scene.measure(Pace::HOURLY, attack).await;
    assert!(compared <= 10, "{compared} codes were compared");
    cost
}

async fn resends(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    attacker.result(&token, BINDING, &bind(&scene.number())).await;
    let attack = async || {
        for _ in 0..3 {
            let reply = attacker.call(&token, BINDING, &json!({ "action": "resend" })).await;
            assert!(reply.status == 200 || reply.status.is_client_error(), "{}", reply.text);
        }
    };
    scene.measure(Pace::EACH_MINUTE, attack).await
}

async fn names(scene: &Scene<'_>) -> Cost {
    let attacker = scene.attacker();
    let longest = "W".repeat(100);
    let emoji = "\u{1f680}".repeat(30);
    let names = [
        "Your bank",
        "pay at http://evil.example/x",
        "code 000000",
        "a\nb",
        longest.as_str(),
        emoji.as_str(),
        "状態状態状態状態状態状態",
        "portolan.example/m/AAAAAAAAAAAAAAAAAAAAAA",
    ];
    let before = messages(scene.host, 0).await.len();
    let attack = async || {
        for name in names {
            let body = json!({ "type": "anonymous", "agent_name": name });
            let registered = attacker.post("/v1/agents/register", &body).await;
            if registered.status == 200 {
                let token = attacker.token(&registered.body).await;
                attacker.result(&token, BINDING, &bind(&scene.number())).await;
            }
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    for message in &messages(scene.host, before).await[before..] {
        let text = message["text"].as_str().unwrap();
        assert!(text.len() <= TWO_PARTS && text.is_ascii(), "{text}");
        assert!(!text.contains("evil.example"), "{text}");
    }
    cost
}

async fn reports(scene: &Scene<'_>) -> Cost {
    const SENT: usize = 150;
    let attacker = scene.attacker();
    let token = attacker.agent().await;
    attacker.result(&token, BINDING, &bind(&scene.number())).await;
    let send = async |number: usize| {
        let path = format!("/v1/sms/reports/sms_{number:026}");
        let headers = [FORM, ("x-twilio-signature", "AAAA")];
        let body = "MessageStatus=failed&MessageSid=SM1".to_owned();
        attacker.send(Method::POST, &path, &headers, Some(body)).await
    };
    let pace = Pace::minutes(2).sampling(SENT, REQUESTS);
    let cost = scene.measure(pace, async || all_answered(SENT, &[403, 404], send).await).await;
    let state = attacker.result(&token, BINDING, &json!({ "action": "status" })).await;
    assert!(state["pending"].is_object(), "{state}");
    cost
}

/// Uses up the day's budget of messages. Nobody enters a code, so a country gets no more than 200 an hour.
async fn budget(scene: &Scene<'_>) -> Cost {
    const HOURS: u64 = 4;
    let owner = scene.attacker();
    owner.claim(&owner.agent().await, "+33612345678").await;
    // The next day of UTC begins with a whole budget.
    let today = Duration::from_millis(scene.host.clock.now().as_millis()).as_secs() % DAY.as_secs();
    scene.host.advance(DAY + HOUR - Duration::from_secs(today)).await;
    let attack = async || {
        for _ in 0..HOURS {
            for attacker in scene.attackers(4) {
                let agents = attacker.agents(6).await;
                until_refused(60, async |number| {
                    if number % agents.len() == 0 {
                        scene.host.advance(MINUTE).await;
                    }
                    let token = &agents[number % agents.len()];
                    attacker.call(token, BINDING, &bind(&scene.number())).await
                })
                .await;
            }
            scene.host.advance(HOUR).await;
        }
    };
    let cost = scene.measure(Pace::ONCE, attack).await;
    let reply = owner.call(&owner.agent().await, BINDING, &bind("+33612345678")).await;
    assert!(is_sent(&reply), "{}", reply.text);
    // The person under attack signs in.
    let client = public_client(scene.host).await;
    scene.host.advance(HOUR).await;
    let path = query(&parameters(&client, &challenge()));
    let page = owner.person().sign_in(&path, "+33612345678").await;
    assert!(page.heading.starts_with("Allow"), "{}", page.reply.text);
    cost
}
