//! One entry of a feed.

use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// One entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The entry's identifier in its feed.
    pub key: String,
    pub url: Option<String>,
    pub title: String,
    pub text: String,
    pub published_at: Option<Timestamp>,
    pub author: Option<String>,
    pub tags: Vec<String>,
    /// The form of a filing, such as "D" or "10-Q".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The filer's identifier in EDGAR, of ten digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cik: Option<String>,
    /// What a Form D reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offering: Option<Offering>,
}

/// An offering of securities, as a Form D reports it. All amounts are in US dollars.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offering {
    pub issuer_name: String,
    /// The identifier of the first issuer in EDGAR, of ten digits.
    pub issuer_cik: String,
    /// The amount that is offered; `None` if it is indefinite.
    pub amount: Option<u64>,
    /// The amount that was sold.
    pub sold: Option<u64>,
    /// The date of the first sale; `None` if none has occurred yet.
    pub first_sale: Option<Timestamp>,
    pub is_amendment: bool,
    /// Whether the issuer is a fund, which collects money to invest it.
    pub is_fund: bool,
}
