//! Descriptions as text. Knows nothing of schemas.

/// The longest text that is kept of a core type, in characters.
const LONGEST: usize = 200;
/// End with a full stop without ending a sentence.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "etc.", "vs."];

/// True for the text that stands where the author gave none.
pub(super) fn is_placeholder(text: &str) -> bool {
    text.starts_with("Auto-generated derived type for ")
}

/// Without spaces at the ends of lines, and with at most one empty line in a row. Lines stay, for
/// lists and code.
pub(super) fn normalised(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        let is_second_empty = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !is_second_empty {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

/// The first sentence on one line, cut between words if it is long.
pub(super) fn first_sentence(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ends = |(at, word): (usize, &&str)| {
        let is_next_upper =
            words.get(at + 1).is_none_or(|next| next.starts_with(char::is_uppercase));
        word.ends_with('.') && is_next_upper && !ABBREVIATIONS.contains(&word.trim_matches('('))
    };
    let last = words.iter().enumerate().position(ends).map_or(words.len(), |at| at + 1);
    shortened(&words[..last])
}

fn shortened(words: &[&str]) -> String {
    let mut sentence = String::new();
    for word in words {
        // Room for the space before the word and the mark after it.
        if sentence.chars().count() + word.chars().count() + 2 > LONGEST {
            sentence.push('…');
            break;
        }
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        sentence.push_str(word);
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_ends_where_a_new_one_begins() {
        assert_eq!(first_sentence("One,  e.g. 1.5\nor two. Three."), "One, e.g. 1.5 or two.");
        assert_eq!(
            first_sentence("See e.g. Kubernetes for it. More"),
            "See e.g. Kubernetes for it."
        );
        assert_eq!(first_sentence("no end at all"), "no end at all");
        assert_eq!(first_sentence(""), "");
    }

    #[test]
    fn a_long_sentence_is_cut_between_words_once() {
        let cut = first_sentence(&"wörter ".repeat(100));
        assert!(cut.chars().count() <= LONGEST, "{cut}");
        assert!(cut.ends_with("wörter…"), "{cut}");
        assert_eq!(first_sentence(&cut), cut);
    }

    #[test]
    fn lines_stay_and_surplus_space_goes() {
        let text = "\n  A list:  \n\n\n- one\t\n  - two\n\n";
        assert_eq!(normalised(text), "A list:\n\n- one\n  - two");
    }
}
