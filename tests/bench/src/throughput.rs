//! Requests per second and latency over HTTP: nothing, native work, and the same in a sandbox.

use crate::{
    Effort,
    client::Client,
    host::BenchHost,
    load::{Slice, slice},
    report::{Report, median, spread},
};
use anyhow::{Result, ensure};
use std::time::Instant;

pub(crate) const CONNECTIONS: usize = 32;
const CHECKS: u32 = 100_000;

/// An order of three lines: 200 bytes.
pub(crate) const ORDER: &str = r#"{"action":"alpha","customer":"Ada Lovelace","lines":[{"article":"compass","quantity":2,"price":1950},{"article":"chart","quantity":10,"price":420},{"article":"lamp","quantity":1,"price":3300}]}"#;

/// A search over texts in the component.
const SEARCH: (&str, &str) = ("faq_search", r#"{"query":"claim a phone"}"#);
/// The rendering of a listing's description as safe HTML.
const RENDER: (&str, &str) = (
    "content_render",
    r#"{"format":"html","profile":"listing","markdown":"**Two rooms with a view of the bay**, 68 m², third floor, free from *1 January*.\n\nThe flat has been painted this year. Both rooms face west and have oak floors; the kitchen is new, with a window.\n\n## What comes with it\n\n- a dry cellar, 4 m²\n- a place for two bicycles in the yard\n- the washing machine, if you want it\n- heating from the district network, included in the rent\n\n## What we ask\n\n1. A lease of at least one year.\n2. A deposit of two months' rent, which earns interest.\n3. No smoking inside.\n\n> The house is quiet: six parties, two of them with small children.\n\nThe tram stops *in front of the door*, the market is two streets away, and the park with the lake is a walk of five minutes. Visits are possible on weekday evenings and on Saturdays. Please say who would move in, from when, and what you would like to know."}"#,
);

pub(crate) async fn measure(host: &BenchHost, effort: &Effort, report: &mut Report) -> Result<()> {
    let get = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".to_owned();
    let contenders = [
        ("healthz", get),
        ("native handler", order(host, "/native")),
        ("sandboxed call", order(host, "/v1/capabilities/template_000/call")),
    ];
    compare(host, effort, report, &contenders).await
}

/// Measures the cost of tokens: calls with and without the check of a token, and the check alone.
pub(crate) async fn tokens(host: &BenchHost, effort: &Effort, report: &mut Report) -> Result<()> {
    let contenders = [
        ("call without a check of the token", order(host, "/unchecked")),
        ("call with a token", order(host, "/v1/capabilities/template_000/call")),
    ];
    compare(host, effort, report, &contenders).await?;
    let identity = &host.app.host.identity;
    let begun = Instant::now();
    for _ in 0..CHECKS {
        identity.authenticate(&host.token, identity.audience()).await?;
    }
    let nanoseconds = begun.elapsed().as_nanos() as f64 / f64::from(CHECKS);
    report.add("check of a token that is remembered", nanoseconds, "ns");
    let (id, secret) = &host.client;
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let request = format!(
        "POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    compare(host, effort, report, &[("token", request)]).await
}

pub(crate) fn order(host: &BenchHost, path: &str) -> String {
    post(path, &host.token, ORDER)
}

fn post(path: &str, token: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Measures short and long calls over REST, and the same calls over MCP.
pub(crate) async fn tools(host: &BenchHost, effort: &Effort, report: &mut Report) -> Result<()> {
    for (capability, body) in [("template_000", ORDER), SEARCH, RENDER] {
        let by_rest = post(&format!("/v1/capabilities/{capability}/call"), &host.token, body);
        let by_tool = tool(host, capability, body);
        // A refused tool call has status 200 too and is faster, so the answers are compared.
        let mut client = Client::anonymous(host).await?;
        let answer = client.send(&by_rest).await?.result()?.clone();
        let tool_answer = client.send(&by_tool).await?.body;
        let same = tool_answer.pointer("/result/structuredContent/result") == Some(&answer);
        ensure!(same, "the tool's answer differs from that of REST: {tool_answer}");
        let names = [format!("{capability} by REST"), format!("{capability} as a tool")];
        let [rest, tool] = &names;
        compare(host, effort, report, &[(rest, by_rest), (tool, by_tool)]).await?;
    }
    Ok(())
}

/// Returns a call as a tool, in the revision without sessions.
pub(crate) fn tool(host: &BenchHost, name: &str, arguments: &str) -> String {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{meta}}}}}"#
    );
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {}\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {name}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        host.mcp_token,
        body.len()
    )
}

/// Measures each request, and compares it with the one before it.
async fn compare(
    host: &BenchHost,
    effort: &Effort,
    report: &mut Report,
    contenders: &[(&str, String)],
) -> Result<()> {
    let mut slices: Vec<Vec<Slice>> = contenders.iter().map(|_| Vec::new()).collect();
    // The first round warms up and is not counted.
    for round in 0..=effort.rounds {
        eprintln!("throughput, round {round} of {}", effort.rounds);
        for ((_, request), slices) in contenders.iter().zip(&mut slices) {
            let slice = slice(&host.address, request, CONNECTIONS, effort.slice_ms).await?;
            if round > 0 {
                slices.push(slice);
            }
        }
    }
    let rates = |index: usize| -> Vec<f64> {
        slices.get(index).into_iter().flatten().map(|slice| slice.per_second).collect()
    };
    for (index, (name, _)) in contenders.iter().enumerate() {
        let part = |of: fn(&Slice) -> f64| -> Vec<f64> {
            slices.get(index).into_iter().flatten().map(of).collect()
        };
        report.add(format!("{name}: requests"), median(&rates(index)), "/s");
        if index > 0 {
            let (before, _) = contenders.get(index - 1).cloned().unwrap_or_default();
            let ratios: Vec<f64> =
                rates(index).iter().zip(rates(index - 1)).map(|(rate, base)| rate / base).collect();
            let baseline = format!("{before}: requests");
            report.compare_with(&baseline, median(&ratios), Some(spread(&ratios)));
        }
        let cpu = part(|slice| slice.cpu_us);
        report.add(format!("{name}: processor time of the host"), median(&cpu), "us");
        if index > 0 {
            let (before, _) = contenders.get(index - 1).cloned().unwrap_or_default();
            let base = slices.get(index - 1).into_iter().flatten().map(|slice| slice.cpu_us);
            let ratios: Vec<f64> = base.zip(&cpu).map(|(base, cpu)| base / cpu).collect();
            let baseline = format!("{before}: processor time of the host");
            report.compare_with(&baseline, median(&ratios), Some(spread(&ratios)));
        }
        report.add(format!("{name}: p50"), median(&part(|slice| slice.p50_us)), "us");
        report.add(format!("{name}: p99"), median(&part(|slice| slice.p99_us)), "us");
    }
    Ok(())
}
