//! Names of tools and of properties, as a provider takes them.

use std::borrow::Cow;

use crate::schema::Digest;

/// Which names are legal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) longest: usize,
    /// Characters besides ASCII letters, digits and `_`.
    pub(crate) signs: &'static str,
    /// It may not begin with a digit or a sign.
    pub(crate) letter_first: bool,
}

/// `_` and eight hexadecimal digits.
const SUFFIX: usize = 9;

impl Rule {
    fn takes(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || c == '_' || self.signs.contains(c)
    }

    fn begins(self, c: char) -> bool {
        !self.letter_first || c.is_ascii_alphabetic() || c == '_'
    }

    pub(crate) fn is_legal(self, name: &str) -> bool {
        name.chars().next().is_some_and(|first| self.begins(first))
            && name.len() <= self.longest
            && name.chars().all(|c| self.takes(c))
    }

    /// The name itself if it is legal. Otherwise what is legal of it, and a part of its digest: it
    /// depends on the name alone, so a name is spelt alike whatever stands beside it.
    pub(crate) fn spell(self, name: &str) -> Cow<'_, str> {
        if self.is_legal(name) {
            return Cow::Borrowed(name);
        }
        let mut spelt = String::with_capacity(self.longest);
        if !name.chars().next().is_some_and(|first| self.begins(first) || !self.takes(first)) {
            spelt.push('_');
        }
        for c in name.chars() {
            if spelt.len() + SUFFIX >= self.longest {
                break;
            }
            spelt.push(if self.takes(c) { c } else { '_' });
        }
        let digest = Digest::of_bytes(name.as_bytes()).to_string();
        spelt.push('_');
        spelt.push_str(&digest[..SUFFIX - 1]);
        Cow::Owned(spelt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: Rule = Rule { longest: 64, signs: "-", letter_first: false };
    const KEY: Rule = Rule { longest: 64, signs: "", letter_first: true };

    #[test]
    fn a_legal_name_stays() {
        for name in ["a", "read-file", "_x", "9lives", &"n".repeat(64)] {
            assert_eq!(TOOL.spell(name), name);
        }
    }

    #[test]
    fn b29_b30_other_names_are_spelt_by_themselves_alone_and_stay_apart() {
        let (a, b) = ("create_".repeat(10), format!("{}_", "create_".repeat(9) + "delete"));
        let names = ["a.b", "a:b", "...", "", "with space", "日本", "größe", "$top", "filter[id]", &a, &b];
        let mut seen = std::collections::HashSet::new();
        for name in names {
            for rule in [TOOL, KEY] {
                let spelt = rule.spell(name);
                assert!(rule.is_legal(&spelt), "{name}: {spelt}");
                assert!(rule.is_legal(&rule.spell(&spelt)) && rule.spell(&spelt) == spelt);
            }
            assert!(seen.insert(TOOL.spell(name).into_owned()));
        }
        assert_eq!(TOOL.spell("a.b"), "a_b_2e7336dc");
        assert_eq!(KEY.spell("9lives"), format!("_9lives_{}", &Digest::of_bytes(b"9lives").to_string()[..8]));
    }
}
