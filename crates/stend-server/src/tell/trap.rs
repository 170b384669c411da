//! SNMP traps of version 2c, as RFC 3416 and RFC 3584 have them. docs/reference/STEND-MIB.txt names what is in them.

use std::net::{ToSocketAddrs as _, UdpSocket};
use std::time::Duration;

use crate::journal::Entry;
use crate::settings::{Secret, TrapTable};

/// Of a text so many bytes: an SnmpAdminString has no more, and all of them fit in a datagram.
const LONGEST_TEXT: usize = 255;

/// `stendMIB` below netSnmpPlaypen, which is for objects without a number of their own.
const MIB: [u32; 10] = [1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 7836];

/// Where traps go.
#[derive(Debug)]
pub(crate) struct Trap {
    to: String,
    pub(crate) community: Secret,
}

impl Trap {
    pub(crate) fn new(table: TrapTable) -> Result<Self, String> {
        super::host_and_port(&table.to).ok_or("to: it is host:port, as in \"monitor.example.org:162\"")?;
        Ok(Self { to: table.to, community: table.community })
    }

    /// Sends one. Nobody answers: what is lost on the way is lost.
    pub(crate) fn send(&self, lab: &str, text: &str, entry: &Entry, up: Duration) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut addresses = self.to.to_socket_addrs().map_err(failed)?;
        let address = addresses.next().ok_or("its name has no address")?;
        let own = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(own).map_err(failed)?;
        let message = message(&self.community.0, lab, text, entry, up);
        socket.send_to(&message, address).map(drop).map_err(failed)
    }
}

fn message(community: &str, lab: &str, text: &str, entry: &Entry, up: Duration) -> Vec<u8> {
    let object = |number: u32| oid(&[&MIB[..], &[1, number, 0]].concat());
    let notification = oid(&[&MIB[..], &[0, if entry.is_grave { 2 } else { 1 }]].concat());
    let hundredths = u32::try_from(up.as_millis() / 10 % (1 << 32)).unwrap_or_default();
    let variables = [
        (oid(&[1, 3, 6, 1, 2, 1, 1, 3, 0]), number(TIME_TICKS, hundredths.into())),
        (oid(&[1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0]), notification),
        (object(1), octets(lab)),
        // Of a Counter32's size: journals are shorter.
        (object(2), number(UNSIGNED, entry.id & 0xffff_ffff)),
        (object(3), octets(&entry.at)),
        (object(4), octets(entry.category.word())),
        (object(5), octets(entry.kind.word())),
        // As TruthValue has it.
        (object(6), number(INTEGER, if entry.is_grave { 1 } else { 2 })),
        (object(7), octets(entry.who.as_deref().unwrap_or_default())),
        (object(8), octets(&entry.about)),
        (object(9), octets(&entry.detail)),
        (object(10), octets(text)),
    ];
    let bindings: Vec<u8> = variables.iter().flat_map(|(name, value)| tlv(SEQUENCE, &[name, value])).collect();
    let zero = number(INTEGER, 0);
    let request = number(INTEGER, entry.id & 0x7fff_ffff);
    let pdu = tlv(TRAP, &[&request, &zero, &zero, &tlv(SEQUENCE, &[&bindings])]);
    let version = number(INTEGER, 1);
    tlv(SEQUENCE, &[&version, &tlv(OCTETS, &[community.as_bytes()]), &pdu])
}

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const UNSIGNED: u8 = 0x42;
const TIME_TICKS: u8 = 0x43;
/// SNMPv2-Trap-PDU.
const TRAP: u8 = 0xa7;

/// A value in the basic encoding rules, of X.690: its tag, its length and what it is made of.
fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    match u8::try_from(length) {
        Ok(short @ 0..=127) => out.push(short),
        _ => {
            let bytes = length.to_be_bytes();
            let digits = &bytes[length.leading_zeros() as usize / 8..];
            out.push(0x80 | digits.len() as u8);
            out.extend(digits);
        }
    }
    parts.iter().for_each(|part| out.extend(*part));
    out
}

/// In as few bytes as hold it with its sign.
fn number(tag: u8, value: i64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let is_spare = |pair: &[u8]| matches!((pair[0], pair[1] >> 7), (0, 0) | (0xff, 1));
    let spare = bytes.windows(2).take_while(|pair| is_spare(pair)).count();
    tlv(tag, &[&bytes[spare..]])
}

/// An object identifier: seven bits a byte, the first two numbers in one.
fn oid(numbers: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    let first = numbers[0] * 40 + numbers[1];
    for number in std::iter::once(first).chain(numbers[2..].iter().copied()) {
        let groups = (32 - number.leading_zeros()).div_ceil(7).max(1);
        out.extend((0..groups).rev().map(|group| {
            let more = if group > 0 { 0x80 } else { 0 };
            (number >> (7 * group)) as u8 & 0x7f | more
        }));
    }
    tlv(OBJECT, &[&out])
}

fn octets(text: &str) -> Vec<u8> {
    tlv(OCTETS, &[super::plain(text, LONGEST_TEXT).as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_as_x690_has_them() {
        for (value, bytes) in [
            (0, &[2, 1, 0][..]),
            (127, &[2, 1, 127]),
            (128, &[2, 2, 0, 128]),
            (256, &[2, 2, 1, 0]),
            (-1, &[2, 1, 255]),
            (-128, &[2, 1, 128]),
            (-129, &[2, 2, 255, 127]),
        ] {
            assert_eq!(number(INTEGER, value), bytes, "{value}");
        }
        assert_eq!(number(UNSIGNED, 0xffff_ffff), [0x42, 5, 0, 255, 255, 255, 255]);
        assert_eq!(oid(&[1, 3, 6, 1, 4, 1, 8072, 0]), [6, 8, 43, 6, 1, 4, 1, 0xbf, 0x08, 0]);
        assert_eq!(oid(&[1, 3, u32::MAX]), [6, 6, 43, 0x8f, 255, 255, 255, 127]);
        for (length, head) in
            [(127, &[4, 127][..]), (128, &[4, 0x81, 128]), (256, &[4, 0x82, 1, 0]), (65535, &[4, 0x82, 255, 255])]
        {
            assert_eq!(tlv(OCTETS, &[&vec![0; length]])[..head.len()], *head, "{length}");
        }
    }
}
