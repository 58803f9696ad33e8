//! Text that has to fit a limit of the API.

const ELLIPSIS: &str = "…";

/// Cuts `text` to at most `limit` bytes, between two characters, and marks the cut if there is room.
pub(crate) fn truncate(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let mark = if limit >= ELLIPSIS.len() { ELLIPSIS } else { "" };
    text.truncate(text.floor_char_boundary(limit - mark.len()));
    text.push_str(mark);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_two_characters_and_never_longer_than_its_limit() {
        let cases = [
            ("abc", 3, "abc"),
            ("abcd", 3, "…"),
            ("abcdef", 5, "ab…"),
            ("ääää", 6, "ä…"),
            ("😀😀", 7, "😀…"),
            ("😀😀", 6, "…"),
            ("ab", 1, "a"),
            ("ä", 1, ""),
            ("", 0, ""),
        ];
        for (given, limit, expected) in cases {
            let mut text = given.to_owned();
            truncate(&mut text, limit);
            assert_eq!(text, expected, "{given} in {limit}");
            assert!(text.len() <= limit);
        }
    }
}
