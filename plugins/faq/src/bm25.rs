//! The score of an entry for a query: BM25F.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
//! section 3.6. The frequencies of a term in the fields are weighted and normalised by each field's
//! length first, and only their sum is saturated, once:
//!
//! ```text
//! tf(t,d)    = Σ_f  boost_f · freq(t,d,f) / (1 − b + b · length(d,f) / average_length(f))
//! score(q,d) = Σ_t  idf(t) · tf(t,d) / (k1 + tf(t,d))
//! idf(t)     = ln(1 + (N − n(t) + 0.5) / (n(t) + 0.5))
//! ```
//!
//! Adding up a separate BM25 score per field would saturate three times, and a word that occurs in
//! all three fields would count for too much. The idf is the variant that is never negative.

use crate::entry::{AVERAGE_LENGTHS, ENTRIES, LENGTHS, Posting, Term};

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// The boosts of the fields: question, tags, answer.
const BOOSTS: [f32; 3] = [2.0, 1.5, 1.0];

/// Returns how well a term distinguishes entries.
pub(crate) fn inverse_document_frequency(term: &Term) -> f32 {
    let (all, having) = (ENTRIES.len() as f32, term.postings.len() as f32);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// Returns what one term adds to the score of the posting's entry.
pub(crate) fn contribution(idf: f32, posting: &Posting) -> f32 {
    let lengths = LENGTHS.get(usize::from(posting.entry)).copied().unwrap_or_default();
    saturated(idf, weighted_frequency(posting.frequencies, lengths, AVERAGE_LENGTHS))
}

fn weighted_frequency(frequencies: [u16; 3], lengths: [u16; 3], averages: [f32; 3]) -> f32 {
    let mut sum = 0.0;
    for (((frequency, length), average), boost) in
        frequencies.into_iter().zip(lengths).zip(averages).zip(BOOSTS)
    {
        sum += boost * f32::from(frequency) / (1.0 - B + B * f32::from(length) / average);
    }
    sum
}

fn saturated(idf: f32, frequency: f32) -> f32 {
    idf * frequency / (K1 + frequency)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f32, right: f32) -> bool {
        (left - right).abs() < 1e-4
    }

    #[test]
    fn the_formula_agrees_with_a_sum_done_by_hand() {
        // question: 2·1/(0.25+0.75·8/8) = 2; tags: 0; answer: 1·3/(0.25+0.75·200/100) = 12/7.
        let frequency = weighted_frequency([1, 0, 3], [8, 3, 200], [8.0, 4.0, 100.0]);
        assert!(near(frequency, 2.0 + 12.0 / 7.0), "{frequency}");
        // 3.7142857 / (1.2 + 3.7142857) · 2 = 1.511628
        assert!(near(saturated(2.0, frequency), 1.511_628));
    }

    #[test]
    fn question_beats_tags_beats_answer() {
        let of = |frequencies| weighted_frequency(frequencies, [5; 3], [5.0; 3]);
        assert!(of([1, 0, 0]) > of([0, 1, 0]));
        assert!(of([0, 1, 0]) > of([0, 0, 1]));
    }

    #[test]
    fn rare_terms_weigh_more_and_no_weight_is_negative() {
        static POSTINGS: [Posting; 44] =
            [const { Posting { entry: 0, frequencies: [0, 0, 1] } }; 44];
        let of = |having: usize| {
            let postings = POSTINGS.get(..having).unwrap_or_default();
            inverse_document_frequency(&Term { stem: "", postings })
        };
        assert!(of(1) > of(10));
        assert!(of(ENTRIES.len().min(44)) > 0.0);
    }
}
