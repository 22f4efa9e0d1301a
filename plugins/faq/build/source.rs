//! Reads the entry files: a front matter of `key: value` lines between `---`, then CommonMark.

use anyhow::{Context as _, Result, bail, ensure};
use std::{collections::HashSet, fs, path::Path};

/// An entry as its file states it.
pub(crate) struct Source {
    pub(crate) id: String,
    pub(crate) slug: String,
    pub(crate) question: String,
    pub(crate) tags: Vec<String>,
    pub(crate) updated_at: String,
    pub(crate) related: Vec<String>,
    pub(crate) answer: String,
}

/// Reads all entries of a folder, ordered by slug, and checks each alone and against the others.
pub(crate) fn read(folder: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            sources.push(entry(&path).with_context(|| path.display().to_string())?);
        }
    }
    sources.sort_by(|left, right| left.slug.cmp(&right.slug));
    check_references(&sources)?;
    Ok(sources)
}

fn entry(path: &Path) -> Result<Source> {
    let text = fs::read_to_string(path)?;
    let source = parse(&text)?;
    let name = path.file_stem().and_then(|name| name.to_str());
    ensure!(
        name == Some(&source.slug),
        "the file must be named after its slug: {}.md",
        source.slug
    );
    ensure!(is_id(&source.id), "id: it must be `faq_` and a ULID, not {}", source.id);
    ensure!(
        is_instant(&source.updated_at),
        "updated_at: it must be a time such as 2026-01-31T09:00:00.000Z"
    );
    ensure!(!source.tags.is_empty(), "tags: there must be at least one tag");
    Ok(source)
}

fn parse(text: &str) -> Result<Source> {
    let (head, answer) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .context("the file must start with front matter between two lines `---`")?;
    let field =
        |line| str::split_once(line, ": ").with_context(|| format!("not `key: value`: {line}"));
    let mut fields: Vec<(&str, &str)> = head.lines().map(field).collect::<Result<_>>()?;
    let mut take = |key: &str| -> Result<String> {
        let place = fields.iter().position(|(name, _)| *name == key);
        let (_, value) = fields.remove(place.with_context(|| format!("{key} is missing"))?);
        Ok(value.trim().to_owned())
    };
    let source = Source {
        id: take("id")?,
        slug: take("slug")?,
        question: take("question")?,
        tags: list(&take("tags")?),
        updated_at: take("updated_at")?,
        related: list(&take("related")?),
        answer: answer.trim().to_owned(),
    };
    if let Some((key, _)) = fields.first() {
        bail!("unknown or repeated: {key}");
    }
    Ok(source)
}

fn list(value: &str) -> Vec<String> {
    value.split(", ").map(|item| item.trim().to_owned()).collect()
}

fn check_references(sources: &[Source]) -> Result<()> {
    let slugs: HashSet<_> = sources.iter().map(|source| &source.slug).collect();
    let mut ids = HashSet::new();
    for source in sources {
        ensure!(ids.insert(&source.id), "two entries have the id {}", source.id);
        for related in &source.related {
            ensure!(slugs.contains(related), "{}: related {related} does not exist", source.slug);
            ensure!(*related != source.slug, "{} is related to itself", source.slug);
        }
    }
    Ok(())
}

fn is_id(id: &str) -> bool {
    id.strip_prefix("faq_").is_some_and(|ulid| {
        ulid.len() == 26
            && ulid.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'Z'))
            && !ulid.contains(['I', 'L', 'O', 'U'])
    })
}

/// Whether the text has the form of RFC 3339 in UTC with milliseconds.
fn is_instant(text: &str) -> bool {
    text.replace(|character: char| character.is_ascii_digit(), "0") == "0000-00-00T00:00:00.000Z"
}
