//! What capabilities have declared: each collection's number and the shape of its index.

use crate::{
    db::{
        DbError, Store,
        query::{Path, Shape, ShapeError},
        read, transact,
        unit::CollectionId,
    },
    vocabulary,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A collection as one version of a capability declares it.
#[derive(Debug)]
pub struct Collection {
    pub id: CollectionId,
    pub name: String,
    pub shape: Shape,
}

impl Store {
    /// Makes the collections of a capability ready: numbers them and records their shapes.
    pub async fn declare(
        &self,
        capability: &str,
        declared: Vec<(String, Shape)>,
    ) -> Result<BTreeMap<String, Collection>, DbError> {
        let mut collections = BTreeMap::new();
        for (name, shape) in declared {
            let text = document(&shape).to_string();
            transact!(self, |transaction| {
                sqlx::query(
                    "INSERT INTO collections (capability, name, shape, generation) VALUES ($1, $2, $3, 1)
                     ON CONFLICT (capability, name) DO UPDATE SET shape = excluded.shape, generation = collections.generation + 1
                     WHERE collections.shape <> excluded.shape",
                )
                .bind(capability)
                .bind(&name)
                .bind(&text)
                .execute(&mut *transaction)
                .await?;
            });
            let id: i64 = read!(self, |pool| {
                sqlx::query_scalar("SELECT id FROM collections WHERE capability = $1 AND name = $2")
                    .bind(capability)
                    .bind(&name)
                    .fetch_one(pool)
                    .await?
            });
            let collection = Collection { id: CollectionId(id), name: name.clone(), shape };
            collections.insert(name.clone(), collection);
        }
        Ok(collections)
    }
}

/// The shape that a declaration means. Texts that are not paths are left out: the catalog refuses
/// them with better words.
pub fn shape(declaration: &vocabulary::Collection) -> Result<Shape, ShapeError> {
    let parse = |paths: &[String]| paths.iter().filter_map(|path| Path::parse(path)).collect();
    let indexes = &declaration.indexes;
    let uniques = indexes.iter().filter(|index| index.unique).map(|index| parse(&index.paths));
    let geo = declaration.geo.as_ref();
    Shape::new(
        indexes.iter().flat_map(|index| &index.paths).filter_map(|it| Path::parse(it)).collect(),
        uniques.collect(),
        parse(&declaration.text),
        geo.and_then(|geo| Some((Path::parse(&geo.latitude)?, Path::parse(&geo.longitude)?))),
    )
}

fn document(shape: &Shape) -> Value {
    let texts = |paths: &[Path]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "paths": texts(shape.paths()),
        "uniques": shape.uniques().iter().map(|paths| texts(paths)).collect::<Vec<_>>(),
        "text": texts(shape.text()),
        "geo": shape.geo().map(|(latitude, longitude)| [latitude.to_string(), longitude.to_string()]),
    })
}
