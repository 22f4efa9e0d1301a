//! Due work: no capability's work delays the host's messages or the work of others.

use crate::harness::{Host, command, person::code};
use serde_json::json;

/// The number of timers, of which only a few can run while a message is sent.
const MANY: u64 = 20_000;

/// Writes due timers of `ledger` that are older than all others. The action of each refuses.
async fn flood(host: &Host) {
    let order = json!({ "from": "nobody", "to": "nobody", "amount": 1 });
    let input = json!({ "timer": "flood", "order": order });
    let sql = format!(
        "INSERT INTO timers (capability, name, test_mode, setting, action, input, at, due_at, attempts)
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY})
         SELECT 'ledger', 'flood/' || n, 0, 'tmr_' || n, 'due', '{input}', n, n, 0 FROM numbers"
    );
    assert_eq!(host.database().execute(&sql).await, MANY);
}

async fn due(host: &Host) -> u64 {
    let timers = host.operate("/timers").await.body["timers"].clone();
    let rows = timers.as_array().unwrap().iter();
    let mut ledger = rows.filter(|row| row["capability"] == "ledger");
    ledger.next().map_or(0, |row| row["due"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_sent_while_a_capability_has_thousands_of_due_timers() {
    let host = Host::with(&["ledger", "svc_phone_binding"]).await;
    flood(&host).await;
    let bind = json!({ "action": "bind", "phone": "+14155550142" });
    host.agent().await.result("svc.phone-binding", bind).await;
    code(&host, 1).await;
    let waiting = due(&host).await;
    assert!(waiting > MANY / 2, "only {waiting} timers are due");
    // The operator ends the flood.
    let output = command(host.folder.path()).args(["timers", "ledger", "--drop"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(due(&host).await, 0);
}
