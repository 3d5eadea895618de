use std::borrow::Cow;

/// As [`normalise_path`], without a copy of what is in this form already.
pub(crate) fn normalised(path: &str) -> Option<Cow<'_, str>> {
    let parts = || path.strip_prefix('/').unwrap_or(path).split('/');
    let is_normal =
        !cfg!(windows) && !path.contains('\0') && (path == "/" || parts().all(|part| !matches!(part, "" | "." | "..")));
    if is_normal { Some(Cow::Borrowed(path)) } else { normalise_path(path).map(Cow::Owned) }
}

/// Normalises a file path lexically, so that `a.txt`, `./a.txt` and `x/../a.txt` are one path for
/// whoever judges it and whoever opens it. `None` for a path with NUL, which no system can open.
///
/// Nothing is looked up: a symbolic link is not followed, and `..` after one is taken at its word.
/// On Windows `\` separates as `/` does.
pub(crate) fn normalise_path(path: &str) -> Option<String> {
    if path.contains('\0') {
        return None;
    }
    let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
    let absolute = path.starts_with(separators);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(separators) {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&"..") | None if !absolute => parts.push(".."),
                None => {}
                Some(_) => {
                    parts.pop();
                }
            },
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    Some(match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_become_one() {
        for (path, normal) in [
            ("a.txt", "a.txt"),
            ("./a.txt", "a.txt"),
            ("x/../a.txt", "a.txt"),
            ("/w//secrets/./k/", "/w/secrets/k"),
            ("/../etc", "/etc"),
            ("../../a/../b", "../../b"),
            ("a/../..", ".."),
            ("", "."),
            ("/", "/"),
        ] {
            assert_eq!(normalise_path(path).unwrap(), normal, "{path}");
            assert_eq!(normalise_path(normal).unwrap(), normal);
            assert_eq!(normalised(path).unwrap(), normal, "{path}");
            assert_eq!(normalised(normal).unwrap(), normal);
        }
        assert_eq!(normalise_path("ok\0/../secret"), None);
        assert_eq!(normalised("ok\0"), None);
    }
}
