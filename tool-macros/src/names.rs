//! Names: which are legal, how types are called after them, which one was meant.

/// The rule for tool names, as every provider takes them.
pub(crate) const NAME_RULE: &str = "a tool name starts with an ASCII letter or `_`, goes on with ASCII letters, digits, `_` or `-`, and has at most 64 characters";

/// Whether `name` matches `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`.
pub(crate) fn is_tool_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && name.len() <= 64
}

/// `get_weather` → `GetWeather`.
pub(crate) fn pascal(snake: &str) -> String {
    snake
        .split('_')
        .flat_map(|word| {
            let mut chars = word.chars();
            chars.next().into_iter().flat_map(char::to_uppercase).chain(chars)
        })
        .collect()
}

/// `` `a`, `b`, `c` ``.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The candidate that was probably meant: at most a third of its characters differ.
pub(crate) fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .map(|candidate| (distance(name, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits between the two: insert, delete, replace, or swap two neighbours.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let replaced = above[j] + usize::from(l != r);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r;
            if swapped {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}
