//! Text from outside, made safe to show.

use std::fmt::Write as _;

/// Characters that change how the text around them looks, or that can't be seen at all: controls,
/// Unicode's format characters, its fillers and variation selectors, and spaces that aren't one.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// `text` on one line, as it may stand between quotes: quotes, control, bidirectional and invisible
/// characters escaped as `\u{202e}`, and cut to at most `limit` characters of the original.
pub(crate) fn shown(text: &str, limit: usize) -> String {
    let mut out = String::new();
    push_shown(&mut out, text, limit);
    out
}

/// As [`shown`], behind what is there.
pub(crate) fn push_shown(out: &mut String, text: &str, limit: usize) {
    push_escaped(out, text, limit, |c| matches!(c, '"' | '\\'), is_deceptive);
}

/// As [`shown`], but for a text that stands alone: its quotes stay.
pub(crate) fn visible(text: &str, limit: usize) -> String {
    escaped(text, limit, |_| false, is_deceptive)
}

/// As [`visible`], and everything that isn't ASCII escaped, too: for names, in which letters that look
/// alike matter most.
pub(crate) fn ascii(text: &str, limit: usize) -> String {
    escaped(text, limit, |_| false, |c| !c.is_ascii() || c.is_control())
}

/// As [`visible`], but of a longer text its head and its tail: what matters may stand at the end.
pub(crate) fn excerpt(text: &str, limit: usize) -> String {
    let half = limit / 2;
    let place = |mut places: std::str::CharIndices<'_>| places.nth(half).map_or(text.len(), |(at, _)| at);
    let total = text.chars().count();
    if total <= limit {
        return visible(text, limit);
    }
    let end = text.char_indices().rev().nth(half.saturating_sub(1)).map_or(0, |(at, _)| at);
    let head = visible(&text[..place(text.char_indices())], limit);
    format!("{head} … ({total} characters) … {}", visible(&text[end..], limit))
}

/// What isn't ASCII in words that look like paths, hosts or addresses: there, a letter, a slash or a point that looks
/// like another leads elsewhere. Each once, and no more than a few.
pub(crate) fn foreign_in_paths(text: &str) -> Vec<char> {
    const MOST: usize = 8;
    let mut found = Vec::new();
    for word in text.split([' ', '"', '\'', ',', '(', ')', '<', '>']) {
        // A full stop at the end of a sentence makes no path.
        let word = word.trim_end_matches(['.', ':', ';', '!', '?']);
        if word.is_ascii() || !word.contains(['/', '\\', '.', ':', '@']) {
            continue;
        }
        // What can't be seen is escaped wherever it is shown.
        for c in word.chars().filter(|&c| !c.is_ascii() && !is_deceptive(c)) {
            if found.len() < MOST && !found.contains(&c) {
                found.push(c);
            }
        }
    }
    found
}

fn escaped(text: &str, limit: usize, quotes: impl Fn(char) -> bool, is_deceptive: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    push_escaped(&mut out, text, limit, quotes, is_deceptive);
    out
}

fn push_escaped(
    out: &mut String,
    text: &str,
    limit: usize,
    quotes: impl Fn(char) -> bool,
    is_deceptive: impl Fn(char) -> bool,
) {
    out.reserve(text.len().min(limit) + 16);
    // Most texts hold nothing else.
    if text.len() <= limit && text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !quotes(char::from(byte))) {
        out.push_str(text);
        return;
    }
    let mut plain = 0;
    for (count, (at, c)) in text.char_indices().enumerate() {
        if matches!(c, ' '..='~') && !quotes(c) && count < limit {
            continue;
        }
        out.push_str(&text[plain..at]);
        plain = at + c.len_utf8();
        if count == limit {
            let _ = write!(out, "… ({} characters)", text.chars().count());
            return;
        }
        match c {
            c if quotes(c) => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_deceptive(c) => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out.push_str(&text[plain..]);
}

/// Is a letter of a script without spaces between words, or (Korean) with words that are spaced
/// together with what follows them?
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// The longest beginning of `text` that has at most `limit` bytes and ends between characters.
pub(crate) fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// The longest end of `text` that has at most `limit` bytes and begins between characters.
pub(crate) fn tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}

/// Which of `known` did somebody mean who wrote `wrong`?
///
/// First a name that differs in case and separators only, then one that begins or ends alike,
/// then the nearest by edits (with neighbours swapped counted as one), if it is near.
pub(crate) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if wrong.len() > LONGEST {
        return None;
    }
    let wrong = bare(wrong);
    if wrong.is_empty() {
        return None;
    }
    known
        .filter(|name| name.len() <= LONGEST)
        .filter_map(|name| {
            let right = bare(name);
            let (a, b) = (wrong.chars().count(), right.chars().count());
            let (shorter, difference) = (a.min(b), a.abs_diff(b));
            let allowed = (shorter / 3).max(1).min(shorter.saturating_sub(1));
            let affix =
                shorter >= 3 && (right.starts_with(&wrong) || wrong.starts_with(&right) || right.ends_with(&wrong));
            if wrong == right {
                Some((0, name))
            } else if affix {
                Some((difference, name))
            } else if difference <= allowed {
                let distance = strsim::osa_distance(&wrong, &right);
                (distance <= allowed).then_some((distance, name))
            } else {
                None
            }
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// A name without case and separators.
fn bare(text: &str) -> String {
    if text.is_ascii() {
        let mut bare = text.to_ascii_lowercase();
        bare.retain(|c| c.is_ascii_alphanumeric());
        return bare;
    }
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `["a", "b", "c"]` → `` `a`, `b`, `c` ``, cut after `limit` names.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, limit: usize) -> String {
    let total = names.len();
    let mut out = String::new();
    for (index, name) in names.take(limit).enumerate() {
        out.push_str(if index > 0 { ", `" } else { "`" });
        out.push_str(name);
        out.push('`');
    }
    if total > limit {
        let _ = write!(out, " and {} more", total - limit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b67_hidden_characters_are_shown() {
        assert_eq!(shown("a\u{202e}b\u{200b}\u{1b}[2K\r\n\"", 99), "a\\u{202e}b\\u{200b}\\u{1b}[2K\\r\\n\\\"");
        assert_eq!(shown("äöü", 2), "äö… (3 characters)");
    }

    #[test]
    fn b67_the_end_of_a_long_text_is_shown() {
        assert_eq!(excerpt("äbcdefgh", 8), "äbcdefgh");
        assert_eq!(excerpt("äbcdefghö", 4), "äb … (9 characters) … hö");
        assert_eq!(excerpt("a\u{3164}b\u{2003}", 4), "a\\u{3164}b\\u{2003}");
        assert_eq!(ascii("b\u{430}sh\n", 9), "b\\u{430}sh\\n");
    }

    #[test]
    fn b63_letters_count_where_they_lead_somewhere() {
        assert_eq!(foreign_in_paths("see http://ex\u{430}mple.com, or mail \u{435}@b.c"), ['\u{430}', '\u{435}']);
        assert_eq!(foreign_in_paths("https://b.example\u{2215}.c.example \u{202e}/x"), ['\u{2215}']);
        assert_eq!(foreign_in_paths("Čeština je krásná. \"naïve\": café"), ['\0'; 0]);
    }

    #[test]
    fn b77_cuts_fall_between_characters() {
        let text = "a─b🍸";
        for limit in 0..=text.len() + 1 {
            assert!(head(text, limit).len() <= limit && text.starts_with(head(text, limit)));
            assert!(tail(text, limit).len() <= limit && text.ends_with(tail(text, limit)));
        }
    }

    #[test]
    fn b48_near_misses_are_found() {
        let known = ["file_path", "limit", "hours_back", "min_stars"];
        for (wrong, right) in [
            ("filePath", "file_path"),
            ("FILE-PATH", "file_path"),
            ("limt", "limit"),
            ("hours", "hours_back"),
            ("min_star", "min_stars"),
        ] {
            assert_eq!(nearest(wrong, known.into_iter()), Some(right), "{wrong}");
        }
        for wrong in ["status", "x", "", &"l".repeat(100_000)] {
            assert_eq!(nearest(wrong, known.into_iter()), None);
        }
    }
}
