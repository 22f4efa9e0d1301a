// Organisations for the tests.

import type { Ask, Feature, Handoff } from "../src/records.ts";

export function feature(
  id: string,
  name: string,
  kind: string,
  asked: [string, string][],
): Feature {
  const ask = asked.map(([type, maturity]): Ask => ({ type, text: "", since: "", maturity }));
  return {
    id,
    geometry: { coordinates: [-122.4, 37.7] },
    properties: {
      name,
      kind,
      ask,
      tagline: "",
      description: "",
      industries: [],
      tags: [],
      status: "active",
      geo: { lat: 37.7, lng: -122.4, precision: "street" },
      open_roles_count: 0,
      verified_owner: false,
      handoff_ids: [],
      sources: [],
      updated_at: "",
    },
  };
}

export function handoff(template: string, claimed = true): Handoff {
  return {
    id: "hof_55KGDF99F3CXQKPQKNZ0C2VF65",
    title: "Get in touch",
    from: { feed: "targets" },
    to: { capability: "agent_listings", action: "create" },
    requires: { claimed, scopes: [] },
    carries: [],
    never_carries: [],
    consent_text: "",
    continuation: { url_template: template, ttl_s: 900, single_use: true },
  };
}
