//! Directories, and what is in them, told from the text of a path alone.

use std::borrow::Cow;

use super::condition::Outcome;
use crate::schema::normalised;

/// A directory, and what relative paths are relative to.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    path: Box<str>,
    base: Option<Box<str>>,
}

/// On these systems names that differ in case alone are mostly one name.
const CASE_MAY_NOT_COUNT: bool = cfg!(any(windows, target_os = "macos", target_os = "ios"));

impl Directory {
    /// # Errors
    /// With what is wrong with the path.
    pub(super) fn new(path: &str, base: Option<&str>) -> Result<Self, &'static str> {
        let path = match (absolute(path)?, base) {
            (Some(path), _) => path,
            (None, Some(base)) => Cow::Owned(absolute(&format!("{base}/{path}"))?.unwrap_or_default().into_owned()),
            (None, None) => return Err("a relative path needs `base`, the directory that it is in"),
        };
        Ok(Directory { path: path.into(), base: base.map(Into::into) })
    }

    pub(super) fn holds(&self, path: &str) -> Outcome {
        let path = match (absolute(path), &self.base) {
            (Ok(Some(path)), _) => path,
            (Ok(None), Some(base)) => match absolute(&format!("{base}/{path}")) {
                Ok(Some(path)) => Cow::Owned(path.into_owned()),
                _ => return Outcome::Unreadable,
            },
            _ => return Outcome::Unreadable,
        };
        if is_in(&self.path, &path) {
            return Outcome::Holds;
        }
        let may_be_in = (CASE_MAY_NOT_COUNT && is_in(&self.path.to_lowercase(), &path.to_lowercase()))
            || (cfg!(windows) && may_be_elsewhere(&self.path, &path));
        if may_be_in { Outcome::Unreadable } else { Outcome::Fails }
    }
}

/// A path in its normal form. `None` if it is relative.
///
/// # Errors
/// If there is no knowing where it leads.
pub(super) fn absolute(path: &str) -> Result<Option<Cow<'_, str>>, &'static str> {
    if path.starts_with('~') {
        return Err("`~` is a directory of whoever opens the file: write the path out");
    }
    let path = normalised(path).ok_or("a path can't have NUL in it")?;
    Ok((path.starts_with('/') || drive(&path).is_some()).then_some(path))
}

/// The letter of `C:/…`, on Windows.
fn drive(path: &str) -> Option<u8> {
    match path.as_bytes() {
        [letter, b':', b'/', ..] if cfg!(windows) && letter.is_ascii_alphabetic() => Some(letter.to_ascii_lowercase()),
        _ => None,
    }
}

/// Can a path on Windows be in a directory although it doesn't look so? Short names, streams, names that end in
/// what is left out, and paths without a drive.
fn may_be_elsewhere(directory: &str, path: &str) -> bool {
    let rest = if drive(path).is_some() { &path[2..] } else { path };
    let is_odd = |part: &str| part.contains(['~', ':']) || part.ends_with(['.', ' ']);
    drive(directory).is_some() != drive(path).is_some() || rest.split('/').any(is_odd)
}

fn is_in(directory: &str, path: &str) -> bool {
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || directory.ends_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(windows))]
    #[test]
    fn b62_a_directory_holds_every_spelling_of_what_is_in_it() {
        let directory = Directory::new("/w/x/../secrets/", Some("/w")).unwrap();
        for path in [
            "secrets/k",
            "./secrets/k",
            "/w/x/../secrets/k",
            "/w//secrets/k",
            "/w/secrets/./k",
            "/w/secrets",
            "/w/secrets/",
            "../w/secrets/k",
            "../../../w/secrets",
            "x/../secrets/a/b",
        ] {
            assert_eq!(directory.holds(path), Outcome::Holds, "{path}");
        }
        for path in ["/w/secretsX/k", "/w", "/w/secrets/../k", "", ".", "/", "../secrets", "secret", "/w/secrets\\k"] {
            assert_eq!(directory.holds(path), Outcome::Fails, "{path}");
        }
        for path in ["~/secrets", "~", "secrets\0", "/w/secrets/\0"] {
            assert_eq!(directory.holds(path), Outcome::Unreadable, "{path:?}");
        }
        let other_case = if CASE_MAY_NOT_COUNT { Outcome::Unreadable } else { Outcome::Fails };
        assert_eq!(directory.holds("/w/Secrets/k"), other_case);
        assert_eq!(Directory::new("/", None).unwrap().holds("/x"), Outcome::Holds);
        assert_eq!(Directory::new("a/..", Some("/w")).unwrap().holds("k"), Outcome::Holds);
    }

    #[test]
    fn b62_a_relative_path_is_nowhere_without_a_base() {
        let directory = Directory::new("/w/secrets", None).unwrap();
        assert_eq!(directory.holds("secrets/k"), Outcome::Unreadable);
        assert_eq!(directory.holds("/w/secrets/k"), Outcome::Holds);
        Directory::new("secrets", None).unwrap_err();
        Directory::new("~/x", Some("/w")).unwrap_err();
        Directory::new("/x\0", None).unwrap_err();
    }
}
