//! What elements of XML say, as text.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

/// The text that an event adds to what its element says; none if it is something else.
pub fn text_of(event: &Event) -> Option<String> {
    Some(match event {
        Event::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Event::CData(text) => String::from_utf8_lossy(text).into_owned(),
        Event::GeneralRef(reference) => {
            let name = String::from_utf8_lossy(reference);
            match (reference.resolve_char_ref(), resolve_predefined_entity(&name)) {
                (Ok(Some(character)), _) => character.into(),
                (_, Some(character)) => character.into(),
                // Some write references to characters that XML does not have.
                _ => char::REPLACEMENT_CHARACTER.into(),
            }
        }
        _ => return None,
    })
}
