//! The inputs of actions, as they are read.

use portolan_sdk::prelude::*;
use serde_json::json;

#[input]
struct Change {
    headline: Option<Option<String>>,
    city: Option<String>,
}

#[test]
fn a_field_that_is_null_is_not_one_that_was_left_out() {
    let read = |input| serde_json::from_value::<Change>(input).unwrap();
    let null = read(json!({ "headline": null, "city": null }));
    assert_eq!((null.headline, null.city), (Some(None), None));
    assert_eq!(read(json!({})).headline, None);
    let text = read(json!({ "headline": "Engineer" })).headline;
    assert_eq!(text, Some(Some("Engineer".to_owned())));
}
