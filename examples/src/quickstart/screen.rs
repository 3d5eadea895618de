//! Two columns on a terminal.

use std::io::{self, IsTerminal as _, Write};

/// How wide the screen is, and whether it has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// In characters.
    pub width: usize,
    /// Whether to write ANSI escape sequences.
    pub colour: bool,
}

impl Style {
    const NARROWEST: usize = 72;
    const WIDEST: usize = 160;

    /// For standard output: as wide as `COLUMNS` says, in colour if it is a terminal and `NO_COLOR` isn't set.
    pub fn of_stdout() -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Style { width: columns.unwrap_or(100), colour: io::stdout().is_terminal() && !no_colour }
    }

    /// 100 characters wide and without colours.
    pub fn plain() -> Self {
        Style { width: 100, colour: false }
    }
}

/// The colour of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Dim,
    Bold,
    Good,
    Warning,
    Bad,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Dim => "2",
            Tone::Bold => "1",
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "31",
        }
    }
}

/// A labelled text in a column.
pub(super) struct Item {
    label: &'static str,
    text: String,
    tone: Tone,
}

pub(super) fn item(label: &'static str, text: impl Into<String>) -> Item {
    Item { label, text: text.into(), tone: Tone::Plain }
}

impl Item {
    pub(super) fn tone(self, tone: Tone) -> Self {
        Item { tone, ..self }
    }
}

/// Writes boxes of two columns.
pub(super) struct Screen<'a, W: Write> {
    out: &'a mut W,
    style: Style,
}

impl<'a, W: Write> Screen<'a, W> {
    pub(super) fn new(out: &'a mut W, style: Style) -> Self {
        let width = style.width.clamp(Style::NARROWEST, Style::WIDEST);
        Screen { out, style: Style { width, ..style } }
    }

    /// A paragraph over both columns.
    pub(super) fn say(&mut self, text: &str, tone: Tone) -> io::Result<()> {
        for line in wrapped(text, self.style.width) {
            let line = self.painted(&line, tone);
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// A box with a title, and one row a pair of columns.
    pub(super) fn table(&mut self, title: &str, rows: &[(Vec<Item>, Vec<Item>)]) -> io::Result<()> {
        // `│ left │ right │`: seven characters aren't text.
        let left = (self.style.width - 7) / 2;
        let right = self.style.width - 7 - left;
        let edge = |this: &Self, text: &str| this.painted(text, Tone::Dim);
        let (title, [mut sees, keeps]) = (format!(" {title} "), [" the model sees ", " the host keeps "]);
        let room = left.saturating_sub(title.chars().count());
        if room <= sees.len() {
            sees = "";
        }
        let top = [
            edge(self, "╭─"),
            self.painted(&title, Tone::Bold),
            edge(self, &"─".repeat(room - sees.len())),
            sees.to_owned(),
            edge(self, "─┬─"),
            keeps.to_owned(),
            edge(self, &("─".repeat((right + 2).saturating_sub(keeps.len() + 1)) + "╮")),
        ];
        writeln!(self.out, "{}", top.concat())?;
        let bar = edge(self, "│");
        for (index, (model, host)) in rows.iter().enumerate() {
            if index > 0 {
                let rule = format!("├{}┼{}┤", "─".repeat(left + 2), "─".repeat(right + 2));
                let rule = edge(self, &rule);
                writeln!(self.out, "{rule}")?;
            }
            let (model, host) = (self.column(model, left), self.column(host, right));
            for line in 0..model.len().max(host.len()) {
                let cell = |column: &[Cell], width: usize| match column.get(line) {
                    Some(cell) => cell.painted.clone() + &" ".repeat(width.saturating_sub(cell.width)),
                    None => " ".repeat(width),
                };
                let (model, host) = (cell(&model, left), cell(&host, right));
                writeln!(self.out, "{bar} {model} {bar} {host} {bar}")?;
            }
        }
        let bottom = format!("╰{}┴{}╯", "─".repeat(left + 2), "─".repeat(right + 2));
        let bottom = edge(self, &bottom);
        writeln!(self.out, "{bottom}")
    }

    fn column(&self, items: &[Item], width: usize) -> Vec<Cell> {
        let labels = items.iter().map(|item| item.label.len()).max().unwrap_or(0);
        let mut cells = Vec::new();
        for item in items {
            for (index, line) in wrapped(&item.text, width - labels - 1).into_iter().enumerate() {
                let label = if index == 0 { item.label } else { "" };
                let label = format!("{label:labels$} ");
                cells.push(Cell {
                    width: label.len() + line.chars().count(),
                    painted: self.painted(&label, Tone::Dim) + &self.painted(&line, item.tone),
                });
            }
        }
        cells
    }

    fn painted(&self, text: &str, tone: Tone) -> String {
        if self.style.colour && tone != Tone::Plain {
            format!("\x1b[{}m{text}\x1b[0m", tone.code())
        } else {
            text.to_owned()
        }
    }
}

/// One line of a column.
struct Cell {
    painted: String,
    /// Without the escape sequences.
    width: usize,
}

/// Breaks lines after a blank or a comma where that is possible. What goes on is indented as its line is, and
/// further under a list's dash.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let content = line.trim_start_matches(' ');
        let mut indent = line.len() - content.len();
        if content.starts_with("- ") {
            indent += 2;
        }
        // A column that is all indentation would never end.
        let indent = " ".repeat(indent.min(width / 2));
        let mut rest: Vec<char> = line.chars().collect();
        while rest.len() > width {
            let breaks = |at: &usize| *at > indent.len() && (matches!(rest[at - 1], ' ' | ',') || rest[*at] == ' ');
            let at = (1..=width).rev().find(breaks).unwrap_or(width);
            let tail = rest.split_off(at);
            lines.push(rest.iter().collect::<String>().trim_end().to_owned());
            rest = indent.chars().chain(tail.into_iter().skip_while(|c| *c == ' ')).collect();
        }
        lines.push(rest.into_iter().collect());
    }
    lines
}

/// JSON on several lines, in its own order; what fits on a line stays on one.
pub(super) fn indented(json: &str) -> String {
    let mut out = String::new();
    write_indented(&mut out, json.trim(), 0);
    out
}

fn write_indented(out: &mut String, json: &str, depth: usize) {
    const ONE_LINE: usize = 30;
    if json.len() <= ONE_LINE || !json.starts_with(['{', '[']) {
        out.push_str(json);
        return;
    }
    let (open, inside, close) = (&json[..1], &json[1..json.len() - 1], &json[json.len() - 1..]);
    out.push_str(open);
    for (index, member) in members(inside).into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push('\n');
        out.push_str(&"  ".repeat(depth + 1));
        let value = match (open, after_name(member)) {
            ("{", Some(at)) => {
                out.push_str(&member[..at]);
                out.push(' ');
                &member[at..]
            }
            _ => member,
        };
        write_indented(out, value, depth + 1);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push_str(close);
}

/// Cuts `"a":1,"b":[2,3]` at the commas of the top level.
fn members(inside: &str) -> Vec<&str> {
    let mut members = Vec::new();
    let (mut depth, mut quoted, mut escaped, mut start) = (0_usize, false, false, 0);
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                members.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members.push(&inside[start..]);
    members
}

/// Where the value of `"name":value` begins.
fn after_name(member: &str) -> Option<usize> {
    let mut escaped = false;
    let end = member.char_indices().skip(1).find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })?;
    member[end + 1..].starts_with(':').then_some(end + 2)
}

#[cfg(test)]
mod tests {
    use super::{Style, indented, wrapped};

    #[test]
    fn long_lines_are_broken_and_nothing_is_lost() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("- one two three", 9), ["- one two", "  three"]);
        assert_eq!(wrapped(r#"{"a":1,"b":2}"#, 8), [r#"{"a":1,"#, r#""b":2}"#]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("äöü äöü", 4), ["äöü", "äöü"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn json_keeps_its_order_and_its_values() {
        let json = r#"{"z":{"type":"string","description":"a, \"b\" {c}"},"a":[1,2,3],"y":{"x":{"w":"0123456789"}}}"#;
        let shown = indented(json);
        let squeezed: String = shown.lines().map(str::trim_start).collect::<String>().replace("\": ", "\":");
        assert_eq!(squeezed, json);
        assert!(shown.contains("\n  \"a\": [1,2,3],\n"), "{shown}");
    }

    #[test]
    fn plain_is_plain() {
        assert!(!Style::plain().colour);
    }
}
