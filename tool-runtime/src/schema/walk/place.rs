use super::super::json::{JsonPath, Segment as Step};

/// The path to where the walker is, as links on its stack: nothing is allocated until a problem needs it.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    outer: Option<&'p Place<'p>>,
    step: PlaceStep<'p>,
    /// Where the step stands in the schema.
    order: u32,
    pub(super) depth: usize,
}

#[derive(Clone, Copy)]
enum PlaceStep<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Place<'p> {
    pub(super) const ROOT: Place<'static> = Place { outer: None, step: PlaceStep::Root, order: 0, depth: 0 };

    pub(super) fn key(&'p self, key: &'p str, order: usize) -> Place<'p> {
        Place {
            outer: Some(self),
            step: PlaceStep::Key(key),
            order: u32::try_from(order).unwrap_or(u32::MAX),
            depth: self.depth + 1,
        }
    }

    pub(super) fn index(&'p self, index: usize) -> Place<'p> {
        Place {
            outer: Some(self),
            step: PlaceStep::Index(index),
            order: u32::try_from(index).unwrap_or(u32::MAX),
            depth: self.depth + 1,
        }
    }

    pub(super) fn path(&self) -> (JsonPath, Vec<u32>) {
        let mut steps = Vec::with_capacity(self.depth);
        let mut order = Vec::with_capacity(self.depth);
        let mut place = Some(self);
        while let Some(here) = place {
            match here.step {
                PlaceStep::Root => break,
                PlaceStep::Key(key) => steps.push(Step::Key(key.to_owned())),
                PlaceStep::Index(index) => steps.push(Step::Index(index)),
            }
            order.push(here.order);
            place = here.outer;
        }
        steps.reverse();
        order.reverse();
        (JsonPath::from_segments(steps), order)
    }

    pub(super) fn is(&self, path: &JsonPath) -> bool {
        path.segments().len() == self.depth && self.path().0 == *path
    }
}
