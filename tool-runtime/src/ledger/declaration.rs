use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::call::CaseId;
use crate::gate::Signer;
use crate::schema::Digest;

/// Is a tool's declaration that it is deterministic believed?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// It is not.
    Quarantined,
    /// It may be probed and believed again.
    Lifted,
}

impl Standing {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Standing::Quarantined => "quarantined",
            Standing::Lifted => "lifted",
        }
    }

    pub(super) fn read(word: &str) -> Option<Self> {
        [Standing::Quarantined, Standing::Lifted].into_iter().find(|standing| standing.as_str() == word)
    }
}

/// A tool's declaration was put in quarantine, or let out of it. About no call: its case is its own. Only this crate can
/// make one.
#[derive(Debug, PartialEq, Eq)]
pub struct DeclarationRecord {
    case: CaseId,
    tool: String,
    definition: Option<Digest>,
    standing: Standing,
    why: String,
    signer: Option<Signer>,
}

impl DeclarationRecord {
    pub(crate) fn new(tool: &str, definition: Option<Digest>, standing: Standing, why: String) -> Self {
        DeclarationRecord { case: CaseId::fresh(), tool: tool.to_owned(), definition, standing, why, signer: None }
    }

    pub(crate) fn signed(mut self, signer: Signer) -> Self {
        self.signer = Some(signer);
        self
    }

    /// Identifies the entry.
    pub fn case(&self) -> CaseId {
        self.case
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Which definition of it, if that is known.
    pub fn definition(&self) -> Option<&Digest> {
        self.definition.as_ref()
    }

    /// In quarantine, or not any more.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Why, for persons.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Who let it out, if a person did.
    pub fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }
}

impl Serialize for DeclarationRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("DeclarationRecord", 8)?;
        fields.serialize_field("entry", "declaration")?;
        fields.serialize_field("case", &self.case)?;
        fields.serialize_field("tool", &self.tool)?;
        match &self.definition {
            Some(definition) => fields.serialize_field("definition", &definition.to_string())?,
            None => fields.skip_field("definition")?,
        }
        fields.serialize_field("standing", self.standing.as_str())?;
        fields.serialize_field("why", &self.why)?;
        Signer::serialize_into(self.signer.as_ref(), &mut fields)?;
        fields.end()
    }
}
