"""Every flow with Authlib, as a program in Python uses it. person.mjs acts as the person.

python3 authlib_client.py URL OUTBOX
"""

import os
import subprocess
import sys
import time
import unittest
import uuid
from pathlib import Path

# The host is on this machine and without TLS, which Authlib allows only with this setting.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session, OAuthError
from authlib.oauth2 import rfc8414, rfc9207
from authlib.oauth2.base import invalid_error_characters
from authlib.oauth2.rfc6750.errors import InvalidTokenError
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry

# Tokens name their algorithm `EdDSA`, the older name of Ed25519, which the library accepts only if
# it is in this list.
JWSRegistry.recommended.append("EdDSA")
URL, OUTBOX = sys.argv[1:]
PHONE = "+12015550103"
REDIRECT_URI = "http://127.0.0.1:8125/callback"
WAIT = 30


def get(url):
    answer = requests.get(url, timeout=WAIT)
    answer.raise_for_status()
    return answer.json()


RESOURCE = get(rfc8414.get_well_known_url(URL, True, "oauth-protected-resource"))
[ISSUER] = RESOURCE["authorization_servers"]
SERVER = rfc8414.AuthorizationServerMetadata(get(rfc8414.get_well_known_url(ISSUER, True)))


class Validator(JWTBearerTokenValidator):
    def get_jwks(self):
        return get(SERVER["jwks_uri"])


def claims(token, audience=URL):
    """Returns a token's claims, which the library validates as a resource server does."""
    validator = Validator(ISSUER, audience)
    claims = validator.authenticate_token(token["access_token"])
    validator.validate_token(claims, ["svc.read"], None)
    return claims


def register(**metadata):
    wanted = {
        "client_name": "Authlib",
        "redirect_uris": [REDIRECT_URI],
        "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
    }
    answer = requests.post(SERVER["registration_endpoint"], json=wanted | metadata, timeout=WAIT)
    return answer.status_code, answer.json()


def session(secret=None, **metadata):
    """Registers a client and returns its session."""
    status, client = register(**metadata)
    assert status == 201, client
    return OAuth2Session(
        client["client_id"],
        client.get("client_secret") or secret,
        token_endpoint_auth_method=client["token_endpoint_auth_method"],
        revocation_endpoint_auth_method=client["token_endpoint_auth_method"],
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
        token_endpoint=SERVER["token_endpoint"],
        default_timeout=WAIT,
    )


def introspect(client, token):
    return client.introspect_token(SERVER["introspection_endpoint"], token["access_token"]).json()


def call(token, capability, **body):
    return requests.post(
        f"{URL}/v1/capabilities/{capability}/call",
        headers={"authorization": f"Bearer {token['access_token']}"},
        json=body,
        timeout=WAIT,
    )


def search(token):
    return call(token, "faq_search", action="search", query="phone").status_code


class Person:
    """A person who allows several requests at once, whose codes are exchanged later."""

    def __init__(self):
        self.asked = []

    def ask(self, session, **parameters):
        verifier = generate_token(48)
        endpoint = SERVER["authorization_endpoint"]
        address, state = session.create_authorization_url(
            endpoint, code_verifier=verifier, resource=URL, **parameters
        )
        self.asked.append((address, state, verifier))

    def allow(self):
        """Allows all requests and returns the arguments with which to exchange the code of each."""
        addresses = [address for address, _, _ in self.asked]
        program = ["node", Path(__file__).with_name("person.mjs"), OUTBOX, PHONE, *addresses]
        ran = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=WAIT)
        return [
            {"authorization_response": sent_to, "state": state, "code_verifier": verifier}
            for sent_to, (_, state, verifier) in zip(ran.stdout.split(), self.asked, strict=True)
        ]


class Flows(unittest.TestCase):
    def refuses(self, code, do, *arguments, **named):
        with self.assertRaises(OAuthError) as refused:
            do(*arguments, **named)
        self.assertEqual(refused.exception.error, code)

    def ends(self, token):
        """Asserts that the token is refused within a second."""
        ended, late, status = time.monotonic(), False, 200
        while status == 200 and not late:
            late = time.monotonic() - ended >= 1
            status = search(token)
            time.sleep(0.05)
        self.assertEqual(status, 401)

    def test_the_metadata_is_sound(self):
        self.assertEqual((RESOURCE["resource"], SERVER["issuer"]), (URL, ISSUER))
        SERVER.validate(metadata_classes=[rfc9207.AuthorizationServerMetadata])
        self.assertTrue(SERVER["authorization_response_iss_parameter_supported"])

    def test_a_client_by_itself_with_a_secret(self):
        for method in ["client_secret_basic", "client_secret_post"]:
            client = session(token_endpoint_auth_method=method)
            token = client.fetch_token(grant_type="client_credentials", scope="svc.read")
            said = token["scope"], claims(token)["client_id"]
            self.assertEqual(said, ("svc.read", client.client_id))
            self.assertEqual(search(token), 200)
            client.client_secret = "wrong"
            self.refuses("invalid_client", client.fetch_token, grant_type="client_credentials")

    def test_a_client_by_itself_with_a_key(self):
        key = ECKey.generate_key("P-256")
        jwks = {"keys": [key.as_dict(private=False)]}
        client = session(key, token_endpoint_auth_method="private_key_jwt", jwks=jwks)
        client.register_client_auth_method(PrivateKeyJWT(SERVER["token_endpoint"], alg="ES256"))
        token = client.fetch_token(grant_type="client_credentials")
        self.assertEqual(search(token), 200)
        with self.assertRaises(InvalidTokenError):
            claims(token, f"{URL}/mcp")

    def test_a_person_lets_a_client(self):
        public = {"token_endpoint_auth_method": "none"}
        client = session()
        other = session(grant_types=["authorization_code", "refresh_token"], **public)
        person = Person()
        person.ask(client, scope="svc.read svc.write")
        person.ask(other)
        once, again = person.allow()
        for asked in (once, again):
            self.assertIn(f"iss={requests.utils.quote(URL, '')}", asked["authorization_response"])

        wrong = once | {"code_verifier": generate_token(48)}
        self.refuses("invalid_grant", client.fetch_token, resource=URL, **wrong)
        token = client.fetch_token(resource=URL, **once)
        self.assertEqual(claims(token)["scope"], "svc.read svc.write")
        account = str(uuid.uuid4())
        self.assertEqual(call(token, "ledger", action="open", account=account).status_code, 200)
        seen = introspect(client, token)
        self.assertEqual((seen["active"], seen["client_id"]), (True, client.client_id))
        revoked = client.revoke_token(SERVER["revocation_endpoint"], token["access_token"])
        self.assertEqual(revoked.status_code, 200)
        self.ends(token)
        seen = introspect(client, token)
        self.assertEqual(seen, {"active": False})
        self.refuses("invalid_grant", client.fetch_token, **once)

        first = dict(other.fetch_token(**again))
        second = dict(other.refresh_token())
        self.assertEqual(search(second), 200)
        for token in (first, second):
            refresh = token["refresh_token"]
            self.refuses("invalid_grant", other.refresh_token, refresh_token=refresh)
        self.ends(second)

    def test_refusals_are_described_in_the_characters_of_the_rfcs(self):
        client = session()
        endpoint = SERVER["token_endpoint"]
        who = {"client_id": client.client_id, "client_secret": client.client_secret}
        for form in [
            {"grant_type": "pässword"},
            {"grant_type": "authorization_code", "code": '"\\ü'},
            {"grant_type": "refresh_token", "refresh_token": '"\\ü'},
            {"grant_type": "client_credentials", "scope": '"\\ü'},
            {"grant_type": "client_credentials", "resource": '"\\ü'},
        ]:
            answer = requests.post(endpoint, data=who | form, timeout=WAIT)
            self.assertEqual(answer.status_code, 400, answer.text)
            # RFC 6749, section 5.2.
            self.assertEqual(invalid_error_characters(answer.json()["error_description"]), [])
        for metadata in [
            {"redirect_uris": ["http://ü.example/"]},
            {"redirect_uris": "ü"},
            {"scope": "ü"},
            {"response_types": ["token"]},
        ]:
            status, error = register(**metadata)
            self.assertEqual(status, 400, error)
            # RFC 7591, section 3.2.2.
            self.assertTrue(error["error_description"].isascii(), error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
