//! Pictures that are a part of a run: what a virtual machine showed on its screen.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What each PNG begins with.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// A picture has no more, in bytes: a report holds it whole.
const MOST: usize = 1 << 20;

/// A PNG of at most 1 MiB. In JSON it is base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture(Vec<u8>);

impl Picture {
    /// `None` if these bytes are no PNG or too many.
    pub fn png(bytes: Vec<u8>) -> Option<Self> {
        (bytes.starts_with(SIGNATURE) && bytes.len() <= MOST).then_some(Self(bytes))
    }

    /// In base64.
    pub fn in_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

impl Serialize for Picture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.in_base64())
    }
}

impl<'de> Deserialize<'de> for Picture {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text.as_bytes()).map_err(D::Error::custom)?;
        Self::png(bytes).ok_or_else(|| D::Error::custom("it is no PNG of at most 1 MiB"))
    }
}

impl JsonSchema for Picture {
    fn schema_name() -> Cow<'static, str> {
        "Picture".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentEncoding": "base64", "contentMediaType": "image/png" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_png_and_comes_back_as_it_was() {
        let picture = Picture::png([SIGNATURE, b"rest"].concat()).unwrap();
        let text = serde_json::to_string(&picture).unwrap();
        assert_eq!(serde_json::from_str::<Picture>(&text).unwrap(), picture);
        let others = [b"GIF89a".to_vec(), SIGNATURE[1..].to_vec(), [SIGNATURE, &vec![0; MOST]].concat()];
        for other in others {
            let text = serde_json::to_string(&STANDARD.encode(&other)).unwrap();
            assert!(serde_json::from_str::<Picture>(&text).is_err());
            assert_eq!(Picture::png(other), None);
        }
        assert!(serde_json::from_str::<Picture>("\"no <base64>\"").is_err());
    }
}
