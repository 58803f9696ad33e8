//! Where the last lines of a file begin, found from its end: a log may be large.

use std::io::{self, Read, Seek, SeekFrom};

/// How much is read at a time.
const BLOCK: u64 = 1 << 16;

/// The offset at which the last `lines` lines begin.
pub(super) fn start(file: &mut (impl Read + Seek), lines: usize) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    if lines == 0 {
        return Ok(length);
    }
    let mut left = lines;
    let mut end = length;
    while end > 0 {
        let begin = end.saturating_sub(BLOCK);
        let mut block = Vec::new();
        file.seek(SeekFrom::Start(begin))?;
        file.by_ref().take(end - begin).read_to_end(&mut block)?;
        for (byte, offset) in block.iter().rev().zip((begin..end).rev()) {
            // The newline at the very end closes the last line and opens none.
            if *byte == b'\n' && offset + 1 < length {
                left -= 1;
            }
            if left == 0 {
                return Ok(offset + 1);
            }
        }
        end = begin;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn tail(text: &str, lines: usize) -> &str {
        let start = start(&mut Cursor::new(text), lines).unwrap();
        &text[usize::try_from(start).unwrap()..]
    }

    #[test]
    fn the_last_lines_are_found_whether_or_not_the_last_one_is_complete() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc\n");
        assert_eq!(tail("a\nb\nc", 2), "b\nc");
        assert_eq!(tail("a\n\n\n", 2), "\n\n");
    }

    #[test]
    fn a_file_with_fewer_lines_is_shown_whole() {
        assert_eq!(tail("a\nb\n", 50), "a\nb\n");
        assert_eq!(tail("", 50), "");
    }

    #[test]
    fn no_lines_are_none() {
        assert_eq!(tail("a\nb\n", 0), "");
    }

    #[test]
    fn lines_are_found_across_blocks() {
        let long = "x".repeat(100_000);
        let text = format!("first\n{long}\n{long}\n");
        assert_eq!(tail(&text, 2), &text[6..]);
        assert_eq!(tail(&text, 3), text);
    }
}
