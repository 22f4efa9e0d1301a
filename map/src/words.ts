// What people read in place of the documents' identifiers.

export const KINDS: Record<string, string> = {
  startup: "Startup",
  fund: "Fund",
  accelerator: "Accelerator",
  university: "University",
  coworking: "Coworking space",
  service_provider: "Service provider",
  community: "Community",
  public_body: "Public body",
};

export const ASKS: Record<string, string> = {
  hiring: "People to hire",
  raising: "Investment",
  customers: "Customers",
  partners: "Partners",
  cofounder: "A cofounder",
  space: "Space",
  advice: "Advice",
};

/** The labels of the signal feed, for records that carry only the maturity itself. */
const MATURITIES: Record<string, string> = {
  unsourced: "Unconfirmed",
  source_backed: "Source-backed",
  confirmed: "Confirmed",
  lead: "Lead – not verified",
  corroborated: "Lead – not verified, two publishers",
  verified: "Verified",
  stale: "Stale – no longer on the board",
  closed: "Closed",
  expired: "Expired lead",
  disputed: "Disputed",
  retracted: "Retracted",
};

const TERMS: Record<string, string> = {
  pre_seed: "Pre-seed",
  FULL_TIME: "Full time",
  PART_TIME: "Part time",
  INTERN: "Internship",
  OTHER: "Employment not told",
  on_site: "On site",
  unspecified: "Workplace not told",
  linkedin: "LinkedIn",
  x: "X",
  github: "GitHub",
};

/** How sure something is, as far as its look depends on it. */
export type Standing = "fact" | "lead" | "past";

const LEADS = new Set(["unsourced", "lead", "corroborated"]);
const FACTS = new Set(["source_backed", "confirmed", "verified"]);

/** What is not known to be sure does not look it. */
export function standing(maturity: string): Standing {
  if (FACTS.has(maturity)) return "fact";
  return LEADS.has(maturity) ? "lead" : "past";
}

export function maturity(id: string): string {
  return MATURITIES[id] ?? term(id);
}

export function kind(id: string): string {
  return KINDS[id] ?? term(id);
}

export function ask(id: string): string {
  return ASKS[id] ?? term(id);
}

/** An identifier as a phrase: `series_b` is "Series b". */
export function term(id: string): string {
  const words = id.replaceAll("_", " ").toLowerCase();
  const series = words.replace(
    /^series ([a-z])$/,
    (_, letter: string) => `series ${letter.toUpperCase()}`,
  );
  return TERMS[id] ?? series.charAt(0).toUpperCase() + series.slice(1);
}

/** Made when it is first needed, because a phone takes long to make one. */
let dates: Intl.DateTimeFormat | undefined;

export function date(instant: string): string {
  const time = new Date(instant);
  dates ??= new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
  return Number.isNaN(time.getTime()) ? "" : dates.format(time);
}

/** An amount in few letters: "$1.5M". */
export function money(amount: number, currency: string): string {
  return formatted(amount, currency, { notation: "compact", maximumFractionDigits: 1 });
}

/** An amount as somebody else said it, to the cent. */
export function exactMoney(amount: number, currency: string): string {
  const digits = Number.isInteger(amount) ? 0 : 2;
  return formatted(amount, currency, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

function formatted(amount: number, currency: string, how: Intl.NumberFormatOptions): string {
  try {
    return new Intl.NumberFormat("en", { style: "currency", currency, ...how }).format(amount);
  } catch {
    return `${new Intl.NumberFormat("en", how).format(amount)} ${currency}`;
  }
}

/** For what pay is: "an hour", "a year", "once". */
export function per(unit: string): string {
  if (unit === "ONCE") return "once";
  return unit === "HOUR" ? "an hour" : `a ${unit.toLowerCase()}`;
}

export function count(number: number, one: string, many: string): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** A whole number with commas: 2000 is "2,000". */
export function grouped(number: number): string {
  return `${number}`.replaceAll(/\B(?=(\d{3})+$)/g, ",");
}
