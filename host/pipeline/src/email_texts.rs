//! The texts of emails: plain sentences, as text and as simple HTML. They have nothing that another person wrote, and
//! nobody's contact data.

use portolan_vocabulary::EmailContent;

/// The maximum number of lines with notices.
const LINES: usize = 20;

/// The texts of an email.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EmailText {
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) html: String,
}

/// A part of a text.
enum Part {
    Paragraph(String),
    List(Vec<String>),
    Link(String),
}

/// Returns the texts of an email of the host with this address. `unsubscribe` is the address that ends emails.
pub(crate) fn email_text(
    public_url: &str,
    content: &EmailContent,
    unsubscribe: Option<&str>,
) -> EmailText {
    let host = public_url.split_once("://").map_or(public_url, |(_, host)| host);
    let paragraph = |text: &str| Part::Paragraph(text.to_owned());
    let (subject, mut parts) = match content {
        EmailContent::Confirmation { token } => {
            let parts = vec![
                Part::Paragraph(format!(
                    "Somebody with an account at {host} has entered this address, to be told by email what happens there."
                )),
                paragraph("If it was you, open this page within 24 hours and confirm it there:"),
                Part::Link(format!("{public_url}/email/{token}")),
                paragraph(
                    "If it was not you, do nothing. Without the confirmation, nothing is sent to this address.",
                ),
            ];
            (format!("Confirm your address for {host}"), parts)
        }
        EmailContent::Change { is_removal, .. } => {
            let change = if *is_removal { "removed" } else { "changed" };
            let subject =
                format!("The address for emails about your account at {host} was {change}");
            let parts = vec![
                Part::Paragraph(format!("{subject}.")),
                paragraph("If it was not you, see on your account page who is signed in:"),
                Part::Link(format!("{public_url}/account")),
                paragraph("This is the last email to this address."),
            ];
            (subject, parts)
        }
        EmailContent::Notices { lines } => {
            let subject = match lines.as_slice() {
                [line] => line.clone(),
                lines => format!("{} things happened in your account at {host}", lines.len()),
            };
            let more = lines.len().saturating_sub(LINES);
            let mut shown: Vec<String> = lines.iter().take(LINES).cloned().collect();
            if more > 0 {
                shown.push(format!("And {more} more."));
            }
            let parts = vec![
                Part::Paragraph(format!("This happened in your account at {host}:")),
                Part::List(shown),
                paragraph("See it on your account page:"),
                Part::Link(format!("{public_url}/account")),
                paragraph(
                    "You have confirmed this address there. What you have set there about notifications applies to emails too.",
                ),
            ];
            (subject, parts)
        }
    };
    if let Some(address) = unsubscribe {
        parts.push(paragraph("To end these emails, open this page:"));
        parts.push(Part::Link(address.to_owned()));
    }
    EmailText { subject, text: plain(&parts), html: html(&parts) }
}

fn plain(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Paragraph(text) | Part::Link(text) => format!("{text}\n"),
        Part::List(lines) => lines.iter().map(|line| format!("- {line}\n")).collect(),
    };
    parts.iter().map(part).collect::<Vec<_>>().join("\n")
}

fn html(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Paragraph(text) => format!("<p>{}</p>\n", escaped(text)),
        Part::Link(address) => {
            let address = escaped(address);
            format!("<p><a href=\"{address}\">{address}</a></p>\n")
        }
        Part::List(lines) => {
            let items: String =
                lines.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
    };
    let body: String = parts.iter().map(part).collect();
    format!("<!doctype html>\n<html lang=\"en\"><body>\n{body}</body></html>\n")
}

/// Returns a text as it is written in HTML.
fn escaped(text: &str) -> String {
    let letter = |letter: char| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_the_subject_and_html_is_escaped() {
        let content = EmailContent::Notices { lines: vec!["A <b>meeting</b>.".to_owned()] };
        let found = email_text("https://x.example", &content, Some("https://x.example/email/u"));
        assert_eq!(found.subject, "A <b>meeting</b>.");
        assert!(found.text.contains("- A <b>meeting</b>.\n"), "{}", found.text);
        assert!(found.html.contains("<li>A &lt;b&gt;meeting&lt;/b&gt;.</li>"), "{}", found.html);
        for text in [found.text, found.html] {
            assert!(text.contains("https://x.example/account"), "{text}");
            assert!(text.contains("https://x.example/email/u"), "{text}");
        }
    }

    #[test]
    fn many_lines_are_counted() {
        let lines = (0..25).map(|number| format!("Line {number}.")).collect();
        let found = email_text("http://x.example", &EmailContent::Notices { lines }, None);
        assert_eq!(found.subject, "25 things happened in your account at x.example");
        assert!(found.text.contains("- Line 19.\n- And 5 more.\n"), "{}", found.text);
        assert!(!found.text.contains("To end these emails"), "{}", found.text);
    }
}
