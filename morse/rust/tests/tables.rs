//! The alphabets against the C library's `tables.txt`, and texts there and back.

use morse::{Alphabet, Decoder, Encoder, ErrorKind};
use proptest::prelude::*;

/// Character, code, and what the code decodes to.
fn table(alphabet: Alphabet) -> Vec<(char, &'static str, char)> {
    let text = include_str!("../c/tables.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut table = Vec::new();
    for line in text {
        let words: Vec<&str> = line.split_whitespace().collect();
        if alphabet.name() != words[0] && alphabet.name().strip_suffix("-extended") != Some(words[0]) {
            continue;
        }
        let decoded = words.get(3).unwrap_or(&words[1]).chars().next().unwrap();
        table.extend(words[1].chars().map(|character| (character, words[2], decoded)));
    }
    table
}

#[test]
fn alphabets_are_those_of_the_tables() {
    for alphabet in Alphabet::ALL {
        let table = table(alphabet);
        assert!(table.len() > 70, "{}", alphabet.name());
        for character in '\0'..='\u{500}' {
            let expected = table.iter().find(|line| line.0 == character).map(|line| line.1);
            assert_eq!(alphabet.code(character).as_deref(), expected, "{} {character}", alphabet.name());
        }
        for (_, code, decoded) in table {
            assert_eq!(alphabet.character(code), Some(decoded), "{} {code}", alphabet.name());
        }
        for none in ["", ".x", ".........", "."] {
            assert_eq!(alphabet.character(none).is_some(), none == ".", "{} {none}", alphabet.name());
        }
    }
}

#[test]
fn what_cannot_be_coded_is_replaced_if_one_wants() {
    let mut encoder = Encoder::lossy(Alphabet::Itu, Some('?')).unwrap();
    let mut code = [0; 64];
    let written = encoder.update("a€".as_bytes(), &mut code).unwrap().written;
    let written = written + encoder.finish(&mut code[written..]).unwrap();
    assert_eq!((&code[..written], encoder.replaced()), (&b".- ..--.."[..], 1));
    assert_eq!(Encoder::lossy(Alphabet::Itu, Some('€')).err().unwrap().kind(), ErrorKind::Replacement);

    let mut decoder = Decoder::lossy(Alphabet::Itu, Some('\u{10FFFF}')).unwrap();
    let written = decoder.update(b".- x", &mut code).unwrap().written;
    let written = written + decoder.finish(&mut code[written..]).unwrap();
    assert_eq!(&code[..written], "A\u{10FFFF}".as_bytes());
}

#[test]
fn errors_say_what_and_where() {
    let room = morse::encode(Alphabet::Itu, b"sos", &mut [0; 5]).unwrap_err();
    assert_eq!((room.kind(), room.line()), (ErrorKind::Room, 0));
    let utf8 = morse::encode(Alphabet::Itu, b"so\xff", &mut [0; 64]).unwrap_err();
    assert_eq!((utf8.kind(), utf8.offset(), utf8.bytes()), (ErrorKind::Utf8, 2, &b"\xff"[..]));
    let code = morse::decode(Alphabet::Itu, b". ......... .", &mut [0; 64]).unwrap_err();
    assert_eq!((code.kind(), code.column(), code.length()), (ErrorKind::Code, 3, 9));
    assert_eq!(code.to_string(), "line 1, column 3: the alphabet has no character with this code");
    let byte = morse::decode(Alphabet::Itu, b".x", &mut [0; 64]).unwrap_err();
    assert_eq!((byte.kind(), byte.offset()), (ErrorKind::Byte, 1));

    let mut encoder = Encoder::new(Alphabet::Itu);
    encoder.finish(&mut [0; 16]).unwrap();
    assert_eq!(encoder.update(b"a", &mut [0; 16]).unwrap_err().kind(), ErrorKind::Order);
}

proptest! {
    /// In pieces of any size and with little room, as in one call.
    #[test]
    fn texts_come_back(number in 0..4usize, places in proptest::collection::vec(0..1000usize, 0..200), piece in 1..20usize) {
        let alphabet = Alphabet::ALL[number];
        let table = table(alphabet);
        let text: String = places.iter().map(|place| match place % 7 {
            0 => ' ',
            1 => '\n',
            _ => table[place % table.len()].2,
        }).collect();
        let mut whole = vec![0; morse::encoded_max(text.len())];
        let written = morse::encode(alphabet, text.as_bytes(), &mut whole).unwrap();
        whole.truncate(written);

        let mut code = Vec::new();
        let mut encoder = Encoder::new(alphabet);
        for mut input in text.as_bytes().chunks(piece) {
            while !input.is_empty() {
                let mut room = [0; morse::ROOM_MIN];
                let progress = encoder.update(input, &mut room).unwrap();
                code.extend_from_slice(&room[..progress.written]);
                input = &input[progress.read..];
            }
        }
        let mut room = [0; morse::ROOM_MIN];
        let written = encoder.finish(&mut room).unwrap();
        code.extend_from_slice(&room[..written]);
        prop_assert_eq!(&code, &whole);

        let mut decoded = vec![0; morse::decoded_max(code.len())];
        let written = morse::decode(alphabet, &code, &mut decoded).unwrap();
        prop_assert_eq!(std::str::from_utf8(&decoded[..written]).unwrap(), text);
    }
}
