//! The page of the settings in force, without secrets, and of the operators.

use super::{
    figures::{moment, quoted},
    frame::{Done, Frame, shown},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use portolan_vocabulary::{Failure, Timestamp};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
struct Settings {
    settings: Vec<Setting>,
}

#[derive(Debug, Deserialize)]
struct Setting {
    name: String,
    value: String,
}

#[derive(Debug, Deserialize)]
struct Operators {
    operators: Vec<OperatorRow>,
}

#[derive(Debug, Deserialize)]
struct OperatorRow {
    name: String,
    role: String,
    made_by: String,
    expires_at: Timestamp,
    expired: bool,
    last_used_on: Option<String>,
}

/// The settings of one table of the configuration; without a name, those that are in none.
struct Table {
    name: String,
    settings: Vec<Setting>,
}

#[derive(Template)]
#[template(path = "console/settings.html")]
struct SettingsPage {
    frame: Frame,
    tables: Vec<Table>,
    operators: Vec<OperatorRow>,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(done): Query<Done>,
) -> Response {
    shown(settings_page(&console, &visitor, &done).await)
}

async fn settings_page(
    console: &Console,
    visitor: &Visitor,
    done: &Done,
) -> Result<SettingsPage, Failure> {
    let Settings { settings } = console.api.get(&visitor.operator, "/settings").await?;
    let Operators { operators } = console.api.get(&visitor.operator, "/operators").await?;
    let frame = Frame::new(console, visitor, "/console/settings", done);
    Ok(SettingsPage { frame, tables: tables(settings), operators })
}

/// Returns the settings by table, in the order in which the tables first occur.
fn tables(settings: Vec<Setting>) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for Setting { name, value } in settings {
        let (table, name) = match name.split_once('.') {
            Some((table, name)) => (table.to_owned(), name.to_owned()),
            None => (String::new(), name),
        };
        let setting = Setting { name, value };
        match tables.iter_mut().find(|known| known.name == table) {
            Some(known) => known.settings.push(setting),
            None => tables.push(Table { name: table, settings: vec![setting] }),
        }
    }
    tables
}
