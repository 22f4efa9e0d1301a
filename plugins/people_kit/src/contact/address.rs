//! Finds e-mail addresses, also those whose signs are spelled as words.

use super::text::Text;

/// Domains under which people have their addresses.
const DOMAINS: &str = "com net org info biz edu gov io co me app dev ai xyz online site de at ch eu \
    es fr pt br it ru su ua by kz uk us ca au in cn hk tw jp mx ar cl pe sa ae eg ma mail";
/// The domains that are common words too. They do not count after a spelled-out `at`.
const COMMON: &str = "in it at me us es no au ma sa ai io site";
/// Words before `dot com` in sentences about other things.
const ARTICLES: &str = "the a this that our its";
/// The maximum number of words before the last part of a host name.
const MOST_PARTS: usize = 3;

pub(super) fn has_email(text: &Text<'_>) -> bool {
    has_plain_email(text.plain) || (1..text.words.len()).any(|at| is_spelled(text, at))
}

fn has_plain_email(plain: &str) -> bool {
    let plain = plain.replace(" . ", ".");
    let parts: Vec<&str> = plain.split('@').map(str::trim).collect();
    let mut pairs = parts.iter().zip(parts.iter().skip(1));
    pairs.any(|(before, after)| ends_a_name(before) && begins_a_host(after))
}

fn ends_a_name(text: &str) -> bool {
    text.ends_with(|last: char| last.is_alphanumeric() || ['_', '-', '+'].contains(&last))
}

fn begins_a_host(text: &str) -> bool {
    let in_host = |letter: char| letter.is_alphanumeric() || ['-', '.'].contains(&letter);
    let host = text.split(|letter| !in_host(letter)).next().unwrap_or_default();
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    labels.len() >= 2 && labels.iter().all(|label| !label.is_empty())
}

/// The strength of a sign for `at`.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Sign {
    /// It is also a common word.
    Weak,
    Sure,
}

/// Returns whether an address has its `at`, in signs or words, at this word or just before it.
fn is_spelled(text: &Text<'_>, at: usize) -> bool {
    let brackets = ['(', '[', '{', '<'];
    let in_brackets = text.gap(at).trim_end().ends_with(brackets);
    let (sign, host) = if text.gap(at).contains('@') {
        (Sign::Sure, at)
    } else if let Some(found) = text.term(at, &["at"]) {
        (Sign::Sure, at + found.length)
    } else if let Some(found) = text.term(at, &["at weak"]) {
        (if in_brackets { Sign::Sure } else { Sign::Weak }, at + found.length)
    } else {
        return false;
    };
    let breaks =
        text.gap(at).contains(['\n', ';', '!', '?']) || text.gap(host).contains(['\n', ';']);
    !breaks && has_host(text, host, sign)
}

/// Returns whether a host begins at this word.
fn has_host(text: &Text<'_>, host: usize, sign: Sign) -> bool {
    let Some(first) = text.words.get(host).filter(|word| is_label(word.text)) else {
        return false;
    };
    if has_word(ARTICLES, first.text) {
        return false;
    }
    let is_apart = text.gap(host).contains("@ ");
    let hosts: &[&str] = if is_apart { &["host"] } else { &["host", "host weak"] };
    if sign == Sign::Sure && text.term(host, hosts).is_some() {
        return true;
    }
    (host + 1..=host + MOST_PARTS).any(|next| {
        let spelled =
            text.term(next, &["dot", "dot weak"]).filter(|_| !text.gap(next).contains('\n'));
        let point = is_point(text.gap(next)) && sign == Sign::Sure;
        let domain = match spelled {
            Some(found) => next + found.length,
            None if point => next,
            None => return false,
        };
        let Some(domain) = text.words.get(domain).map(|word| word.text) else { return false };
        let is_common = sign == Sign::Weak && has_word(COMMON, domain)
            || spelled.is_some_and(|found| found.label == "dot weak") && domain == "de";
        has_word(DOMAINS, domain) && !is_common
    })
}

/// Returns whether the signs between two words are the point of an address, not of a sentence.
fn is_point(gap: &str) -> bool {
    let after = gap.split_once('.').map(|(_, after)| after);
    after.is_some_and(|after| gap == " . " || !after.contains(char::is_whitespace))
}

fn is_label(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn has_word(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}
