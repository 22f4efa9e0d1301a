use super::*;
use proptest::prelude::*;
use regex::Regex;

fn found(text: &str) -> Vec<&str> {
    all(text).into_iter().map(|place| &text[place]).collect()
}

#[test]
fn numbers_are_found_as_people_write_them() {
    for number in [
        "+1 415 555 0142",
        "+49 (0)30 1234567",
        "+4915112345678",
        "+44 20 7946 0000",
        "\u{ff0b}\u{ff11} 415 555 0142",
        "0049 30 1234567",
        "030 1234567",
        "030 - 1234567",
        "(030) 1234567",
        "0151 12345678",
        "0151/12345678",
        "0151 123 45 678",
        "089-12345678",
        "089\u{2011}12345678",
        "06 12345678",
        "06 12 34 56 78",
        "030 12 34 56 78",
        "01511234567",
        "12 34 56 78",
        "612 345 678",
        "8 (495) 123-45-67",
        "1-800-555-0142",
        "415 5550142",
        "415 555 0142",
        "(415) 555-0142",
        "(415)5550142",
        "415.555.0142",
        "4155550142",
        "555-0142",
        "1 555-0142",
        "0800 1111",
        "０４１５ ５５５ ０１４２",
        "٠١٥١ ١٢٣٤٥٦٧٨",
    ] {
        for text in
            [number.to_owned(), format!("Tel. {number}"), format!("since 2024-11-22, {number}.")]
        {
            assert!(
                found(&text).iter().any(|part| number.contains(part) || part.contains(number)),
                "{text}: {:?}",
                found(&text)
            );
        }
    }
    assert_eq!(found("from 2026-11-22 415 555 0142 on"), ["415 555 0142"]);
    assert_eq!(
        found("call +1 (415) 555-0142 or (030) 1234567!"),
        ["+1 (415) 555-0142", "(030) 1234567"]
    );
}

#[test]
fn ordinary_numbers_are_not_phone_numbers() {
    for text in [
        "120,000 - 150,000",
        "$120,000 - $150,000 a year",
        "120000 - 150000",
        "120000-150000",
        "120.000 - 150.000 EUR",
        "60.000–80.000",
        "45 000 - 55 000",
        "45 500 – 55 250 €",
        "EUR 45 500 – 55 250",
        "CHF 120'000 - 150'000",
        "100-150 000",
        "17.50-22.50",
        "117.50-122.50",
        "117.50 - 122.50 an hour",
        "1,250,000,000 dollars",
        "1.250.000.000",
        "120 000 000 users",
        "2024-2026",
        "2019 - 2026",
        "2024/2025",
        "2019 2020 2021",
        "2024-11-28",
        "2026-11-22 - 2026-12-01",
        "2026-11-22T18:30:00.000Z",
        "22.11.2026",
        "22.11.2026 – 24.11.2026",
        "11/22/2026",
        "01/2026 - 12/2026",
        "20261122",
        "94105",
        "94105-1234",
        "MA 02139-4307",
        "〒113-0033",
        "01310-100",
        "10115 Berlin, 75008 Paris",
        "24/7",
        "24/7 2024-2026",
        "0900-1700",
        "09:00 - 17:00",
        "1.2.3",
        "10.15.7",
        "2024.11.28",
        "v12.0.1234567",
        "ISO 27001, SOC 2 and RFC 9110",
        "ISO 9001 14001 45001",
        "Job 2024-12345",
        "JR-00123456",
        "REQ0012345678",
        "#00123456",
        "500+ 2024 people",
        "1 2 3 4",
        "100 200",
        "100-1000 employees",
        "500–1500",
    ] {
        assert_eq!(found(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn long_runs_of_numbers_cost_no_more_than_their_length() {
    for part in ["1 ", "1  ", "12  34 ", "2024-11-28 ", "+1 ", "(1)", "1.5 - "] {
        let begun = std::time::Instant::now();
        let _found = all(&part.repeat(60_000));
        assert!(begun.elapsed().as_secs() < 5, "{part}");
    }
}

proptest! {
    /// Whatever was found by the patterns that were used before is found, unless it is an ordinary number.
    #[test]
    fn what_the_plain_patterns_find_is_found(text in "[ (]?[+]?(415|020|555|0142|7946|61|[.]|-| |/){1,9}") {
        let plain = Regex::new(
            r"[+] *[(]?\d(?:[ ().\-/]*\d){6,16}|\b\d{3,4}(?:[ .\-/]\d{3,4}){2,6}\b|\b\d{10,15}\b|\b\d{3}-\d{4}\b",
        )
        .unwrap();
        let is_ordinary = |part: &str| part.starts_with(char::is_numeric) && part.chars().filter(char::is_ascii_digit).count() < 9 && part.len() != 8;
        if plain.find_iter(&text).any(|part| !is_ordinary(part.as_str()) && !part.as_str().contains("7946.61")) {
            prop_assert!(!all(&text).is_empty(), "{}", text);
        }
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,40}") {
        for place in all(&text) {
            prop_assert!(text.get(place).is_some());
        }
    }
}
