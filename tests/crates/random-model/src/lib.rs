//! A model without weights: it writes at random what the grammar of a schema allows, byte by byte, as a provider that
//! constrains its output would let it.

use std::fmt;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;
use toktrie::{ApproximateTokEnv, TokEnv};

/// After so many bytes it begins to close what it has opened, and soon after that it gives up.
const PATIENCE: usize = 300;

/// See the crate. The same seed writes the same.
pub struct RandomModel {
    factory: ParserFactory,
    dice: Dice,
}

/// What it may write.
#[derive(Debug, Clone)]
pub struct Grammar(TopLevelGrammar);

impl RandomModel {
    /// # Errors
    /// If the grammars can't be set up.
    pub fn new(seed: u64) -> Result<Self, String> {
        let environment: TokEnv = ApproximateTokEnv::single_byte_env();
        let mut factory = ParserFactory::new_simple(&environment).map_err(|error| error.to_string())?;
        factory.quiet();
        Ok(RandomModel { factory, dice: Dice(seed) })
    }

    /// # Errors
    /// Why there is no grammar of this schema.
    pub fn grammar(&self, schema: Value) -> Result<Grammar, String> {
        let grammar = Grammar(TopLevelGrammar::from_json_schema(schema));
        match self.matcher(&grammar).get_error() {
            None => Ok(grammar),
            Some(error) => Err(error.lines().next().unwrap_or_default().to_owned()),
        }
    }

    fn matcher(&self, grammar: &Grammar) -> Matcher {
        Matcher::new(self.factory.create_parser(grammar.0.clone()))
    }

    /// One text of the grammar, if it came to an end.
    pub fn write(&mut self, grammar: &Grammar) -> Option<String> {
        let mut matcher = self.matcher(grammar);
        let mut bytes = Vec::new();
        while bytes.len() < 2 * PATIENCE {
            if matcher.is_stopped() || (matcher.is_accepting().ok()? && self.dice.roll().is_multiple_of(2)) {
                return String::from_utf8(bytes).ok();
            }
            let mask = matcher.compute_mask().ok()?;
            let allowed: Vec<u32> = mask.iter().filter(|token| *token < 128).collect();
            let ends: Vec<u32> = allowed.iter().copied().filter(|token| b"\"]},".contains(&(*token as u8))).collect();
            let plain: Vec<u32> =
                allowed.iter().copied().filter(|token| !(*token as u8).is_ascii_whitespace() && *token >= 32).collect();
            let closing = bytes.len() > PATIENCE || self.dice.roll().is_multiple_of(4);
            let token = match (ends.as_slice(), plain.as_slice(), allowed.as_slice()) {
                (ends @ [_, ..], _, _) if closing => self.dice.one_of(ends),
                (_, plain @ [_, ..], _) => self.dice.one_of(plain),
                (_, _, any @ [_, ..]) => self.dice.one_of(any),
                _ => return if matcher.is_accepting().ok()? { String::from_utf8(bytes).ok() } else { None },
            };
            matcher.consume_token(token).ok()?;
            bytes.push(token as u8);
        }
        None
    }
}

impl fmt::Debug for RandomModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RandomModel").finish_non_exhaustive()
    }
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.roll() % all.len() as u64) as usize]
    }
}
