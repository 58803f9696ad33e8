//! The protocol as a whole, tried with whatever a server could send.

use proptest::prelude::*;

use super::{
    Decoder, LARGEST_VALUE, LONGEST_KEY, LONGEST_LINE, ProtocolError, Request, Response, Value,
};

/// Printable, and no space at its ends.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_/.:é-]{1,20}( [a-zA-Z0-9_-]{1,10}){0,3}"
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0x21..=0x7e_u8, 1..=LONGEST_KEY)
}

fn value() -> impl Strategy<Value = Response> {
    let data = prop::collection::vec(any::<u8>(), 0..600);
    (key(), any::<u32>(), any::<Option<u64>>(), data)
        .prop_map(|(key, flags, cas, data)| Response::Value(Value { key, flags, cas, data }))
}

fn response() -> impl Strategy<Value = Response> {
    let fixed = [
        Response::End,
        Response::Stored,
        Response::NotStored,
        Response::Exists,
        Response::NotFound,
        Response::Deleted,
        Response::Ok,
        Response::Reset,
        Response::Locked,
        Response::Error(String::new()),
    ];
    prop_oneof![
        prop::sample::select(fixed.to_vec()),
        value(),
        ("[a-z_:0-9]{1,30}", prop_oneof![Just(String::new()), text()])
            .prop_map(|(name, value)| Response::Stat { name, value }),
        text().prop_map(Response::Version),
        text().prop_map(Response::Busy),
        text().prop_map(Response::Error),
        text().prop_map(Response::ClientError),
        text().prop_map(Response::ServerError),
    ]
}

/// As a server sends it.
fn wire(response: &Response) -> Vec<u8> {
    let mut bytes = format!("{response}\r\n").into_bytes();
    if let Response::Value(Value { data, .. }) = response {
        bytes.extend_from_slice(data);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// All that a decoder makes of `pieces`, and that it kept to its bound meanwhile.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Response>, Option<ProtocolError>) {
    let (mut decoder, mut responses) = (Decoder::new(), Vec::new());
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.response() {
                Ok(Some(response)) => responses.push(response),
                Ok(None) => break,
                Err(error) => {
                    assert!(decoder.is_empty(), "something was kept after an error");
                    assert_eq!(decoder.response(), Err(error.clone()), "the error did not last");
                    return (responses, Some(error));
                }
            }
        }
        assert!(decoder.waiting() < LARGEST_VALUE + 2);
    }
    (responses, None)
}

/// `bytes` cut into pieces of these lengths, again and again.
fn cut<'a>(bytes: &'a [u8], lengths: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut lengths = lengths.iter().copied().cycle();
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(lengths.next()?.min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1..40_usize, 1..20)
}

proptest! {
    #[test]
    fn replies_decode_to_themselves_however_they_are_cut(
        sent in prop::collection::vec(response(), 0..12),
        lengths in lengths(),
    ) {
        let bytes: Vec<u8> = sent.iter().flat_map(wire).collect();
        prop_assert_eq!(decode(cut(&bytes, &lengths)), (sent, None));
    }

    #[test]
    fn any_bytes_give_the_same_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        lengths in lengths(),
    ) {
        prop_assert_eq!(decode(cut(&bytes, &lengths)), decode(std::iter::once(&bytes[..])));
    }

    #[test]
    fn damaged_replies_give_the_same_however_they_are_cut(
        sent in prop::collection::vec(response(), 1..6),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        lengths in lengths(),
    ) {
        let mut bytes: Vec<u8> = sent.iter().flat_map(wire).collect();
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        prop_assert_eq!(decode(cut(&bytes, &lengths)), decode(std::iter::once(&bytes[..])));
    }

    #[test]
    fn a_key_that_is_taken_holds_no_separator(
        key in prop_oneof![key(), prop::collection::vec(any::<u8>(), 0..300)],
    ) {
        if let Ok(bytes) = (Request::Get { key: &key }).encode() {
            let parts: Vec<_> = bytes.split(u8::is_ascii_whitespace).collect();
            prop_assert_eq!(parts, [&b"get"[..], &key, b"", b""]);
            prop_assert!(!key.iter().any(u8::is_ascii_control));
        }
    }

    #[test]
    fn a_request_is_one_line_and_the_announced_value(
        key in key(),
        value in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let bytes = Request::Set { key: &key, value: &value, lifetime: None }.encode().unwrap();
        let line = [b"set ", &key[..], format!(" 0 0 {}\r\n", value.len()).as_bytes()].concat();
        prop_assert_eq!(bytes, [&line[..], &value, b"\r\n"].concat());
    }
}

#[test]
fn a_line_without_end_is_refused_at_the_bound() {
    let line = vec![b'x'; LONGEST_LINE];
    assert_eq!(decode([&line[1..]].into_iter()), (vec![], None));
    assert_eq!(decode([&line[..]].into_iter()), (vec![], Some(ProtocolError::LongLine)));
}

#[test]
fn the_longest_line_is_taken_with_its_end() {
    let version = "1".repeat(LONGEST_LINE - "VERSION \r\n".len());
    let line = format!("VERSION {version}\r\n");
    assert_eq!(decode(cut(line.as_bytes(), &[7])), (vec![Response::Version(version)], None));
    let longer = line.replace("VERSION", "VERSION 1");
    assert_eq!(decode(cut(longer.as_bytes(), &[7])), (vec![], Some(ProtocolError::LongLine)));
}

#[test]
fn the_largest_value_waits_whole_and_no_more() {
    let data = vec![b'v'; LARGEST_VALUE];
    let sent = Response::Value(Value { key: b"k".to_vec(), flags: 0, cas: None, data });
    assert_eq!(decode(wire(&sent).chunks(1 << 16)), (vec![sent], None));
}

#[test]
fn a_line_feed_alone_ends_nothing() {
    assert_eq!(decode([&b"END\n"[..]].into_iter()), (vec![], Some(ProtocolError::LineEnd)));
}

#[test]
fn a_value_that_is_longer_than_announced_is_refused() {
    let error = Some(ProtocolError::ValueEnd);
    assert_eq!(decode([&b"VALUE k 0 1\r\nab\r\n"[..]].into_iter()), (vec![], error));
}
