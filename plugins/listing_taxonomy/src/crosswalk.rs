//! Finds the mappings of a code of either scheme.

use crate::taxonomy::{self, MAPPINGS, Mapping, Scheme};

/// Returns the mappings between this taxonomy and a scheme, all of them or those of one code;
/// `None` if neither side knows the code.
pub(crate) fn mappings(
    scheme: Option<Scheme>,
    code: Option<&str>,
) -> Option<Vec<&'static Mapping>> {
    let of_scheme =
        MAPPINGS.iter().filter(|known| scheme.is_none_or(|scheme| known.scheme == scheme));
    let Some(code) = code else {
        return Some(of_scheme.collect());
    };
    let asked = last_part(code);
    let found: Vec<_> =
        of_scheme.filter(|known| same(known.from, asked) || same(known.to, asked)).collect();
    (!found.is_empty() || taxonomy::node(code).is_some()).then_some(found)
}

/// Returns the last part of an address or a prefixed name, which may be given alone.
fn last_part(code: &str) -> &str {
    code.rsplit(['/', ':']).next().unwrap_or(code)
}

/// Whether two codes are the same. An O*NET-SOC code may be shortened to its SOC code.
fn same(known: &str, asked: &str) -> bool {
    let known = last_part(known);
    known.eq_ignore_ascii_case(asked) || known.strip_suffix(".00").is_some_and(|soc| soc == asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxonomy::{NODES, Relation};
    use std::collections::BTreeSet;

    #[test]
    fn every_mapping_is_found_from_both_ends() {
        for mapping in MAPPINGS {
            for end in [mapping.from, mapping.to] {
                let found = mappings(Some(mapping.scheme), Some(end)).unwrap();
                assert!(
                    found.iter().any(|found| std::ptr::eq(*found, mapping)),
                    "{mapping:?} from {end}"
                );
            }
        }
    }

    #[test]
    fn every_mapping_has_one_end_of_ours() {
        for mapping in MAPPINGS {
            let ours =
                [mapping.from, mapping.to].into_iter().filter(|end| taxonomy::node(end).is_some());
            assert_eq!(ours.count(), 1, "{mapping:?}");
        }
    }

    #[test]
    fn occupation_leads_to_both_sides_of_work_and_back() {
        let found = mappings(Some(Scheme::Isco08), Some("2512")).unwrap();
        let ours: Vec<_> = found.iter().map(|mapping| mapping.to).collect();
        assert_eq!(ours, ["work.job.software", "work.candidate.software"]);
        assert!(found.iter().all(|mapping| mapping.relation == Relation::Broad));
        let back = mappings(Some(Scheme::Isco08), Some("work.job.software")).unwrap();
        assert!(back.iter().any(|mapping| mapping.from == "2512"));
    }

    #[test]
    fn foreign_codes_may_be_shortened() {
        let spelled = [
            (Scheme::Esco, "http://data.europa.eu/esco/isco/C2512", "C2512"),
            (Scheme::OnetSoc, "15-1252.00", "15-1252"),
            (Scheme::SchemaOrg, "JobPosting", "https://schema.org/JobPosting"),
            (Scheme::SchemaOrg, "JobPosting", "schema:JobPosting"),
        ];
        for (scheme, full, short) in spelled {
            let full = mappings(Some(scheme), Some(full)).unwrap();
            let short = mappings(Some(scheme), Some(short)).unwrap();
            assert!(!full.is_empty());
            assert_eq!(full.len(), short.len());
        }
    }

    #[test]
    fn unknown_codes_differ_from_categories_without_mappings() {
        assert!(mappings(None, Some("9999")).is_none());
        assert!(mappings(Some(Scheme::Isco08), Some("home.let")).unwrap().is_empty());
    }

    #[test]
    fn lawyers_specialities_are_narrower_than_the_occupation() {
        let found = mappings(Some(Scheme::OnetSoc), Some("pro.lawyer.immigration")).unwrap();
        assert_eq!(found.iter().map(|mapping| mapping.to).collect::<Vec<_>>(), ["23-1011.00"]);
        assert!(mappings(Some(Scheme::OnetSoc), Some("pro.client.lawyer.ip")).unwrap().is_empty());
    }

    #[test]
    fn every_category_has_its_schema_org_type() {
        let mapped: BTreeSet<_> = MAPPINGS
            .iter()
            .filter(|mapping| mapping.scheme == Scheme::SchemaOrg)
            .map(|mapping| (mapping.from, mapping.to))
            .collect();
        for node in &NODES {
            assert!(mapped.contains(&(node.code, node.schema_org_type)), "{}", node.code);
        }
    }

    #[test]
    fn codes_have_their_scheme_s_form() {
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        for mapping in MAPPINGS {
            let foreign =
                if taxonomy::node(mapping.from).is_some() { mapping.to } else { mapping.from };
            let fits = match mapping.scheme {
                Scheme::Isco08 => digits(foreign) && foreign.len() <= 4,
                Scheme::Esco => {
                    foreign.strip_prefix("http://data.europa.eu/esco/isco/C").is_some_and(digits)
                }
                Scheme::OnetSoc => {
                    let parts: Vec<_> = foreign.split(['-', '.']).collect();
                    parts.iter().all(|part| digits(part))
                        && parts.iter().map(|part| part.len()).eq([2, 4, 2])
                }
                Scheme::SchemaOrg => foreign.starts_with(|first: char| first.is_ascii_uppercase()),
            };
            assert!(fits, "{mapping:?}");
        }
    }
}
