// Write a capability for a Portolan host. index.d.ts has the documentation.

export * from "./open.js";
export * as identity from "./identity.js";
export * as inbox from "./inbox.js";
export * as lookups from "./lookups.js";
export * as people from "./people.js";
export * as sms from "./sms.js";
export * as webhooks from "./webhooks.js";
