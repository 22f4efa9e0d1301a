// The page's policy forbids that text becomes markup (Trusted Types). The map's library tries once
// whether the browser draws inline pictures, with a constant; nothing else is let through.

const PROBE = "<svg/>";

interface Policies {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown;
}

const { trustedTypes } = globalThis as { trustedTypes?: Policies };
trustedTypes?.createPolicy("default", { createHTML: (text) => (text === PROBE ? text : null) });
