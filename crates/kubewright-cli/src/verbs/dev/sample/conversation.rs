//! What is said to memcached as a proof that it keeps what it is given, and the check of its answer.
//! Pure but for the clock.

use std::time::{SystemTime, UNIX_EPOCH};

const KEY: &str = "kubewright";

/// One `set` and `get` of a value that was never used before: an answer cannot be an old one.
#[derive(Debug)]
pub(super) struct Conversation {
    value: String,
}

impl Conversation {
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let value = format!("proof-{}", now.unwrap_or_default().as_nanos());
        Self { value }
    }

    /// Everything that is said, at once. The value expires after a minute.
    pub(super) fn request(&self) -> String {
        let Self { value } = self;
        let length = value.len();
        format!("set {KEY} 0 60 {length}\r\n{value}\r\nget {KEY}\r\nquit\r\n")
    }

    /// Succeeds if `answer` gives back the value.
    pub(super) fn check(&self, answer: &str) -> anyhow::Result<()> {
        let Self { value } = self;
        let length = value.len();
        let expected = format!("STORED\r\nVALUE {KEY} 0 {length}\r\n{value}\r\nEND\r\n");
        anyhow::ensure!(answer == expected, "it should answer {expected:?} and answers {answer:?}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk() -> Conversation {
        let value = "proof-1".to_owned();
        Conversation { value }
    }

    #[test]
    fn a_value_is_set_and_asked_for() {
        assert_eq!(
            talk().request(),
            "set kubewright 0 60 7\r\nproof-1\r\nget kubewright\r\nquit\r\n"
        );
    }

    #[test]
    fn only_the_value_that_was_set_is_a_proof() {
        let answer = "STORED\r\nVALUE kubewright 0 7\r\nproof-1\r\nEND\r\n";
        talk().check(answer).unwrap();
        let wrong = [
            "",
            "STORED\r\nEND\r\n",
            "SERVER_ERROR out of memory storing object\r\nEND\r\n",
            "STORED\r\nVALUE kubewright 0 7\r\nproof-0\r\nEND\r\n",
        ];
        for answer in wrong {
            let error = talk().check(answer).unwrap_err().to_string();
            assert!(error.contains(&format!("answers {answer:?}")), "{error}");
        }
    }
}
