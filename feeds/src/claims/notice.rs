//! Notices of registers in words: which form they are, and whether they tell of shares that were paid in cash.

use super::token::{Token, beginning, tokens};

/// How many tokens of a text may come before the name of its form.
const HEAD: usize = 40;
/// Words before the letter of a form of the SEC.
const FORM: [&str; 5] = ["form", "formular", "formulaire", "formulario", "フォーム"];
/// Names of the notice that Form D is.
const EXEMPT: [&str; 1] = ["notice of exempt offering"];
/// Names of what a register notes when shares are issued.
const ISSUED: [&str; 35] = [
    "return of allotment",
    "return of allotments",
    "allotment of shares",
    "share allotment",
    "issue of shares",
    "share issue",
    "new issue of",
    "newly issued shares",
    "new shares were issued",
    "issued shares of",
    "notifies the issue",
    "report of exempt distribution",
    "unregistered sales of equity",
    "private placement",
    "institutional placement",
    "capital increase",
    "kapitalerhöhung",
    "erhöhung des grundkapitals",
    "erhöhung des stammkapitals",
    "stammkapital erhöht",
    "grundkapital erhöht",
    "augmentation de capital",
    "augmentation du capital",
    "augmentation de l'avoir",
    "actions nouvelles",
    "ampliación de capital",
    "ampliacion de capital",
    "aumento de capital",
    "募集株式の発行",
    "新株式の発行",
    "第三者割当",
    "増資",
    "株式の発行",
    "株式発行",
    "資本金の額の増加",
];
/// Words that say that they were paid.
const PAID: [&str; 33] = [
    "cash",
    "amount paid",
    "paid up",
    "fully paid",
    "gross proceeds",
    "net proceeds",
    "amount raised",
    "raising",
    "settlement",
    "bareinlage",
    "bareinlagen",
    "barkapitalerhöhung",
    "eingezahlt",
    "einbezahlt",
    "in bar",
    "en espèces",
    "en numéraire",
    "libérées",
    "réalisation définitive",
    "libérée",
    "intégralement souscrite",
    "aportación dineraria",
    "aportaciones dinerarias",
    "desembolsada",
    "desembolsado",
    "desembolsadas",
    "en efectivo",
    "払込みを受け",
    "払込を受け",
    "払込みが完了",
    "払込が完了",
    "払込完了",
    "払い込まれ",
];
/// Words that say that nothing was issued yet or nothing was paid.
const OPEN: [&str; 44] = [
    "proposed",
    "subject to the approval",
    "be authorised to",
    "be authorized to",
    "subject to completion",
    "initial public offering",
    "none for new cash",
    "none for cash",
    "otherwise than for cash",
    "otherwise than in cash",
    "for consideration other than cash",
    "bonus issue",
    "on conversion and none",
    "expired",
    "terminated",
    "withdrawn",
    "trading halt",
    "senior notes",
    "options over",
    "granted options",
    "intends to offer",
    "may offer",
    "aus gesellschaftsmitteln",
    "beschlussfassung",
    "genehmigtes kapital",
    "genehmigten kapitals",
    "sacheinlage",
    "sacheinlagen",
    "ordre du jour",
    "projet de",
    "par incorporation de réserves",
    "apport en nature",
    "réduction",
    "convocatoria",
    "orden del día",
    "con cargo a reservas",
    "aportación no dineraria",
    "reducción",
    "減少",
    "付議",
    "未定",
    "株式分割",
    "無償",
    "現物出資",
];

fn has(text: &[Token], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        let wanted = tokens(phrase);
        text.windows(wanted.len())
            .any(|found| found.iter().zip(&wanted).all(|(one, other)| one.text == other.text))
    })
}

/// Returns whether a title, or the beginning of a text, names Form D or an amendment of one.
pub(super) fn is_form_d(title: &str, text: &str) -> bool {
    let (title, text) = (tokens(title), tokens(beginning(text)));
    let named = |tokens: &[Token]| {
        tokens.windows(2).any(|pair| {
            matches!(pair, [form, letter] if FORM.contains(&form.text.as_str()) && letter.is("d"))
        }) || has(tokens, &EXEMPT)
    };
    named(&title) || named(text.get(..HEAD).unwrap_or(&text))
}

/// Returns whether a notice of another form says that shares were issued and paid in cash.
pub(super) fn tells_of_paid_shares(title: &str, text: &str) -> bool {
    let all = tokens(&format!("{title}\n{}", beginning(text)));
    has(&all, &ISSUED) && has(&all, &PAID) && !has(&all, &OPEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_named_in_words() {
        for title in
            ["Form D/A: Harbor, Inc.", "Harbor, Inc. – SEC Form D", "SEC, Formulario D: Harbor"]
        {
            assert!(is_form_d(title, ""), "{title}");
        }
        assert!(is_form_d("Harbor, Inc. files", "Form D, original filing."));
        assert!(!is_form_d("Form 4: Harbor, Inc.", "") && !is_form_d("D - Harbor", ""));
    }

    #[test]
    fn shares_count_if_they_were_paid() {
        let text = "Return of allotment: 41,306 Series A shares, consideration: cash, fully paid.";
        assert!(tells_of_paid_shares("Harbor Ltd", text));
        assert!(!tells_of_paid_shares(
            "Harbor Ltd",
            "Return of allotment of shares: bonus issue, fully paid."
        ));
        assert!(!tells_of_paid_shares("Harbor Ltd", "Return of allotment of shares."));
        let planned = "Kapitalerhöhung gegen Bareinlagen, Beschlussfassung in der Hauptversammlung";
        assert!(!tells_of_paid_shares("Harbor AG", planned));
    }
}
