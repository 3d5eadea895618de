//! Arrays, tuples among them.

use super::super::{Refusal, words};
use super::{Engine, Made, empty, push_new};
use crate::schema::json::Json;

impl Engine<'_> {
    pub(super) fn array(
        &mut self,
        out: &mut Json,
        said: &mut Vec<String>,
        base: &Json,
        pointer: &str,
    ) -> Result<(), Refusal> {
        let (mut prefix, mut rest) = (base.get("prefixItems"), base.get("items"));
        if let Some(Json::Array(_)) = rest {
            // As older drafts spell it.
            (prefix, rest) = (rest, base.get("additionalItems"));
        }
        let prefix = prefix.and_then(Json::as_array).unwrap_or_default();
        let number =
            |keyword: &str| base.get(keyword).and_then(Json::as_number).and_then(|text| text.parse::<u64>().ok());
        let mut most = number("maxItems");
        let items = if prefix.is_empty() {
            match rest {
                Some(Json::Bool(false)) => {
                    most = Some(0);
                    empty()
                }
                None | Some(Json::Bool(true)) => self.anything(empty(), &[], &format!("{pointer}/items"))?,
                Some(schema) => self.node(schema, &format!("{pointer}/items"))?,
            }
        } else {
            let length = prefix.len() as u64;
            let ends = rest == Some(&Json::Bool(false)) || base.get("unevaluatedItems") == Some(&Json::Bool(false));
            if ends {
                most = Some(most.map_or(length, |most| most.min(length)));
            }
            let fixed = most.is_some_and(|most| most <= length);
            let mut forms = Vec::new();
            let mut order = Vec::new();
            for (index, schema) in prefix.iter().enumerate() {
                let made = self.node(schema, &format!("{pointer}/prefixItems/{index}"))?;
                order.push(made.clone());
                push_new(&mut forms, made);
            }
            if !fixed {
                let rest = rest.cloned().unwrap_or(Json::Bool(true));
                push_new(&mut forms, self.node(&rest, &format!("{pointer}/items"))?);
            }
            let same = forms.len() == 1;
            let any = forms.iter().any(|form| *form == empty());
            if !same {
                said.push(format!("Its elements are, in this order: {}.", words::json(&Json::Array(order))));
                self.lose(pointer, "prefixItems");
            }
            match (any, forms.as_slice()) {
                (true, _) => empty(),
                (false, [only]) => only.clone(),
                (false, _) => {
                    let rest = rest.filter(|_| !fixed).cloned();
                    self.one_of_these(prefix.iter().cloned().chain(rest).collect(), pointer)?
                }
            }
        };
        if let Some(value) = base.get("unevaluatedItems")
            && !matches!(value, Json::Bool(_))
            && rest.is_none()
        {
            self.say(said, pointer, "unevaluatedItems", value);
        }
        out.set("items", items);
        if let Some(least) = number("minItems").filter(|least| *least > 0) {
            let value = Json::integer(least);
            if self.dialect.min_items.is_some_and(|taken| least <= taken) {
                out.set("minItems", value);
            } else {
                self.say(said, pointer, "minItems", &value);
            }
        }
        if let Some(most) = most {
            let value = Json::integer(most);
            if self.dialect.keep.contains(&"maxItems") {
                out.set("maxItems", value);
            } else {
                self.say(said, pointer, "maxItems", &value);
            }
        }
        Ok(())
    }

    /// A union of schemas that were made one by one before, so that what they lose is known.
    pub(super) fn one_of_these(&mut self, all: Vec<Json>, pointer: &str) -> Made {
        let known = (self.losses.len(), self.closed.len());
        let made = self.node(&Json::Object(vec![("anyOf".into(), Json::Array(all))]), pointer)?;
        self.losses.truncate(known.0);
        self.closed.truncate(known.1);
        Ok(made)
    }
}
