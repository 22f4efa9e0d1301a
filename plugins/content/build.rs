//! Turns the Markdown pages into static tables, so that a call only has to look one up.

use markup::{Format, Heading, Link, Profile, Rendered, render};
use sha2::{Digest, Sha256};
use std::{collections::HashMap, env, error::Error, fs, path::Path};

const PAGES: &str = "pages";

/// The number of hexadecimal digits of the digest in an entity tag.
const ETAG_LENGTH: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PAGES}");
    println!("cargo::rerun-if-changed=build.rs");
    let mut pages = Vec::new();
    for file in fs::read_dir(PAGES)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(page(&path).map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    pages.sort();
    let table: String = pages.into_iter().map(|(_, entry)| entry).collect();
    let target = Path::new(&env::var("OUT_DIR")?).join("pages.rs");
    Ok(fs::write(target, format!("&[\n{table}]"))?)
}

/// Returns a page's position in the reading order, and its entry in the table.
fn page(path: &Path) -> Result<(u32, String), Box<dyn Error>> {
    let slug = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .ok_or("the file's name is not UTF-8: rename the file")?;
    let source = fs::read_to_string(path)?;
    let (front, markdown) = source
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n\n"))
        .ok_or("it does not start with front matter between two lines of ---")?;
    let front = front_matter(front)?;
    let field =
        |name: &str| front.get(name).copied().ok_or_else(|| format!("no `{name}` in front"));
    let html = render(markdown, Profile::Page, Format::Html);
    if !html.removed.is_empty() {
        return Err(format!("the rules of pages do not allow {:?}", html.removed).into());
    }
    let text = render(markdown, Profile::Page, Format::Text).body;
    let version: u32 = field("version")?.parse()?;
    let entry = format!(
        "Page {{ slug: {slug:?}, title: {:?}, summary: {:?}, locale: {:?}, version: {version}, \
         updated_at: {:?}, etag: {:?}, words: {}, markdown: {markdown:?}, html: {:?}, \
         text: {text:?}, toc: &[{}], links: &[{}] }},\n",
        field("title")?,
        field("summary")?,
        field("locale")?,
        field("updated_at")?,
        etag(markdown),
        html.words,
        html.body,
        toc(&html)?,
        links(&html),
    );
    Ok((field("order")?.parse()?, entry))
}

/// Parses lines of `name: value`.
fn front_matter(text: &str) -> Result<HashMap<&str, &str>, String> {
    text.lines()
        .map(|line| line.split_once(": ").ok_or_else(|| format!("`{line}` is not `name: value`")))
        .collect()
}

fn etag(markdown: &str) -> String {
    let digest = Sha256::digest(markdown);
    let mut hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.truncate(ETAG_LENGTH);
    hex
}

fn toc(page: &Rendered) -> Result<String, String> {
    let entry = |heading: &Heading| {
        let Heading { level, text, anchor } = heading;
        let anchor = anchor.as_ref().ok_or_else(|| format!("no anchor for {heading:?}"))?;
        Ok(format!("Heading {{ level: {level}, text: {text:?}, anchor: {anchor:?} }}, "))
    };
    page.headings.iter().map(entry).collect()
}

fn links(page: &Rendered) -> String {
    let entry =
        |Link { url, text }: &Link| format!("PageLink {{ url: {url:?}, text: {text:?} }}, ");
    page.links.iter().map(entry).collect()
}
