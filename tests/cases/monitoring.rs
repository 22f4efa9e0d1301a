//! The files of `packaging/monitoring` with Debian's Prometheus, on series of a host.

use crate::harness::{
    Host, Options, PATIENCE, Reply,
    feeds::{OTHER_CITY, with_other_city},
    inbox::Reader,
    postgres::Server,
    server::response,
    webhooks::{self, receiver, wait_until},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The bucket of a histogram that is above the limit of an alert.
const SLOW: &str = "http_server_request_duration_seconds_bucket{le=\"+Inf\",http_request_method=\"POST\",http_route=\"/v1/capabilities/{id}/call\",http_response_status_code=\"200\"}";
const COMMITS: &str = "db_client_operation_duration_seconds_count{db_system_name=\"sqlite\",db_operation_name=\"COMMIT\",error_type=\"\"}";
const RUNS: &str = "portolan_call_duration_seconds_count{capability=\"notes\",action=\"put\"}";
const RUNS_OF_ALL: &str = "portolan_call_duration_seconds_count";
const QUOTA: &str = "portolan_quota_used{capability=\"notes\",mode=\"live\",quota=\"documents\"}";

/// A series and its values, in the notation of promtool.
type Fault = (&'static str, &'static str);

/// What promtool expects of the number of firing alerts, compared with 0.
const FIRES: &str = "[{ labels: '{}', value: 1 }]";

/// The faults of each alert: the series that differ from those of a healthy host.
const FAULTS: [(&str, &[Fault]); 18] = [
    ("PortolanDown", &[("up", "0x60")]),
    ("PortolanDatabaseDown", &[("portolan_database_up", "0x60")]),
    ("PortolanNotReady", &[("portolan_ready", "0x60")]),
    (
        "PortolanOwnFaults",
        &[
            ("portolan_refusals_total{error_code=\"capability_trapped\"}", "0+6x60"),
            (RUNS, "0+60x60"),
        ],
    ),
    ("PortolanSlowCalls", &[(SLOW, "0+60x60")]),
    ("PortolanSandboxesBusy", &[("portolan_sandboxes_in_use", "1000000x60")]),
    ("PortolanConflicts", &[("portolan_commit_conflicts_total", "0+30x60"), (COMMITS, "0+60x60")]),
    ("PortolanDueWorkLate", &[("portolan_due_age_seconds{kind=\"timer\"}", "900x60")]),
    ("PortolanDeadLetters", &[("portolan_dead_letters", "2x60")]),
    ("PortolanWebhooksFail", &[("portolan_webhook_attempts_total{outcome=\"refused\"}", "0+6x60")]),
    (
        "PortolanTextMessagesFail",
        &[("portolan_text_message_attempts_total{outcome=\"failed\"}", "0+1x60")],
    ),
    ("PortolanTextMessageBudgetExhausted", &[("portolan_text_message_budget_exhausted", "1x60")]),
    ("PortolanCatalogRefused", &[("portolan_catalog_refused_files", "1x60")]),
    ("PortolanQuotaNearlyUsed", &[(QUOTA, "999999999999x60")]),
    ("PortolanConnectionsNearlyUsed", &[("portolan_connections", "1000000x60")]),
    ("PortolanFeedsRefused", &[("portolan_feeds_refused", "1x60")]),
    ("PortolanFeedsRefused", &[("portolan_city_feeds_refused{city=\"oakland\"}", "1x60")]),
    ("PortolanSpansLost", &[("portolan_telemetry_spans_total{outcome=\"dropped\"}", "0+5x60")]),
];

/// Refusals with a code, of which there is one every ten seconds.
const REFUSALS: &str = "0+6x60";

fn refusals(code: &str) -> String {
    format!("portolan_refusals_total{{error_code=\"{code}\"}}")
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn monitoring(name: &str) -> PathBuf {
    workspace().join("packaging/monitoring").join(name)
}

/// Returns the names of the alerts.
fn alerts() -> Vec<String> {
    let rules = fs::read_to_string(monitoring("alerts.yaml")).unwrap();
    let names = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    names.map(str::to_owned).collect()
}

/// Starts a host of two cities that has answered calls and sent an event to a webhook that refuses it, and returns its
/// metrics.
async fn busy_host() -> (Host, String) {
    let mut options = webhooks::options("metrics_public = true");
    options.components.extend(Options::with(&["notes"]).components);
    // Nothing is published for this city.
    options.configuration = with_other_city(&options.configuration, Path::new(OTHER_CITY));
    let host = Host::start(options).await;
    let refusing = receiver(|_| Some(response("500 Internal Server Error", "", ""))).await;
    let reader = Reader::claimed(&host).await;
    reader.subscribe(refusing.port).await;
    let note = json!({ "title": "t", "body": "" });
    let put = json!({ "action": "put", "id": "one", "note": note });
    reader.agent.result("notes", put).await;
    reader.send_events("one", &["told"]).await;
    reader
        .agent
        .call("notes", json!({ "action": "unknown" }))
        .await
        .assert_refused(400, "unknown_action");
    let mut text = String::new();
    wait_until(async || {
        text = host.operate("/metrics").await.text;
        text.contains("portolan_webhook_attempts_total{outcome=\"refused\"}")
    })
    .await;
    (host, text)
}

/// Returns the samples of a text in the format of OpenMetrics: each series with its value.
fn samples(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let sample = line.split(" # ").next()?;
        let (series, value) = sample.rsplit_once(' ')?;
        Some((series.to_owned(), value.to_owned()))
    };
    lines.filter_map(sample).collect()
}

/// Returns the names of the families in a text of metrics.
fn families(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect()
}

/// Returns whether a host serves a metric with this name.
fn is_served(families: &BTreeSet<&str>, name: &str) -> bool {
    let parts = ["_total", "_bucket", "_count", "_sum", "_info"];
    families.contains(name)
        || parts
            .iter()
            .filter_map(|part| name.strip_suffix(part))
            .any(|name| families.contains(name))
}

/// Returns the names of metrics in a text with expressions.
fn metric_names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let prefixes = ["portolan_", "http_server_", "db_client_", "process_"];
    let labels = ["db_client_connection_pool_name", "db_client_connection_state"];
    words
        .filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)))
        .filter(|word| !labels.contains(word))
        .collect()
}

/// Returns series as promtool reads them.
fn input_series(series: &BTreeMap<String, String>) -> String {
    let line = |(series, values): (&String, &String)| {
        let own = "instance=\"node\",job=\"portolan\"";
        let series = match series.strip_suffix('}') {
            Some(series) => format!("{series},{own}}}"),
            None => format!("{series}{{{own}}}"),
        };
        format!("      - series: '{series}'\n        values: '{values}'\n")
    };
    series.iter().map(line).collect()
}

/// Runs promtool, which must succeed.
fn promtool(arguments: &[&str], folder: &Path) {
    let output = Command::new("promtool").args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("promtool: {error}; install prometheus"));
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_alert_fires_under_its_fault_and_none_at_a_host_that_is_well() {
    let (_host, text) = busy_host().await;
    let families = families(&text);
    let named: BTreeSet<String> = FAULTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(named, alerts().into_iter().collect());
    let mut well: BTreeMap<String, String> =
        samples(&text).into_iter().map(|(series, value)| (series, format!("{value}x60"))).collect();
    well.insert("up".to_owned(), "1x60".to_owned());
    let test = |series: &BTreeMap<String, String>, alert: &str, samples: &str| {
        format!(
            "  - interval: 1m\n    input_series:\n{}    promql_expr_test:\n      - expr: count(ALERTS{{alertname=~\"{alert}\",alertstate=\"firing\"}}) > bool 0\n        eval_time: 50m\n        exp_samples: {samples}\n",
            input_series(series)
        )
    };
    let mut tests = test(&well, "Portolan.*", "[]");
    for (alert, faults) in FAULTS {
        let mut series = well.clone();
        for (name, values) in faults {
            let family = name.split('{').next().unwrap();
            assert!(family == "up" || is_served(&families, family), "{family} is not served");
            series.insert((*name).to_owned(), (*values).to_owned());
        }
        tests += &test(&series, alert, FIRES);
    }
    // What the caller has done wrong pages nobody, however often.
    for code in ["capability_deprecated", "rate_limited"] {
        let mut series = well.clone();
        series.insert(refusals(code), REFUSALS.to_owned());
        series.insert(RUNS.to_owned(), "0+60x60".to_owned());
        tests += &test(&series, "PortolanOwnFaults", "[]");
    }
    // A node that has run nothing since its start refuses everything.
    let mut series = well.clone();
    series.retain(|name, _| !name.starts_with(RUNS_OF_ALL));
    series.insert(refusals("capability_unavailable"), REFUSALS.to_owned());
    tests += &test(&series, "PortolanOwnFaults", FIRES);
    let folder = TempDir::new().unwrap();
    fs::copy(monitoring("alerts.yaml"), folder.path().join("alerts.yaml")).unwrap();
    let head = "rule_files: [alerts.yaml]\nevaluation_interval: 1m\ntests:\n";
    fs::write(folder.path().join("tests.yaml"), format!("{head}{tests}")).unwrap();
    promtool(&["check", "rules", "alerts.yaml"], folder.path());
    promtool(&["test", "rules", "tests.yaml"], folder.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_and_dashboard_name_metrics_of_a_host_and_runbooks_that_exist() {
    let (_host, text) = busy_host().await;
    let families = families(&text);
    for file in ["alerts.yaml", "dashboard.json"] {
        let content = fs::read_to_string(monitoring(file)).unwrap();
        let names = metric_names(&content);
        assert!(names.len() > 10, "{file}: {names:?}");
        let unknown: Vec<_> = names.iter().filter(|name| !is_served(&families, name)).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}");
    }
    let page = fs::read_to_string(workspace().join("docs/monitoring.md")).unwrap();
    let rules = fs::read_to_string(monitoring("alerts.yaml")).unwrap();
    for alert in alerts() {
        assert!(page.contains(&format!("\n### {alert}\n")), "{alert} has no runbook");
        let link = format!("runbook_url: docs/monitoring.md#{}\n", alert.to_lowercase());
        assert!(rules.contains(&link), "{alert} has no link");
    }
    let dashboard = fs::read_to_string(monitoring("dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(!panel["targets"].as_array().unwrap().is_empty(), "{}", panel["title"]);
    }
}

/// Debian's Prometheus with the alert rules, which scrapes a host each second and ends when this is dropped.
struct Prometheus<'a> {
    host: &'a Host,
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl Drop for Prometheus<'_> {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _killed = self.process.kill();
        let _status = self.process.wait();
    }
}

impl<'a> Prometheus<'a> {
    fn start(host: &'a Host) -> Self {
        let folder = TempDir::new().unwrap();
        fs::copy(monitoring("alerts.yaml"), folder.path().join("alerts.yaml")).unwrap();
        let target = host.admin_url.strip_prefix("http://").unwrap();
        let settings = format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\nscrape_configs: [{{ job_name: portolan, static_configs: [{{ targets: ['{target}'] }}] }}]\nrule_files: [alerts.yaml]\n"
        );
        fs::write(folder.path().join("prometheus.yaml"), settings).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new("prometheus")
            .args(["--config.file=prometheus.yaml", "--storage.tsdb.path=data"])
            .arg("--enable-feature=exemplar-storage")
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("prometheus: {error}; install it"));
        Self { host, port, process, _folder: folder }
    }

    /// Returns the answer of the API to a request with these fields; `null` while Prometheus starts.
    async fn ask(&mut self, path: &str, fields: &[(&str, &str)]) -> Value {
        let ended = self.process.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}");
        let url = format!("http://127.0.0.1:{}/api/v1/{path}", self.port);
        let request = match fields {
            [] => self.host.client.get(url),
            fields => self.host.client.post(url).form(fields),
        };
        match request.send().await {
            Ok(answer) => Reply::read(answer).await.body,
            Err(_starting) => Value::Null,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_scrapes_a_host_and_an_alert_fires() {
    let options = Options::with(&["notes"]).configuration("metrics_public = true\n");
    let host = Host::start(options).await;
    host.drop_in("broken.wasm", b"not a component");
    host.wait_for("a refused file", |status| !status["refused"].as_array().unwrap().is_empty())
        .await;
    let mut prometheus = Prometheus::start(&host);
    let started = Instant::now();
    let firing = loop {
        let alerts = prometheus.ask("alerts", &[]).await;
        let alerts = alerts["data"]["alerts"].as_array().cloned().unwrap_or_default();
        let is_firing = |alert: &&Value| alert["state"] == "firing";
        if let Some(firing) = alerts.iter().find(is_firing) {
            break firing.clone();
        }
        assert!(started.elapsed() < PATIENCE, "{alerts:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let targets = prometheus.ask("targets", &[]).await;
    assert_eq!(firing["labels"]["alertname"], "PortolanCatalogRefused");
    let target = &targets["data"]["activeTargets"][0];
    assert_eq!((&target["health"], &target["lastError"]), (&json!("up"), &json!("")));
}

/// Panels that show nothing at the host of the test: it answers no request with 5xx, nothing of it is late, and it sends
/// no text messages.
const EMPTY_PANELS: [&str; 3] = ["Server errors", "Age of due work", "Spending on text messages"];

/// Returns each expression of the dashboard with the title of its panel, and with values in place of Grafana's variables.
fn dashboard_expressions() -> Vec<(String, String)> {
    let dashboard = fs::read_to_string(monitoring("dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let filled =
                text(&target["expr"]).replace("$__rate_interval", "15s").replace("$instance", ".+");
            assert!(!filled.contains("[$") && !filled.contains("\"$"), "{filled}");
            found.push((text(&panel["title"]), filled));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_evaluates_each_expression_of_the_dashboard() {
    let (host, _) = busy_host().await;
    let expressions = dashboard_expressions();
    let panels: BTreeSet<&str> = expressions.iter().map(|(panel, _)| panel.as_str()).collect();
    assert!(panels.len() > 20 && EMPTY_PANELS.iter().all(|panel| panels.contains(panel)));
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let reader = Reader::claimed(&host).await;
    let bearer = format!("Bearer {}", host.current_token(&reader.agent.token).await);
    let traceparent = format!("00-{trace}-b7ad6b7169203331-01");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("traceparent", traceparent.as_str()),
    ];
    let mut prometheus = Prometheus::start(&host);
    let started = Instant::now();
    let shown = loop {
        let note = json!({ "title": "t", "body": "" });
        let body = json!({ "action": "put", "id": "two", "note": note }).to_string();
        let path = "/v1/capabilities/notes/call";
        host.send(reqwest::Method::POST, path, &headers, Some(body)).await;
        let mut shown = BTreeSet::new();
        let mut is_up = true;
        for (panel, expression) in &expressions {
            let answer = prometheus.ask("query", &[("query", expression.as_str())]).await;
            if answer.is_null() {
                is_up = false;
                break;
            }
            assert_eq!(answer["status"], "success", "{panel}: {expression}: {answer}");
            if !answer["data"]["result"].as_array().unwrap().is_empty() {
                shown.insert(panel.as_str());
            }
        }
        let empty: Vec<&str> =
            panels.iter().copied().filter(|panel| !shown.contains(panel)).collect();
        if is_up && empty.iter().all(|panel| EMPTY_PANELS.contains(panel)) {
            break shown;
        }
        assert!(started.elapsed() < PATIENCE, "without data: {empty:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    println!("panels with data: {}", shown.into_iter().collect::<Vec<_>>().join(", "));
    // The choice of a node, and the way from a slow call to its trace.
    let nodes = prometheus.ask("label/instance/values?match[]=portolan_build_info", &[]).await;
    let target = host.admin_url.strip_prefix("http://").unwrap();
    assert_eq!(nodes["data"], json!([target]), "{nodes}");
    let exemplars =
        [("query", "portolan_call_duration_seconds_bucket"), ("start", "0"), ("end", "9999999999")];
    loop {
        let answer = prometheus.ask("query_exemplars", &exemplars).await;
        if answer.to_string().contains(trace) {
            break;
        }
        assert!(started.elapsed() < PATIENCE * 2, "{answer}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_need_no_database() {
    let mut server = Server::start(100);
    let options = Options::with(&["notes"]).postgres(&server.database().await);
    let host = Host::start(options).await;
    assert_eq!(host.metric("portolan_database_up").await, 1);
    assert_eq!(host.metric("portolan_dead_letters").await, 0);
    server.kill();
    let reply = host.operate("/metrics").await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let samples = samples(&reply.text);
    assert_eq!(samples["portolan_database_up"], "0.0");
    // The last known values are kept, with their age.
    assert_eq!(samples["portolan_dead_letters"], "0.0");
    let age: f64 = samples["portolan_database_sample_age_seconds"].parse().unwrap();
    assert!(age > 0.0, "{age}");
    server.start_again();
    server.ready().await;
    wait_until(async || host.metric("portolan_database_up").await == 1).await;
}
