//! Pages about single records of the feeds: for each company, role, person and event one, for people, search
//! engines and agents, and the page about objections. They work without scripts, and an agent gets the record
//! itself as JSON.

mod company;
mod error;
mod event;
mod frame;
mod handoffs;
mod kind;
mod objection;
mod person;
mod reader;
mod records;
mod response;
mod role;
mod structured;
mod words;

pub(super) use objection::show as objection;

use crate::city::City;
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};
use kind::Kind;
use response::respond;

type Id = Result<Path<String>, PathRejection>;

pub(super) async fn company(State(city): State<City>, id: Id, headers: HeaderMap) -> Response {
    respond(&city, Kind::Company, id.ok(), &headers).await
}

pub(super) async fn role(State(city): State<City>, id: Id, headers: HeaderMap) -> Response {
    respond(&city, Kind::Role, id.ok(), &headers).await
}

pub(super) async fn person(State(city): State<City>, id: Id, headers: HeaderMap) -> Response {
    respond(&city, Kind::Person, id.ok(), &headers).await
}

pub(super) async fn event(State(city): State<City>, id: Id, headers: HeaderMap) -> Response {
    respond(&city, Kind::Event, id.ok(), &headers).await
}
