//! Rules in a TOML or JSON file.

use std::sync::Arc;

use super::error::RulesError;
use super::rule::{Draft, Hint, Rank, Rule};
use super::test::{Absent, Asked, Comparison, Scalar, Test};
use super::{Inner, Rules, build};
use crate::document::{self, At, Entry, Fault, Reader, Sited, Syntax, Table, Value, meant};
use crate::registry::Registry;
use crate::schema::text;

/// What a condition may ask.
const TESTS: [&str; 8] = ["equals", "one_of", "matches", "under", "above", "at_least", "below", "at_most"];

impl Rules {
    /// Reads rules from TOML, and checks them against the tools that they are for.
    ///
    /// ```toml
    /// base = "/w"                  # what relative paths are relative to; may be left out
    ///
    /// [[rule]]
    /// decision = "deny"            # or "allow", or "ask"
    /// tool = "files_*"             # a pattern, or a list of patterns
    /// reason = "files stay"        # what the model reads; `deny` and `ask` need one
    ///
    /// [[rule.when]]                # all of a rule's conditions have to hold
    /// argument = "path"            # as in error texts: "filter.tags[2]"; "[*]" for every element
    /// under = "/w/secrets"         # one test
    /// absent = "no_match"          # or "match": where the argument may be absent, what that means
    ///
    /// [[rule]]
    /// decision = "allow"
    /// tool = ["get_*", "list_*"]
    /// hints = ["read_only", "!destructive"]
    /// ```
    ///
    /// | test | takes | holds for |
    /// |---|---|---|
    /// | `equals` | text, number, boolean | [this value](Test::equals) |
    /// | `one_of` | a list of these | [one of them](Test::one_of) |
    /// | `matches` | a [`Pattern`](super::Pattern) | [text that matches](Test::matches) |
    /// | `under` | a file path | [paths in this directory](Test::under) |
    /// | `above`, `at_least`, `below`, `at_most` | a number | numbers, [compared exactly](Test::above) |
    ///
    /// Everything means what it means for a [`Rule`] in code. A file without rules asks about every call.
    ///
    /// # Errors
    /// With everything that is wrong, each with its line and column: what isn't TOML, keys that nobody knows, and
    /// all that [`RulesBuilder::build`](super::RulesBuilder::build) finds. In a file that isn't TOML nothing else is
    /// looked for.
    ///
    /// ```
    /// # use tool_runtime::{Registry, Rules, tool};
    /// # /// Removes a file.
    /// # #[tool(host(inline))]
    /// # fn files_remove(
    /// #     /// Its path.
    /// #     path: String,
    /// # ) {
    /// #     let _ = path;
    /// # }
    /// # let registry = Registry::builder().tool(FilesRemoveTool::host()).build()?;
    /// let rules = r#"
    /// [[rule]]
    /// decision = "deny"
    /// tool = "files_*"
    /// reasom = "files stay"
    ///
    /// [[rule.when]]
    /// argument = "pth"
    /// under = "/w/secrets"
    /// "#;
    /// let error = Rules::from_toml(rules, &registry).unwrap_err();
    /// let faults: Vec<String> = error.faults().map(ToString::to_string).collect();
    /// assert_eq!(faults, [
    ///     "line 2, column 1: rule 1: needs a `reason`, which the model or a person reads",
    ///     "line 5, column 1: rule 1: unknown key `reasom`; did you mean `reason`?",
    ///     "line 8, column 12: rule 1: `files_remove` has no argument `pth`; did you mean `path`?",
    /// ]);
    /// # Ok::<(), tool_runtime::RegistryError>(())
    /// ```
    #[cfg(feature = "rules")]
    pub fn from_toml(text: &str, registry: &Registry) -> Result<Self, RulesError> {
        Rules::read(text, Syntax::Toml, registry, None)
    }

    /// As [`from_toml`](Self::from_toml), where tools come and go, as those of other servers do: a rule may name tools
    /// that aren't there, and says nothing then. Gives also what would have been wrong for it: a name may be misspelt.
    ///
    /// # Errors
    /// As those of [`from_toml`](Self::from_toml), but for names that no tool has, and for hints and arguments that no tool
    /// has together.
    #[cfg(feature = "rules")]
    pub fn from_toml_for_some(text: &str, registry: &Registry) -> Result<(Self, Vec<document::FileFault>), RulesError> {
        let mut absent = Vec::new();
        let rules = Self::read(text, Syntax::Toml, registry, Some(&mut absent))?;
        Ok((rules, RulesError::new(absent, Some(text)).faults().cloned().collect()))
    }

    /// Reads rules from JSON: the same keys, with `"rule"` and `"when"` as arrays of objects.
    ///
    /// # Errors
    /// As for TOML.
    ///
    /// ```
    /// # use tool_runtime::{Registry, Rules};
    /// # let registry = Registry::builder().build()?;
    /// let error = Rules::from_json(r#"{"rule": [{"decision": "maybe", "tool": "*"}]}"#, &registry).unwrap_err();
    /// assert!(error.to_string().starts_with("line 1, column 24: rule 1: `decision` can't be \"maybe\""), "{error}");
    /// # Ok::<(), tool_runtime::RegistryError>(())
    /// ```
    pub fn from_json(text: &str, registry: &Registry) -> Result<Self, RulesError> {
        Rules::read(text, Syntax::Json, registry, None)
    }

    fn read(
        text: &str,
        syntax: Syntax,
        registry: &Registry,
        absent: Option<&mut Vec<Fault>>,
    ) -> Result<Self, RulesError> {
        let document = document::parse(text, syntax).map_err(|faults| RulesError::new(faults, Some(text)))?;
        let mut reader = Reader::default();
        let (base, rules) = reader.rules(&document);
        let built = build::build(&rules, base.as_ref(), registry, absent);
        let mut faults = reader.faults;
        match built {
            Ok(tools) if faults.is_empty() => Ok(Rules(Arc::new(Inner { tools, count: rules.len() }))),
            built => {
                faults.extend(built.err().unwrap_or_default());
                Err(RulesError::new(faults, Some(text)))
            }
        }
    }
}

impl Reader {
    fn rules(&mut self, table: &Table) -> (Option<Sited<String>>, Vec<Rule>) {
        let (mut base, mut rules) = (None, Vec::new());
        for entry in self.entries(table, &["base", "rule"]) {
            match entry.key {
                "base" => base = self.text(&entry),
                _ => {
                    for (index, (table, at)) in self.tables(&entry, "[[rule]]").into_iter().enumerate() {
                        self.entry = Some(index);
                        rules.push(self.rule(table, at));
                    }
                    self.entry = None;
                }
            }
        }
        (base, rules)
    }

    fn rule(&mut self, table: &Table, at: At) -> Rule {
        // Until another is read, one that needs no reason.
        let mut rule = Rule::new(Rank::Allow, at);
        let (mut decision, mut tool) = (false, false);
        for entry in self.entries(table, &["decision", "tool", "hints", "reason", "when"]) {
            match entry.key {
                "decision" => {
                    decision = true;
                    if let Some(rank) = self.word(&entry, &Rank::ALL) {
                        rule.rank = rank;
                    }
                }
                "tool" => {
                    tool = true;
                    rule.tools = self.some_texts(&entry);
                }
                "hints" => rule.hints = self.hints(&entry),
                "reason" => rule.reason = self.text(&entry).map(|reason| reason.value),
                _ => {
                    for (table, at) in self.tables(&entry, "[[rule.when]]") {
                        rule.conditions.extend(self.condition(table, at));
                    }
                }
            }
        }
        if !decision {
            self.fault(at, "needs a `decision`: \"allow\", \"deny\" or \"ask\"");
        }
        if !tool {
            self.fault(at, "needs a `tool`: a pattern, or a list of patterns");
        }
        rule
    }

    fn condition(&mut self, table: &Table, at: At) -> Option<Draft> {
        let (mut argument, mut absent) = (None, None);
        let mut named = false;
        let mut tests: Vec<(Entry<'_>, Option<Sited<Test>>)> = Vec::new();
        let known: Vec<&str> = ["argument", "absent"].into_iter().chain(TESTS).collect();
        for entry in self.entries(table, &known) {
            match entry.key {
                "argument" => {
                    named = true;
                    argument = self.text(&entry);
                }
                "absent" => {
                    absent = self.word(&entry, &[("match", Absent::Match), ("no_match", Absent::NoMatch)]);
                    if absent.is_none() {
                        // That it is missing would be said as well.
                        absent = Some(Absent::NoMatch);
                    }
                }
                _ => {
                    let test = self.test(&entry);
                    tests.push((entry, test));
                }
            }
        }
        if !named {
            self.fault(at, "a condition needs an `argument`");
        }
        if tests.is_empty() {
            self.fault(
                at,
                format!("a condition needs a test: one of {}", text::listed(TESTS.into_iter(), TESTS.len())),
            );
        }
        for (second, _) in tests.iter().skip(1) {
            let what = format!("`{}`: a condition has one test; write another [[rule.when]] for a second", second.key);
            self.fault(second.key_at, what);
        }
        let test = tests.into_iter().find_map(|(_, test)| test);
        Some(Draft { argument: argument?, test, absent })
    }

    fn test(&mut self, entry: &Entry<'_>) -> Option<Sited<Test>> {
        let compare = |comparison| move |number| Asked::Compare(comparison, number);
        let asked = match entry.key {
            "one_of" => {
                let Value::List(values) = entry.value else {
                    self.expected(entry, "a list");
                    return None;
                };
                let inner = values.iter().map(|node| Entry { value: &node.value, at: Some(node.at), ..*entry });
                let scalars: Vec<Option<Scalar>> = inner.map(|entry| self.scalar(&entry)).collect();
                Asked::OneOf(scalars.into_iter().collect::<Option<_>>()?, "one_of")
            }
            "equals" => Asked::OneOf(vec![self.scalar(entry)?], "equals"),
            "matches" => Asked::Matches(self.text(entry)?.value),
            "under" => Asked::Under(self.text(entry)?.value),
            "above" => compare(Comparison::Above)(self.scalar(entry)?),
            "at_least" => compare(Comparison::AtLeast)(self.scalar(entry)?),
            "below" => compare(Comparison::Below)(self.scalar(entry)?),
            _ => compare(Comparison::AtMost)(self.scalar(entry)?),
        };
        Some(Sited { value: Test(asked), at: entry.at })
    }

    fn hints(&mut self, entry: &Entry<'_>) -> Vec<Sited<(Hint, bool)>> {
        let mut hints = Vec::new();
        for Sited { value, at } in self.texts(entry) {
            let (name, wanted) = match value.strip_prefix('!') {
                Some(name) => (name, false),
                None => (&*value, true),
            };
            match Hint::ALL.into_iter().find(|(known, _)| *known == name) {
                Some((_, hint)) => hints.push(Sited { value: (hint, wanted), at }),
                None => {
                    let shown = text::shown(name, 64);
                    let what = format!("unknown hint \"{shown}\"; {}", meant(name, &Hint::ALL));
                    self.fault(at, what);
                }
            }
        }
        hints
    }

    fn scalar(&mut self, entry: &Entry<'_>) -> Option<Scalar> {
        match entry.value {
            Value::Text(text) => Some(Scalar::from(&**text)),
            Value::Boolean(boolean) => Some(Scalar::from(*boolean)),
            Value::Number(number) => Some(Scalar::number(number)),
            Value::Radix(digits, radix) => match i128::from_str_radix(digits, *radix) {
                Ok(integer) => Some(Scalar::from(integer)),
                Err(_) => {
                    self.fault(entry.at, format!("`{}`: write so large a number in decimal digits", entry.key));
                    None
                }
            },
            Value::Date => {
                self.fault(entry.at, format!("`{}`: arguments have dates as text: put it into quotes", entry.key));
                None
            }
            _ => {
                self.expected(entry, "text, a number or a boolean");
                None
            }
        }
    }
}
