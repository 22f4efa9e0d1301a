// An application with openid-client, configured by discovery and registration alone.
//
// node openid-client.mjs URL OUTBOX

import assert from "node:assert/strict";
import { test } from "node:test";
import * as client from "openid-client";
import { reads, refused, writes } from "./api.mjs";
import { Person } from "./person.mjs";

const [url, outbox] = process.argv.slice(2);
const http = { algorithm: "oauth2", execute: [client.allowInsecureRequests] };
const person = new Person(outbox, "+12015550102");
const redirectUri = "http://localhost:8124/callback";
const metadata = {
  client_name: "openid-client",
  redirect_uris: [redirectUri],
  grant_types: ["authorization_code", "refresh_token", "client_credentials"],
};

function register(more, auth) {
  return client.dynamicClientRegistration(new URL(url), { ...metadata, ...more }, auth, http);
}

/** Asks the person, and returns what is needed to exchange the code. */
async function ask(config, parameters) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: expectedState,
    resource: url,
    ...parameters,
  });
  return { sentTo: await person.allow(address), checks: { pkceCodeVerifier, expectedState } };
}

function redeem(config, { sentTo, checks }) {
  return client.authorizationCodeGrant(config, sentTo, checks, { resource: url });
}

const says = (error) => ({ name: "ResponseBodyError", error });

for (const [method, auth] of [
  ["client_secret_basic", client.ClientSecretBasic],
  ["client_secret_post", client.ClientSecretPost],
]) {
  test(`a client by itself: ${method}`, async () => {
    const config = await register({ token_endpoint_auth_method: method }, auth());
    assert.equal(config.serverMetadata().issuer, url);
    assert(config.serverMetadata().supportsPKCE());
    const token = await client.clientCredentialsGrant(config, { scope: "svc.read", resource: url });
    assert.equal(token.scope, "svc.read");
    await reads(url, token.access_token);
    const { client_id } = config.clientMetadata();
    const wrong = await client.discovery(new URL(url), client_id, undefined, auth("wrong"), http);
    await assert.rejects(client.clientCredentialsGrant(wrong), (error) => error.status === 401);
  });
}

test("a client by itself: private_key_jwt", async () => {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const jwks = { keys: [await crypto.subtle.exportKey("jwk", keys.publicKey)] };
  const more = { token_endpoint_auth_method: "private_key_jwt", jwks };
  const config = await register(more, client.PrivateKeyJwt(keys.privateKey));
  const token = await client.clientCredentialsGrant(config);
  await reads(url, token.access_token);
});

test("a person lets a client: it reads, writes, refreshes until a token comes twice", async () => {
  const config = await register({
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
  }, client.None());
  const scope = "svc.read svc.write offline_access";
  const first = await redeem(config, await ask(config, { scope }));
  await reads(url, first.access_token);
  await writes(url, first.access_token);
  const second = await client.refreshTokenGrant(config, first.refresh_token, { scope: "svc.read" });
  assert.equal(second.scope, "svc.read");
  await reads(url, second.access_token);
  for (const { refresh_token } of [first, second]) {
    await assert.rejects(client.refreshTokenGrant(config, refresh_token), says("invalid_grant"));
  }
  for (const { access_token } of [first, second]) await refused(url, access_token);
});

test("a code is good once, for whoever has the verifier", async () => {
  const config = await register();
  const asked = await ask(config);
  const checks = { ...asked.checks, pkceCodeVerifier: client.randomPKCECodeVerifier() };
  await assert.rejects(redeem(config, { ...asked, checks }), says("invalid_grant"));
  const token = await redeem(config, asked);
  await assert.rejects(redeem(config, asked), says("invalid_grant"));
  await refused(url, token.access_token);
});

test("an answer of another issuer is noticed", async () => {
  const config = await register();
  const asked = await ask(config);
  asked.sentTo.searchParams.set("iss", "https://other.example");
  await assert.rejects(redeem(config, asked), { code: "OAUTH_INVALID_RESPONSE" });
  asked.sentTo.searchParams.delete("iss");
  await assert.rejects(redeem(config, asked), { code: "OAUTH_INVALID_RESPONSE" });
});

test("a client looks at its tokens and ends them", async () => {
  const config = await register();
  const token = await redeem(config, await ask(config));
  const seen = await client.tokenIntrospection(config, token.access_token);
  assert.deepEqual([seen.active, seen.iss, seen.aud], [true, url, url]);
  await client.tokenRevocation(config, token.access_token);
  await refused(url, token.access_token);
  const after = await client.tokenIntrospection(config, token.access_token);
  assert.deepEqual(after, { active: false });
});
