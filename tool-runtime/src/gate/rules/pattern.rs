use std::fmt;

/// The one kind of pattern that rules have, for tool names and for argument values.
///
/// A pattern is the text itself, of which every character stands for itself, except:
///
/// | in a pattern | stands for |
/// |---|---|
/// | `*` | any run of characters, also of none, and also with `/` in it |
/// | `\*` | a star |
/// | `\\` | a backslash |
///
/// The whole text has to match, and case counts. `?`, `[` and all others have no special meaning. An empty pattern,
/// and a backslash before anything but `*` and `\`, are errors. Matching takes time in proportion to the text,
/// whatever the pattern.
///
/// ```
/// use tool_runtime::Pattern;
///
/// let pattern = Pattern::new("file_*")?;
/// assert!(pattern.matches("file_read"));
/// assert!(!pattern.matches("filesystem_wipe") && !pattern.matches("my_file_read"));
///
/// // Without a star it is no prefix, and a star crosses slashes.
/// assert!(!Pattern::new("git")?.matches("git_push"));
/// assert!(Pattern::new("rm -rf*")?.matches("rm -rf /tmp/x"));
///
/// assert!(Pattern::new("").is_err() && Pattern::new(r"a\").is_err());
/// # Ok::<(), tool_runtime::PatternError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Pattern {
    source: Box<str>,
    /// What stands between the stars, which are one fewer.
    pieces: Vec<Box<str>>,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it is empty, or has a backslash before anything but `*` and `\`.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        if pattern.is_empty() {
            return Err(PatternError(Wrong::Empty));
        }
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' => pieces.push(std::mem::take(&mut piece).into()),
                '\\' => match characters.next() {
                    Some(escaped @ ('*' | '\\')) => piece.push(escaped),
                    Some(_) => return Err(PatternError(Wrong::Escape)),
                    None => return Err(PatternError(Wrong::Dangling)),
                },
                character => piece.push(character),
            }
        }
        pieces.push(piece.into());
        Ok(Pattern { source: pattern.into(), pieces })
    }

    /// Does the whole text match?
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else { return false };
        let Some((last, middle)) = rest.split_last() else { return **first == *text };
        // To compare with nothing is slow on some processors, and most patterns begin or end with a star.
        let text = if first.is_empty() { Some(text) } else { text.strip_prefix(&**first) };
        let text = text.and_then(|text| if last.is_empty() { Some(text) } else { text.strip_suffix(&**last) });
        let Some(mut text) = text else { return false };
        // The first place where a piece fits leaves the most for those after it, so none is tried twice.
        for piece in middle {
            match text.find(&**piece) {
                Some(at) => text = &text[at + piece.len()..],
                None => return false,
            }
        }
        true
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// What stands between the stars.
    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().map(|piece| &**piece)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.source).finish()
    }
}

/// Why a text is no [`Pattern`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternError(Wrong);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Empty,
    Dangling,
    Escape,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Wrong::Empty => "an empty pattern: `*` matches everything",
            Wrong::Dangling => "a pattern can't end in a single backslash: `\\\\` stands for one",
            Wrong::Escape => "in a pattern a backslash stands only before `*` or `\\`: `\\\\` stands for one",
        })
    }
}

impl std::error::Error for PatternError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(text)
    }

    #[test]
    fn b65_a_pattern_is_exact_but_for_its_stars() {
        for (pattern, yes, no) in [
            ("git", &["git"][..], &["git_push", "a_git", "Git", "gi", ""][..]),
            ("file_*", &["file_", "file_read"], &["filesystem_wipe", "file", "a_file_x"]),
            ("*_file", &["_file", "a_file"], &["a_files", "file"]),
            ("a*b*c", &["abc", "a/b/c", "abbcc", "abcbc"], &["ab", "acb", "abcd", "xabc"]),
            ("*", &["", "x", "a/b\nc"], &[]),
            ("**", &["", "x"], &[]),
            ("a**b", &["ab", "axb"], &["a", "b"]),
            ("aba*aba", &["abaaba", "abaxaba"], &["aba", "ababa"]),
            ("*ab*ab*", &["abab", "xabxabx"], &["ab", "aba", "abba"]),
            (r"a\*", &["a*"], &["a", "ab", r"a\*"]),
            (r"a\\*", &[r"a\", r"a\b"], &["a", "ab"]),
            ("a?[b]{c}.", &["a?[b]{c}."], &["ax[b]{c}.", "a?b{c}."]),
            ("*ä*", &["ä", "xäy"], &["a\u{308}", "a"]),
            ("rm -rf*", &["rm -rf /tmp/x", "rm -rf"], &["rm -r", " rm -rf /"]),
        ] {
            for text in yes {
                assert!(matches(pattern, text), "{pattern} and {text}");
            }
            for text in no {
                assert!(!matches(pattern, text), "{pattern} and {text}");
            }
        }
    }

    #[test]
    fn b65_a_bad_pattern_is_refused() {
        for pattern in ["", r"\", r"a\", r"\\\", r"\a", r"C:\w", r"\?"] {
            Pattern::new(pattern).unwrap_err();
        }
    }

    /// Against the definition, tried in every way.
    #[test]
    fn it_agrees_with_trying_everything() {
        fn slow(pattern: &[u8], text: &[u8]) -> bool {
            match pattern.split_first() {
                None => text.is_empty(),
                Some((b'*', rest)) => (0..=text.len()).any(|at| slow(rest, &text[at..])),
                Some((byte, rest)) => text.first() == Some(byte) && slow(rest, &text[1..]),
            }
        }
        let words = |letters: &[u8], longest: usize| {
            let mut words = vec![Vec::new()];
            let mut last = words.clone();
            for _ in 0..longest {
                last = last
                    .iter()
                    .flat_map(|word: &Vec<u8>| letters.iter().map(|&letter| [&word[..], &[letter]].concat()))
                    .collect();
                words.extend(last.iter().cloned());
            }
            words
        };
        let texts = words(b"ab", 6);
        for pattern in words(b"ab*", 5).into_iter().skip(1) {
            let fast = Pattern::new(std::str::from_utf8(&pattern).unwrap()).unwrap();
            for text in &texts {
                let text = std::str::from_utf8(text).unwrap();
                assert_eq!(fast.matches(text), slow(&pattern, text.as_bytes()), "{fast:?} and {text}");
            }
        }
    }

    #[test]
    fn hostile_texts_take_no_longer() {
        let pattern = "*a".repeat(1000) + "*b";
        let begun = std::time::Instant::now();
        assert!(!matches(&pattern, &"a".repeat(1_000_000)));
        assert!(!matches(&("a".repeat(1000) + "*c" + &"*a".repeat(100)), &"a".repeat(1_000_000)));
        assert!(!matches(&("*".to_owned() + &"a".repeat(1000) + "b*"), &"a".repeat(1_000_000)));
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}
