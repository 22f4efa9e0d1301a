//! The fields of records that pages show. A field that is missing, or that a newer version of the feeds
//! writes differently, is left out: only a record that is no object is an error.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// Reads a field leniently: a value of another form is as good as none.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// Defines the view of a record: every field is optional and read leniently.
macro_rules! view {
    ($(#[$about:meta])* $name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        pub(super) struct $name {
            $(
                $(#[$attribute])*
                #[serde(default, deserialize_with = "lenient")]
                pub(super) $field: $type,
            )*
        }
    };
}

view!(Company { id: String, properties: Properties });
view!(Properties {
    name: String,
    legal_name: Option<String>,
    kind: String,
    ask: Vec<Ask>,
    tagline: String,
    description: String,
    industries: Vec<String>,
    tags: Vec<String>,
    stage: Option<String>,
    founded_year: Option<u16>,
    team_size_band: Option<String>,
    status: String,
    website: Option<String>,
    geo: Geo,
    accelerator: Option<Accelerator>,
    funding_summary: Option<FundingSummary>,
    open_roles_count: u32,
    verified_owner: bool,
    handoff_ids: Vec<String>,
    sources: Vec<Source>,
    updated_at: String,
});
view!(Ask {
    #[serde(rename = "type")]
    kind: String,
    text: String,
    maturity: String,
});
view!(Geo { lat: Option<f64>, lng: Option<f64>, neighbourhood: Option<String> });
view!(Accelerator { name: String, batch: Option<String> });
view!(FundingSummary { total_usd: Option<u64>, last_round: Option<String>, maturity: String });
view!(Source {
    #[serde(rename = "type")]
    kind: String,
    publisher: String,
    url: String,
    title: String,
    published_at: Option<String>,
    retrieved_at: String,
});
view!(Role {
    id: String,
    target_id: String,
    title: String,
    department: Option<String>,
    team: Option<String>,
    employment_type: String,
    workplace_type: String,
    locations: Vec<Location>,
    base_salary: Option<Salary>,
    date_posted: Option<String>,
    valid_through: Option<String>,
    apply_url: String,
    maturity: String,
    schema_org: Value,
    handoff_ids: Vec<String>,
    sources: Vec<Source>,
    updated_at: String,
});
view!(Location { label: String });
view!(Salary { currency: String, min: Option<f64>, max: Option<f64>, unit: String });
view!(Person {
    id: String,
    full_name: String,
    title: String,
    target_id: String,
    affiliations: Vec<Affiliation>,
    public_bio: String,
    directory: Directory,
    links: Vec<Link>,
    expertise: Vec<String>,
    public_figure_basis: String,
    opt_out_url: String,
    handoff_ids: Vec<String>,
    sources: Vec<Source>,
    updated_at: String,
});
view!(Affiliation { target_id: String, title: String, current: bool });
view!(Directory { name: String, batch: Option<String>, url: String });
view!(Link { kind: String, url: String });
view!(Event {
    id: String,
    url: Option<String>,
    title: String,
    content_text: String,
    summary: String,
    date_published: String,
    #[serde(rename = "_map")]
    map: EventMap,
});
view!(EventMap {
    #[serde(rename = "type")]
    kind: String,
    starts_at: Option<String>,
    target_ids: Vec<String>,
    people_ids: Vec<String>,
    signal_id: Option<String>,
    maturity: String,
    sources: Vec<Source>,
    updated_at: String,
});
view!(Signal {
    id: String,
    kind: String,
    target_id: String,
    headline: String,
    summary: String,
    occurred_at: String,
    maturity: String,
    sources: Vec<Source>,
    funding: Option<Funding>,
    hiring: Option<Hiring>,
    handoff_ids: Vec<String>,
});
view!(Funding {
    round: Option<String>,
    currency: Option<String>,
    amount: Option<u64>,
    investors: Vec<Investor>,
});
view!(Investor { name: String, target_id: Option<String>, lead: bool });
view!(Hiring { role_ids: Vec<String> });
view!(Handoff {
    id: String,
    title: String,
    to: HandoffTarget,
    requires: HandoffRequires,
    consent_text: String,
});
view!(HandoffTarget { capability: String, action: String });
view!(HandoffRequires { claimed: bool });

/// Reads a record; what cannot be read is empty.
pub(super) fn view<T: DeserializeOwned + Default>(record: &Value) -> T {
    T::deserialize(record).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_of_another_form_does_not_hide_the_others() {
        let record = json!({
            "id": "rol_1", "title": "Engineer", "locations": "Bay", "base_salary": { "min": "much", "currency": "USD" },
            "handoff_ids": null, "new": [1],
        });
        let role: Role = view(&record);
        assert_eq!((&*role.id, &*role.title), ("rol_1", "Engineer"));
        assert_eq!(role.base_salary.unwrap().currency, "USD");
        assert!(role.locations.is_empty() && role.handoff_ids.is_empty());
        assert_eq!(view::<Role>(&json!([])), Role::default());
    }
}
