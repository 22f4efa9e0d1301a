// Asks the browser for the passkey that the page's form needs, and submits the form with it.
"use strict";

const form = document.getElementById("passkey");
const problem = document.getElementById("problem");

const decode = (text) => {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
};

const encode = (buffer) => {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

// The members of options that are bytes.
const withBytes = (options) => {
  const { publicKey } = options;
  publicKey.challenge = decode(publicKey.challenge);
  if (publicKey.user) {
    publicKey.user.id = decode(publicKey.user.id);
  }
  for (const list of ["excludeCredentials", "allowCredentials"]) {
    for (const credential of publicKey[list] ?? []) {
      credential.id = decode(credential.id);
    }
  }
  return options;
};

const RESPONSE = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];

const withTexts = (credential) => {
  const response = {};
  for (const name of RESPONSE) {
    if (credential.response[name]) {
      response[name] = encode(credential.response[name]);
    }
  }
  return { id: credential.id, rawId: encode(credential.rawId), type: credential.type, response };
};

// The texts for the errors that people meet.
const PROBLEMS = {
  NotAllowedError: "It was cancelled, or it took too long. Try again.",
  InvalidStateError: "This device has a passkey of yours already.",
  SecurityError: "Passkeys work only at the address of this host.",
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  try {
    if (!window.PublicKeyCredential) {
      throw new Error("This browser has no passkeys.");
    }
    const options = withBytes(JSON.parse(form.dataset.options));
    const credential = await navigator.credentials[form.dataset.function](options);
    form.elements.credential.value = JSON.stringify(withTexts(credential));
    form.submit();
  } catch (error) {
    problem.textContent = PROBLEMS[error.name] ?? error.message;
    problem.hidden = false;
  }
});
