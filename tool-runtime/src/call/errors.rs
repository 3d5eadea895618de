use std::fmt::{self, Write as _};

use crate::schema::{JsonPath, Problems, What};

/// How long the text about refused arguments may be, in bytes.
const MAX_TEXT: usize = 2048;

/// The arguments of a call aren't what the tool's schema asks for.
///
/// Travels as a result: the model reads it and corrects itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolArgsError {
    tool: String,
    problems: Problems,
    truncated: bool,
}

impl ToolArgsError {
    pub(crate) fn new(tool: impl Into<String>, problems: Problems) -> Self {
        ToolArgsError { tool: tool.into(), problems, truncated: false }
    }

    /// The provider said that the model's turn was cut off.
    pub(crate) fn truncated(tool: impl Into<String>, problems: Problems) -> Self {
        ToolArgsError { truncated: true, ..ToolArgsError::new(tool, problems) }
    }

    /// The tool that was called.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// All that is wrong, at all depths.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }
}

impl ToolArgsError {
    /// What the model reads.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(384);
        text.push_str("The arguments of `");
        text.push_str(&self.tool);
        text.push_str("` were refused, and it did not run.");
        if self.truncated {
            text.push_str(" They were cut off before their end.");
        }
        let mut shown = 0;
        for problem in &self.problems {
            let before = text.len();
            // Writing to a string doesn't fail.
            let _ = write!(text, "\n- {problem}");
            if text.len() > MAX_TEXT - 160 {
                text.truncate(before);
                break;
            }
            shown += 1;
        }
        let more = self.problems.total() - shown;
        if more > 0 {
            let _ = write!(text, "\n- and {more} more");
        }
        let syntax = self.problems.iter().any(|problem| matches!(problem.what(), What::Syntax { .. }));
        text.push_str(if syntax {
            "\nSend the whole call again, with a JSON object as its arguments."
        } else if self.problems.total() == 1 {
            "\nCorrect it and call the tool again."
        } else {
            "\nCorrect them all and call the tool again."
        });
        text
    }
}

impl fmt::Display for ToolArgsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::error::Error for ToolArgsError {}

/// A tool returned something that its output schema does not allow.
///
/// Travels as a result, without the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutputError {
    tool: String,
    path: JsonPath,
    what: String,
}

impl ToolOutputError {
    pub(crate) fn new(tool: impl Into<String>, path: JsonPath, what: impl Into<String>) -> Self {
        ToolOutputError { tool: tool.into(), path, what: what.into() }
    }

    /// The tool that was called.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Where in the value it is.
    pub fn path(&self) -> &JsonPath {
        &self.path
    }
}

impl fmt::Display for ToolOutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ran, but its output was refused: {}", self.tool, self.what)?;
        if !self.path.segments().is_empty() {
            write!(f, " at `{}`", self.path.to_pointer())?;
        }
        f.write_str(". Its effects may have happened; calling it again may repeat them.")
    }
}

impl std::error::Error for ToolOutputError {}
