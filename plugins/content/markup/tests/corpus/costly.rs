//! Texts that are more work than they are worth.

/// Repeated until they fill a text.
const REPEATED: &[&str] = &[
    "[",
    "]",
    "[]",
    "![",
    "[a](",
    "[a](<b",
    "[a](b \"",
    "[a][",
    "[a]: b\n",
    "[a]",
    "[a](http:b)",
    "*",
    "**",
    "_",
    "*a **b ",
    "a*b_",
    "***a** ",
    "a**b",
    "`",
    "``a`",
    "`a` ",
    "~",
    "~~a",
    ">",
    "> ",
    ">\n\n",
    "- ",
    "- a\n",
    "-\n",
    "*\n+\n",
    "1. ",
    "1)\n1.\n",
    "> - ",
    "- > 1. ",
    "- - - - - - - - a\n",
    "#\n",
    "# a\n",
    "a\n===\n",
    "---\n",
    "\n",
    "a\n",
    "a  \n",
    "\t",
    "    a\n",
    "<",
    "<a",
    "<b>",
    "<!--",
    "<![CDATA[",
    "<?",
    "<a@b.c>",
    "<http:a>",
    "<x a='",
    "<div>\n",
    "&",
    "&amp;",
    "\u{a0}",
    "&\n",
    "&#38;",
    "\\",
    "\"",
    "|",
    "|a",
    "|a|\n|-|\n",
    "|-",
    "\u{0}",
    "\u{202e}",
    "e\u{301}",
    "![a](https:b)",
    "![![",
    "```\n",
    "```a\n```\n",
    "1234567890 ",
    "<https://e.example/>",
];

/// Pairs of a beginning and what follows it, each filling half a text.
const HALVES: &[(&str, &str)] = &[
    (">", "\n"),
    (">", "a\n"),
    ("> ", "\nb"),
    ("- ", "a\n"),
    ("- ", "\n a"),
    ("> - ", "> \n"),
    ("1. ", "a\n"),
    ("**a ", "b** "),
    ("[", "](https:a)"),
    ("![", "](https:a)"),
    ("|a", "\n|"),
    ("`a", "``"),
    ("<b>", "</b>"),
];

/// Texts of about this many bytes that are hard on parsers.
pub(crate) fn pathological(size: usize) -> Vec<String> {
    let fill = |piece: &str, size: usize| piece.repeat(size / piece.len());
    let mut texts: Vec<String> = REPEATED.iter().map(|piece| fill(piece, size)).collect();
    for (first, second) in HALVES {
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
        // One long run of what has to be escaped.
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
