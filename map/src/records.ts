// What this page reads of the documents. Readers ignore what they do not know: pick lists are text.

export interface Meta {
  generated_at: string;
  city: { id: string; name: string; bbox: [number, number, number, number] };
  synthetic: boolean;
  license: string;
  attribution: string[];
}

export interface Source {
  publisher: string;
  url: string;
  title: string;
  published_at?: string;
}

export interface Ask {
  type: string;
  text: string;
  since: string;
  maturity: string;
}

export interface Target {
  name: string;
  legal_name?: string;
  kind: string;
  ask: Ask[];
  tagline: string;
  description: string;
  industries: string[];
  tags: string[];
  stage?: string;
  founded_year?: number;
  team_size_band?: string;
  status: string;
  website?: string;
  geo: { lat: number; lng: number; precision: string; neighbourhood?: string };
  accelerator?: { name: string; batch?: string };
  funding_summary?: { total_usd?: number; last_round?: string; as_of: string; maturity: string };
  open_roles_count: number;
  verified_owner: boolean;
  handoff_ids: string[];
  sources: Source[];
  updated_at: string;
}

/** A target as GeoJSON has it. */
export interface Feature {
  id: string;
  geometry: { coordinates: [number, number] };
  properties: Target;
}

export interface Targets {
  _meta: Meta;
  features: Feature[];
}

export interface Signal {
  id: string;
  kind: string;
  target_id: string;
  headline: string;
  summary: string;
  occurred_at: string;
  maturity: string;
  /** What people read about how sure it is. */
  label: string;
  sources: Source[];
  funding?: {
    round?: string;
    amount?: number;
    currency?: string;
    investors: { name: string; target_id?: string; lead: boolean }[];
  };
  hiring?: { role_count: number; functions: string[] };
  handoff_ids: string[];
}

export interface Role {
  id: string;
  target_id: string;
  title: string;
  department?: string;
  employment_type: string;
  workplace_type: string;
  locations: { label: string; primary: boolean }[];
  /** The beginning of the description. */
  summary: string;
  /** The part of the feed that has the whole description, unless the role itself has it. */
  description_url?: string;
  base_salary?: { currency: string; min?: number; max?: number; unit: string };
  date_posted?: string;
  apply_url: string;
  source_url: string;
  maturity: string;
}

export interface Person {
  id: string;
  full_name: string;
  title: string;
  target_id: string;
  affiliations: { target_id: string; title: string; current: boolean }[];
  public_bio: string;
  directory: { name: string; batch?: string; url: string };
  links: { kind: string; url: string }[];
  expertise: string[];
  public_figure_basis: string;
  opt_out_url: string;
}

/** A contract that turns a record into a draft in the capability API. */
export interface Handoff {
  id: string;
  title: string;
  from: { feed: string };
  to: { capability: string; action: string };
  requires: { claimed: boolean; scopes: string[] };
  /** What no record can say, as a question to the person. */
  ask_user?: string;
  carries: string[];
  never_carries: string[];
  consent_text: string;
  continuation: { url_template: string; ttl_s: number; single_use: boolean };
}

export interface Listing<T> {
  _meta: Meta;
  items: T[];
}

/** What the host's operator has set up for this page. */
export interface Settings {
  /** The address of a PMTiles file with streets, relative to the page. */
  basemap?: string;
  /** The other cities of the host. */
  cities?: CityLink[];
}

export interface CityLink {
  name: string;
  /** The path of its map page. */
  path: string;
}
