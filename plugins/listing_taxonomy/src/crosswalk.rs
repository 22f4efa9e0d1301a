//! Finds the mappings of a code of either scheme.

use crate::taxonomy::{self, MAPPINGS, Mapping, Scheme};

/// Returns the mappings between this taxonomy and a scheme, all of them or those of one code;
/// `None` if the code is in no mapping and is no category.
pub(crate) fn mappings(
    scheme: Option<Scheme>,
    code: Option<&str>,
) -> Option<Vec<&'static Mapping>> {
    let of_scheme =
        MAPPINGS.iter().filter(|known| scheme.is_none_or(|scheme| known.scheme == scheme));
    let Some(code) = code else { return Some(of_scheme.collect()) };
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

    fn found(scheme: Scheme, code: &str) -> Vec<&'static Mapping> {
        mappings(Some(scheme), Some(code)).unwrap()
    }

    #[test]
    fn every_mapping_is_found_from_both_ends() {
        for mapping in MAPPINGS {
            for end in [mapping.from, mapping.to] {
                let mut found = found(mapping.scheme, end).into_iter();
                assert!(found.any(|found| std::ptr::eq(found, mapping)), "{mapping:?} from {end}");
            }
        }
    }

    #[test]
    fn every_mapping_has_one_end_of_ours() {
        for mapping in MAPPINGS {
            let is_ours = |code: &str| taxonomy::node(code).is_some();
            assert_ne!(is_ours(mapping.from), is_ours(mapping.to), "{mapping:?}");
        }
    }

    #[test]
    fn occupation_leads_to_both_sides_of_work_and_back() {
        let ours = found(Scheme::Isco08, "2512");
        let codes = ours.iter().map(|mapping| mapping.to);
        assert!(codes.eq(["work.job.software", "work.candidate.software"]), "{ours:?}");
        assert!(ours.iter().all(|mapping| mapping.relation == Relation::Broad));
        let back = found(Scheme::Isco08, "work.job.software");
        assert!(back.iter().any(|mapping| mapping.from == "2512"));
    }

    #[test]
    fn foreign_codes_may_be_shortened() {
        for (scheme, full, short) in [
            (Scheme::Esco, "http://data.europa.eu/esco/isco/C2512", "C2512"),
            (Scheme::OnetSoc, "15-1252.00", "15-1252"),
            (Scheme::SchemaOrg, "JobPosting", "https://schema.org/JobPosting"),
            (Scheme::SchemaOrg, "JobPosting", "schema:JobPosting"),
        ] {
            let (full, short) = (found(scheme, full), found(scheme, short));
            assert!(!full.is_empty() && full.len() == short.len(), "{full:?} {short:?}");
        }
    }

    #[test]
    fn unknown_codes_differ_from_categories_without_mappings() {
        assert!(mappings(None, Some("9999")).is_none());
        assert!(found(Scheme::Isco08, "home.let").is_empty());
    }

    #[test]
    fn lawyers_specialities_are_narrower_than_the_occupation() {
        let occupations = found(Scheme::OnetSoc, "pro.lawyer.immigration");
        assert!(occupations.iter().map(|mapping| mapping.to).eq(["23-1011.00"]));
        assert!(found(Scheme::OnetSoc, "pro.client.lawyer.ip").is_empty());
    }

    #[test]
    fn every_category_has_its_schema_org_type() {
        for node in &NODES {
            let types = found(Scheme::SchemaOrg, node.code);
            let mut types = types.iter().map(|mapping| (mapping.from, mapping.to));
            assert!(types.any(|ends| ends == (node.code, node.schema_org_type)), "{}", node.code);
        }
    }

    #[test]
    fn codes_have_their_scheme_s_form() {
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        for mapping in MAPPINGS {
            let is_ours = taxonomy::node(mapping.from).is_some();
            let foreign = if is_ours { mapping.to } else { mapping.from };
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
