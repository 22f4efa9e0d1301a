//! Reads posts as Mastodon (`/api/v1/accounts/:id/statuses`) and Bluesky (`app.bsky.feed.getAuthorFeed`) list
//! them. Only what an account itself says to everybody is read: no repeats of other accounts' posts, no answers,
//! and nothing of an account that asks not to be shown to people who are not signed in.

use super::{Answer, MOST_TAGS, Reach, item::Item};
use crate::{
    entries,
    text::{description, line, link, plain_description, remove, some_line},
    timestamp::Timestamp,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

const MOST_TITLE: usize = 120;
const MOST_TEXT: usize = 2_000;
/// The label of an account on Bluesky that only people who are signed in may see.
const SIGNED_IN_ONLY: &str = "!no-unauthenticated";
/// The site on which Bluesky's posts are pages.
const BLUESKY: &str = "https://bsky.app";

#[derive(Deserialize)]
struct Status {
    #[serde(default, deserialize_with = "entries::nullable")]
    id: Value,
    uri: Option<String>,
    url: Option<String>,
    created_at: Option<String>,
    visibility: Option<String>,
    #[serde(default, deserialize_with = "entries::nullable")]
    spoiler_text: String,
    #[serde(default, deserialize_with = "entries::nullable")]
    content: String,
    #[serde(default, deserialize_with = "entries::nullable")]
    reblog: Value,
    #[serde(default, deserialize_with = "entries::nullable")]
    in_reply_to_id: Value,
    #[serde(default, deserialize_with = "entries::nullable")]
    tags: Vec<Tag>,
    account: Option<Account>,
}

#[derive(Deserialize)]
struct Tag {
    #[serde(default, deserialize_with = "entries::nullable")]
    name: String,
}

#[derive(Deserialize)]
struct Account {
    /// Whether the account asks search engines not to index it.
    #[serde(default, deserialize_with = "entries::nullable")]
    noindex: bool,
}

#[derive(Deserialize)]
struct AuthorFeed<'a> {
    #[serde(borrow)]
    feed: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct FeedEntry {
    post: Post,
    #[serde(default, deserialize_with = "entries::nullable")]
    reason: Value,
    #[serde(default, deserialize_with = "entries::nullable")]
    reply: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Post {
    uri: String,
    author: Author,
    record: Record,
    indexed_at: Option<String>,
    #[serde(default, deserialize_with = "entries::nullable")]
    labels: Vec<Label>,
}

#[derive(Deserialize)]
struct Author {
    #[serde(default, deserialize_with = "entries::nullable")]
    did: String,
    #[serde(default, deserialize_with = "entries::nullable")]
    handle: String,
    #[serde(default, deserialize_with = "entries::nullable")]
    labels: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    #[serde(default, deserialize_with = "entries::nullable")]
    val: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    #[serde(default, deserialize_with = "entries::nullable")]
    text: String,
    created_at: Option<String>,
    #[serde(default, deserialize_with = "entries::nullable")]
    tags: Vec<String>,
    #[serde(default, deserialize_with = "entries::nullable")]
    reply: Value,
}

/// What an account's list says of one entry, whatever it is.
#[derive(Default)]
struct Standing {
    at: Option<Timestamp>,
    is_hidden: bool,
}

/// Returns how far back a list reaches: it has nothing to show if the account asks not to be shown.
fn reach<'a, T: Deserialize<'a>>(
    entries: &[&'a RawValue],
    standing: impl Fn(T) -> Option<Standing>,
) -> Reach {
    let parsed = entries.iter().filter_map(|entry| serde_json::from_str(entry.get()).ok());
    let standings: Vec<Standing> = parsed.filter_map(standing).collect();
    let is_hidden = !standings.is_empty() && standings.iter().all(|one| one.is_hidden);
    if entries.is_empty() || is_hidden {
        return Reach::Nothing;
    }
    let dates = standings.iter().filter_map(|one| one.at);
    dates.min().map_or(Reach::Unknown, Reach::Since)
}

/// Reads the statuses of an account on Mastodon.
pub(super) fn mastodon(bytes: &[u8]) -> Result<Answer, String> {
    let statuses: Vec<&RawValue> =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let reach = reach(&statuses, |status: Status| {
        Some(Standing {
            at: status.created_at.and_then(|date| date.parse().ok()),
            is_hidden: status.account.is_some_and(|account| account.noindex),
        })
    });
    let (items, refused) = entries::each(statuses, ("status", &entries::BY_ID), status);
    let items = if reach == Reach::Nothing { Vec::new() } else { items };
    Ok(Answer { items, refused, reach })
}

fn status(status: Status) -> Result<Option<Item>, &'static str> {
    let is_public = matches!(status.visibility.as_deref(), None | Some("public" | "unlisted"));
    let is_hidden = status.account.is_some_and(|account| account.noindex);
    let is_own = status.reblog.is_null() && status.in_reply_to_id.is_null();
    if !is_public || is_hidden || !is_own {
        return Ok(None);
    }
    let text = description(&status.content, MOST_TEXT).text;
    // A warning stands before what it warns of.
    let text = match line(&status.spoiler_text, MOST_TITLE) {
        warning if warning.is_empty() => text,
        warning => remove(&format!("{warning}\n{text}")).into_owned(),
    };
    let key = match &status.id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    };
    let key = status.uri.clone().or(key).ok_or("it has no identifier")?;
    let urls = [status.url, status.uri];
    let item = Item {
        key,
        url: urls.iter().flatten().find_map(|url| link(url)),
        title: line(&text, MOST_TITLE),
        published_at: status.created_at.and_then(|date| date.parse().ok()),
        tags: tags(status.tags.iter().map(|tag| tag.name.as_str())),
        text,
        ..Item::default()
    };
    with_text(item)
}

/// Reads the posts of an account on Bluesky.
pub(super) fn bluesky(bytes: &[u8]) -> Result<Answer, String> {
    let feed: AuthorFeed<'_> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    // Repeats of others' posts, and what an account has put on top, are older than their place in the list.
    let reach = reach(&feed.feed, |entry: FeedEntry| {
        let is_in_order = entry.reason.is_null();
        is_in_order.then(|| Standing {
            is_hidden: entry.post.author.labels.iter().any(|label| label.val == SIGNED_IN_ONLY),
            at: entry.post.published_at(),
        })
    });
    let (items, refused) = entries::each(feed.feed, ("post", &entries::BY_ID), post);
    let items = if reach == Reach::Nothing { Vec::new() } else { items };
    Ok(Answer { items, refused, reach })
}

impl Post {
    /// Returns when it was published. The author's clock may be wrong; when the post arrived is known.
    fn published_at(&self) -> Option<Timestamp> {
        let read = |date: &Option<String>| -> Option<Timestamp> { date.as_ref()?.parse().ok() };
        match (read(&self.record.created_at), read(&self.indexed_at)) {
            (Some(created), Some(indexed)) => Some(created.min(indexed)),
            (created, indexed) => created.or(indexed),
        }
    }
}

fn post(entry: FeedEntry) -> Result<Option<Item>, &'static str> {
    let FeedEntry { post, reason, reply } = entry;
    let is_own = reason.is_null() && reply.is_null() && post.record.reply.is_null();
    let mut labels = post.labels.iter().chain(&post.author.labels);
    if !is_own || labels.any(|label| label.val == SIGNED_IN_ONLY) {
        return Ok(None);
    }
    let key = post.uri.rsplit('/').next().unwrap_or_default();
    let by_name = post.author.handle.contains('.') && !post.author.handle.ends_with(".invalid");
    let profile = if by_name { &post.author.handle } else { &post.author.did };
    let url = url::Url::parse(BLUESKY).ok().and_then(|mut url| {
        url.path_segments_mut().ok()?.extend(["profile", profile, "post", key]);
        link(url.as_str())
    });
    let text = plain_description(&post.record.text, MOST_TEXT).text;
    let item = Item {
        key: post.uri.clone(),
        url,
        title: line(&post.record.text, MOST_TITLE),
        text,
        published_at: post.published_at(),
        tags: tags(post.record.tags.iter().map(String::as_str)),
        ..Item::default()
    };
    with_text(item)
}

fn tags<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.take(MOST_TAGS).filter_map(|name| some_line(Some(name), 60)).collect()
}

/// Returns the item, or nothing if it is a picture without words.
fn with_text(item: Item) -> Result<Option<Item>, &'static str> {
    match item.title.is_empty() {
        true => Ok(None),
        false if item.key.is_empty() => Err("it has no identifier"),
        false => Ok(Some(item)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_mastodon_only_an_accounts_own_public_words_are_read() {
        let statuses = r#"[
          {"id":"11","created_at":"2026-11-20T21:16:18.812Z","in_reply_to_id":null,"visibility":"public","spoiler_text":"",
           "uri":"https://social.example/users/copperleaf/statuses/11","url":"https://social.example/@copperleaf/11","reblog":null,
           "content":"<p>We are hiring!<br>Ask <a href=\"mailto:jo@copperleaf.example\">jo@copperleaf.example</a></p>",
           "tags":[{"name":"jobs"}],"account":{"acct":"copperleaf","display_name":"Ada Quill","noindex":false}},
          {"id":"12","visibility":"private","content":"<p>For friends</p>","reblog":null},
          {"id":"13","visibility":"public","content":"","reblog":{"id":"1","content":"<p>Others</p>"}},
          {"id":"14","visibility":"public","content":"<p>@other yes</p>","in_reply_to_id":"3"},
          {"id":"15","visibility":"public","content":"<p>Hidden</p>","account":{"noindex":true}},
          {"id":"16","visibility":"public","content":""},
          {"id":{},"visibility":"public","content":"<p>No identifier</p>"}]"#;
        let Answer { items, refused, .. } = mastodon(statuses.as_bytes()).unwrap();
        assert_eq!((items.len(), refused.len()), (1, 1), "{items:?} {refused:?}");
        let item = &items[0];
        assert_eq!(item.url.as_deref(), Some("https://social.example/@copperleaf/11"));
        assert_eq!(item.title, "We are hiring! Ask [removed]");
        assert_eq!((item.author.as_ref(), item.tags.as_slice()), (None, &["jobs".to_owned()][..]));
    }

    #[test]
    fn of_bluesky_neither_repeats_nor_answers_nor_what_is_for_the_signed_in() {
        let post = |key: &str, author: &str, more: &str| {
            format!(
                r#"{{"post":{{"uri":"at://did:plc:abc/app.bsky.feed.post/{key}","author":{{"did":"did:plc:abc",{author}}},
                "record":{{"$type":"app.bsky.feed.post","createdAt":"2027-01-01T00:00:00Z","text":"Robots & arms <here>"}},
                "indexedAt":"2026-11-20T20:29:50.454Z","labels":[]}}{more}}}"#
            )
        };
        let text = format!(
            r#"{{"feed":[{},{},{},{},{}],"cursor":"x"}}"#,
            post("3a", r#""handle":"copperleaf.example""#, ""),
            post("3b", r#""handle":"handle.invalid""#, ""),
            post(
                "3c",
                r#""handle":"copperleaf.example""#,
                r#","reason":{"$type":"app.bsky.feed.defs#reasonRepost"}"#
            ),
            post("3d", r#""handle":"copperleaf.example""#, r#","reply":{"root":{}}"#),
            post(
                "3e",
                r#""handle":"copperleaf.example","labels":[{"val":"!no-unauthenticated"}]"#,
                ""
            ),
        );
        let Answer { items, refused, .. } = bluesky(text.as_bytes()).unwrap();
        assert_eq!((items.len(), refused.len()), (2, 0), "{refused:?}");
        assert_eq!(
            items[0].url.as_deref(),
            Some("https://bsky.app/profile/copperleaf.example/post/3a")
        );
        assert_eq!(items[1].url.as_deref(), Some("https://bsky.app/profile/did:plc:abc/post/3b"));
        assert_eq!(items[0].title, "Robots & arms");
        assert_eq!(items[0].text, "Robots & arms <here>");
        assert_eq!(items[0].published_at.unwrap().to_string(), "2026-11-20T20:29:50.454Z");
    }
}
