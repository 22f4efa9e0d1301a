//! Texts that are costly to parse.

use serde::Deserialize;

#[derive(Deserialize)]
struct Corpus {
    repeated: Vec<String>,
    halves: Vec<(String, String)>,
}

/// Returns texts of about this many bytes that are costly for parsers.
pub(crate) fn pathological(size: usize) -> Vec<String> {
    let fill = |piece: &str, size: usize| piece.repeat(size / piece.len());
    let corpus: Corpus = toml::from_str(include_str!("costly.toml")).unwrap();
    let mut texts: Vec<String> = corpus.repeated.iter().map(|piece| fill(piece, size)).collect();
    for (first, second) in &corpus.halves {
        texts.push(fill(first, size / 2) + &fill(second, size / 2));
    }
    let grow = |line: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        let mut lines = 0;
        while text.len() < size / 2 {
            text += &line(lines);
            lines += 1;
        }
        text
    };
    texts.extend([
        // One long run of characters that have to be escaped.
        format!("`{}`", fill("&", size)),
        format!("    {}", fill("&\u{a0}", size)),
        format!("![{}](https:a)", fill("&", size)),
        format!("[a](https:b?{})", fill("&", 2000)),
        fill(&format!("[a](https:b?{}) ", "&".repeat(2000)), size),
        fill(&format!("![a](https:b '{}') ", "&".repeat(200)), size),
        // Lists and quotes that go one level deeper on each line.
        grow(&|depth| " ".repeat(2 * depth) + "- a\n"),
        grow(&|depth| ">".repeat(depth) + "a\n"),
        // Lists that go many levels deeper on each line, and then many lines that stay there.
        grow(&|step| " ".repeat(120 * step) + &"- ".repeat(60) + "a\n") + &fill("b\n", size / 2),
        // Short rows that are filled up with cells.
        format!("{}\n{}\n{}", "|a".repeat(32), "|-".repeat(32), fill("|\n", size)),
        format!("{}\n{}\n{}", fill("|a", size / 4), fill("|-", size / 4), fill("|\n", size / 2)),
        // One long definition, used over and over.
        format!("[a]: https://{}\n\n{}", "b".repeat(1500), fill("[a]\n", size)),
        format!("[a]: https:b '{}'\n\n{}", fill("\"", size / 8), fill("[a]\n", size)),
        grow(&|length| "`".repeat(length) + " "),
        grow(&|number| format!("[a{number}]: https://e.example/{number}\n")),
        grow(&|number| format!("[a{number}]\n\n[a{number}]: https://e.example/{number}\n\n")),
    ]);
    texts
}
