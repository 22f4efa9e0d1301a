// Every flow with oauth4webapi, which is strict: it refuses whatever violates the RFCs.
//
// node oauth4webapi.mjs URL OUTBOX

import assert from "node:assert/strict";
import { test } from "node:test";
import * as oauth from "oauth4webapi";
import { reads, refused, writes } from "./api.mjs";
import { Person } from "./person.mjs";

const [url, outbox] = process.argv.slice(2);
const http = { [oauth.allowInsecureRequests]: true };
const person = new Person(outbox, "+12015550101");
const redirectUri = "http://127.0.0.1:8123/callback";
const grants = ["authorization_code", "refresh_token", "client_credentials"];
let as, resource;

async function register(metadata) {
  const usual = { client_name: "oauth4webapi", redirect_uris: [redirectUri], grant_types: grants };
  const wanted = { ...usual, ...metadata };
  const answer = await oauth.dynamicClientRegistrationRequest(as, wanted, http);
  return oauth.processDynamicClientRegistrationResponse(answer);
}

async function own(client, auth, parameters) {
  const answer = await oauth.clientCredentialsGrantRequest(as, client, auth, parameters, http);
  return oauth.processClientCredentialsResponse(as, client, answer);
}

/** Returns a token's claims, validated by the published keys as RFC 9068 says. */
function claims(token, audience = resource.resource) {
  const headers = { authorization: `Bearer ${token}` };
  return oauth.validateJwtAccessToken(as, new Request(url, { headers }), audience, http);
}

/** Asks the person, and returns what is needed to exchange the code. */
async function ask(client, parameters) {
  const verifier = oauth.generateRandomCodeVerifier();
  // The state must be returned unchanged, in spite of its odd characters.
  const state = `${oauth.generateRandomState()} &=+%"ü`;
  const address = new URL(as.authorization_endpoint);
  address.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    resource: resource.resource,
    ...parameters,
  });
  const sentTo = await person.allow(address);
  assert.equal(sentTo.origin + sentTo.pathname, redirectUri);
  assert.equal(sentTo.searchParams.get("iss"), as.issuer);
  return { callback: oauth.validateAuthResponse(as, client, sentTo, state), verifier };
}

async function redeem(client, auth, { callback, verifier }) {
  const more = { ...http, additionalParameters: { resource: resource.resource } };
  const answer = await oauth.authorizationCodeGrantRequest(
    as, client, auth, callback, redirectUri, verifier, more,
  );
  return oauth.processAuthorizationCodeResponse(as, client, answer);
}

async function refresh(client, auth, token) {
  const answer = await oauth.refreshTokenGrantRequest(as, client, auth, token, http);
  return oauth.processRefreshTokenResponse(as, client, answer);
}

async function introspect(client, auth, token) {
  const answer = await oauth.introspectionRequest(as, client, auth, token, http);
  return oauth.processIntrospectionResponse(as, client, answer);
}

async function revoke(client, auth, token) {
  const answer = await oauth.revocationRequest(as, client, auth, token, http);
  await oauth.processRevocationResponse(answer);
}

const says = (error) => ({ name: "ResponseBodyError", error });

test("the resource leads to its authorization server", async () => {
  for (const at of [`${url}/mcp`, url]) {
    const answer = await oauth.resourceDiscoveryRequest(new URL(at), http);
    resource = await oauth.processResourceDiscoveryResponse(new URL(at), answer);
    assert.equal(resource.resource, at);
  }
  const issuer = new URL(resource.authorization_servers[0]);
  const answer = await oauth.discoveryRequest(issuer, { ...http, algorithm: "oauth2" });
  as = await oauth.processDiscoveryResponse(issuer, answer);
  assert.equal(as.issuer, resource.authorization_servers[0]);
  assert.deepEqual(as.code_challenge_methods_supported, ["S256"]);
  assert(as.authorization_response_iss_parameter_supported);
});

for (const [method, auth] of [
  ["client_secret_basic", oauth.ClientSecretBasic],
  ["client_secret_post", oauth.ClientSecretPost],
]) {
  test(`a client by itself: ${method}`, async () => {
    const client = await register({ token_endpoint_auth_method: method, scope: "svc.read" });
    const token = await own(client, auth(client.client_secret), { scope: "svc.read" });
    assert.equal(token.token_type, "bearer");
    assert.equal(token.refresh_token, undefined);
    const { client_id, scope } = await claims(token.access_token);
    assert.deepEqual([client_id, scope], [client.client_id, "svc.read"]);
    await reads(url, token.access_token);
    await assert.rejects(own(client, auth("wrong"), {}), { status: 401 });
  });
}

test("a client by itself: private_key_jwt with every algorithm of the metadata", async () => {
  for (const alg of as.token_endpoint_auth_signing_alg_values_supported) {
    // The library generates keys by the algorithm's newer name (RFC 9864).
    const kind = alg === "EdDSA" ? "Ed25519" : alg;
    const named = { [oauth.modifyAssertion]: (header) => Object.assign(header, { alg }) };
    const keys = await oauth.generateKeyPair(kind);
    const kid = "first";
    const jwks = { keys: [{ ...(await crypto.subtle.exportKey("jwk", keys.publicKey)), kid }] };
    const client = await register({ token_endpoint_auth_method: "private_key_jwt", jwks });
    const auth = oauth.PrivateKeyJwt({ key: keys.privateKey, kid }, named);
    await claims((await own(client, auth, {})).access_token);
    const others = await oauth.generateKeyPair(kind);
    const forged = oauth.PrivateKeyJwt({ key: others.privateKey, kid }, named);
    await assert.rejects(own(client, forged, {}), says("invalid_client"));
  }
});

test("a token for one resource is not taken by the other", async () => {
  const client = await register({});
  const auth = oauth.ClientSecretBasic(client.client_secret);
  const { access_token } = await own(client, auth, { resource: `${url}/mcp` });
  await claims(access_token, `${url}/mcp`);
  await assert.rejects(claims(access_token), { code: oauth.JWT_CLAIM_COMPARISON });
  await refused(url, access_token);
  const other = { resource: "https://other.example" };
  await assert.rejects(own(client, auth, other), says("invalid_target"));
});

test("a person lets a client: it reads, writes, refreshes until a token comes twice", async () => {
  const grant_types = ["authorization_code", "refresh_token"];
  const client = await register({ token_endpoint_auth_method: "none", grant_types });
  assert.equal(client.client_secret, undefined);
  const auth = oauth.None();
  const first = await redeem(client, auth, await ask(client, { scope: "svc.read svc.write" }));
  const { client_id, scope } = await claims(first.access_token);
  assert.deepEqual([client_id, scope], [client.client_id, "svc.read svc.write"]);
  await reads(url, first.access_token);
  await writes(url, first.access_token);
  const second = await refresh(client, auth, first.refresh_token);
  assert.notEqual(second.refresh_token, first.refresh_token);
  await writes(url, second.access_token);
  // The reuse of the first refresh token means that one was stolen: both are revoked, with their
  // access tokens.
  for (const { refresh_token } of [first, second]) {
    await assert.rejects(refresh(client, auth, refresh_token), says("invalid_grant"));
  }
  for (const { access_token } of [first, second]) await refused(url, access_token);
});

test("a code is good once, for whoever has the verifier", async () => {
  const client = await register({});
  const auth = oauth.ClientSecretBasic(client.client_secret);
  const asked = await ask(client);
  const verifier = oauth.generateRandomCodeVerifier();
  await assert.rejects(redeem(client, auth, { ...asked, verifier }), says("invalid_grant"));
  const token = await redeem(client, auth, asked);
  await reads(url, token.access_token);
  await assert.rejects(redeem(client, auth, asked), says("invalid_grant"));
  await refused(url, token.access_token);
  await assert.rejects(refresh(client, auth, token.refresh_token), says("invalid_grant"));
});

test("a client looks at its tokens and ends them", async () => {
  const client = await register({});
  const auth = oauth.ClientSecretBasic(client.client_secret);
  const token = await redeem(client, auth, await ask(client));
  const { sub } = await claims(token.access_token);
  const seen = await introspect(client, auth, token.access_token);
  assert.deepEqual([seen.active, seen.sub, seen.client_id], [true, sub, client.client_id]);
  assert((await introspect(client, auth, token.refresh_token)).active);

  const other = await register({});
  const others = oauth.ClientSecretBasic(other.client_secret);
  const inactive = { active: false };
  assert.deepEqual(await introspect(other, others, token.access_token), inactive);
  await revoke(other, others, token.access_token);
  await reads(url, token.access_token);

  await revoke(client, auth, token.access_token);
  await refused(url, token.access_token);
  assert.deepEqual(await introspect(client, auth, token.access_token), inactive);
  await revoke(client, auth, "no token");

  const next = await refresh(client, auth, token.refresh_token);
  await reads(url, next.access_token);
  await revoke(client, auth, next.refresh_token);
  await refused(url, next.access_token);
  assert.deepEqual(await introspect(client, auth, next.refresh_token), inactive);
});

test("whoever asks about tokens proves who they are", async () => {
  const grant_types = ["authorization_code"];
  const client = await register({ token_endpoint_auth_method: "none", grant_types });
  // RFC 7662, section 2.1.
  await assert.rejects(introspect(client, oauth.None(), "a token"), { status: 401 });
});
