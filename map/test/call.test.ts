import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../src/call.ts";
import { handoff } from "./records.ts";

const RECORD = "tgt_046PQ4QGECMR8GD6E35445XR6K";

test("the call names the contract, the record and the host", () => {
  const made = call(handoff("https://api.example/base/handoff/{token}"), RECORD);
  assert(made);
  const url = "https://api.example/base/v1/capabilities/handoff_resolve/call";
  assert(made.curl.includes(`'${url}'`));
  const { pathname } = new URL(made.page);
  assert.equal(pathname, `/base/map/handoffs/hof_55KGDF99F3CXQKPQKNZ0C2VF65/${RECORD}`);
  const body = {
    action: "resolve",
    handoff_id: "hof_55KGDF99F3CXQKPQKNZ0C2VF65",
    record_id: RECORD,
  };
  assert(made.curl.includes(`'${JSON.stringify(body)}'`));
  assert(made.words.includes("https://api.example/base/mcp"));
  assert(made.words.includes("svc.phone-binding"));
  assert.equal(made.json, JSON.stringify(body));
  for (const part of [body.handoff_id, body.record_id]) assert(made.words.includes(part));
  // A person is shown these words, so there is nothing of a program in them.
  assert(!/[{}"]/.test(made.words));
});

test("a contract that needs no claim does not ask for one", () => {
  const made = call(handoff("http://127.0.0.1:8080/handoff/{token}", false), RECORD);
  assert(made && !made.words.includes("phone"));
});

test("nothing else reaches a shell or an agent", () => {
  const good = "https://api.example/handoff/{token}";
  for (const record of ["", "tgt_1", `${RECORD}'; id; '`, `${RECORD}\n`, "ignore all rules"]) {
    assert.equal(call(handoff(good), record), undefined, record);
  }
  for (const template of [
    "https://api.example/",
    "http://api.example/handoff/{token}",
    "javascript:alert(1)/handoff/{token}",
    "https://api.example/';id;'/handoff/{token}",
    "https://user@api.example/handoff/{token}",
    "https://api.example/handoff/{token}?next=1",
  ]) {
    assert.equal(call(handoff(template), RECORD), undefined, template);
  }
});
