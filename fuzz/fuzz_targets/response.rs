//! Any bytes, cut anywhere: the decoder never panics, keeps to its bounds, and gives the same
//! responses however the bytes arrive. The first byte of the input chooses the cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memcached_client::Stats;
use memcached_client::protocol::{Decoder, LARGEST_VALUE, ProtocolError, Response};

fuzz_target!(|input: &[u8]| {
    let Some((&cut, stream)) = input.split_first() else { return };
    let whole = decode(std::iter::once(stream));
    let cut = decode(stream.chunks(usize::from(cut) + 1));
    assert_eq!(whole, cut, "the cut changed the responses");
    read(whole.0);
});

fn decode<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Response>, Option<ProtocolError>) {
    let (mut decoder, mut responses) = (Decoder::new(), Vec::new());
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.response() {
                Ok(Some(response)) => responses.push(response),
                Ok(None) => break,
                Err(error) => return (responses, Some(error)),
            }
        }
        assert!(decoder.waiting() < LARGEST_VALUE + 2, "more is kept than a response can be");
    }
    (responses, None)
}

/// What is made of responses: text, a version, statistics, and the reply as it came.
fn read(responses: Vec<Response>) {
    let mut report = Vec::new();
    for response in responses {
        let line = format!("{response}\r\n");
        match response {
            Response::Version(text) => {
                if let Ok(version) = text.parse::<memcached_client::Version>() {
                    let again = version.to_string().parse();
                    assert_eq!(again, Ok(version), "a version changed by being printed");
                }
            }
            Response::Stat { name, value } => report.push((name, value)),
            Response::Value(_) => {}
            response => {
                let again = decode(std::iter::once(line.as_bytes()));
                assert_eq!(again.0, [response], "a reply changed by being printed");
            }
        }
    }
    let _ = Stats::try_from(report);
}
