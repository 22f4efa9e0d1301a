// The page's policy forbids that text becomes markup or a script's address (Trusted Types). The map's
// library tries once whether the browser draws inline pictures, with a constant, and the page names
// its own worker; nothing else is let through.

const PROBE = "<svg/>";
const WORKER = new URL(document.querySelector("main")?.dataset.reader ?? "", document.baseURI).href;

interface Policies {
  createPolicy(
    name: string,
    rules: Record<"createHTML" | "createScriptURL", (text: string) => string | null>,
  ): unknown;
}

const { trustedTypes } = globalThis as { trustedTypes?: Policies };
const only = (allowed: string) => (text: string) => (text === allowed ? text : null);
trustedTypes?.createPolicy("default", { createHTML: only(PROBE), createScriptURL: only(WORKER) });
