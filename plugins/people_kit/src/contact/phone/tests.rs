//! Texts with phone numbers, and texts without.

use super::has_phone;

const NUMBERS: &[&str] = &[
    // International.
    "+4915112345678",
    "+49 (0) 151 123 45678",
    "Reach me: +33 6 12 34 56 78.",
    "00 49 30 1234567",
    "004930123456",
    "(+44) 20 7946 0958",
    "+1-212-555-0199 ext 3",
    // North America.
    "4155550123",
    "14155550123",
    "1-415-555-0123",
    "(415) 555 0123",
    "(415) 5550123",
    "415/555/0123",
    "94110 415-555-0123",
    // With a zero.
    "030 1234567",
    "0151 234 56789",
    "020 7946 0958",
    "(030) 123456",
    "01 42 68 53 00",
    "06-12345678",
    "07700900123",
    "0412 345 678",
    // Other countries.
    "612 345 678",
    "612 34 56 78",
    "8 (916) 123-45-67",
    "138 0013 8000",
    "98765 43210",
    "(11) 91234-5678",
    // Announced.
    "tel5550123",
    "my phone number is 555 0123",
    "call me at 91234567",
    "WhatsApp: 9123 4567",
    "Tél. 612345678",
    "text me on 555-0123 after 18:00",
    // Hidden.
    "four one five five five five zero one two three",
    "4 1 5 5 5 5 0 1 2 3",
    "\u{664}\u{661}\u{665} \u{665}\u{665}\u{665} \u{660}\u{661}\u{662}\u{663}",
];

const OTHERS: &[&str] = &[
    // Amounts.
    "raising 2000000 USD",
    "raising 2000000",
    "2,000,000",
    "2 000 000 people",
    "2.000.000 EUR",
    "$1500000 - $2500000",
    "+2 000 000 in revenue",
    "between 12 500 000 and 15 000 000",
    "2500000000 rows",
    "revenue of 4155550123 USD",
    "call for 2 000 000",
    "a salary of 100000-150000 a year",
    // Years and dates.
    "2010-2015, 2016 - 2024",
    "1998 2004 2010",
    "2026-11-21",
    "2026-11-21T18:00:00.000Z",
    "21.11.2026 18.00",
    "01/02/2026 - 03/04/2026",
    "02/2026 - 05/2027",
    "call 2026-11-21",
    "text 2010 - 2015",
    // Postal codes.
    "94110-1234",
    "San Francisco, CA 94110",
    "37.7599, -122.4148",
    // Areas and sizes.
    "120 m²",
    "1200000 m²",
    "9000 - 12000 sqft",
    "2 rooms, 54.5 m2, 3rd floor",
    // Ids, standards, versions.
    "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3",
    "order #4155550123",
    "ISBN 978-3-16-148410-0",
    "ISBN 0-306-40615-2",
    "ISO 9001:2015, RFC 9457",
    "SKU4155550123",
    "4111 1111 1111 1111",
    "2f1e4567-e89b-12d3-a456-426614174000",
    "version 1.2.3, 10.15.7 and 2024.11.1",
    "192.168.100.200",
    "1763766000",
    // Hours and others.
    "09.00-12.00 and 13.00-17.00",
    "08.00-12.00 / 14.00",
    "one or two rooms, three at most",
    "3.1415926535",
    "odds of 1 in 1000000",
];

#[test]
fn numbers_are_found_however_they_are_written() {
    for text in NUMBERS {
        assert!(has_phone(text), "{text}");
    }
}

#[test]
fn other_digits_are_let_through() {
    for text in OTHERS {
        assert!(!has_phone(text), "{text}");
    }
}
