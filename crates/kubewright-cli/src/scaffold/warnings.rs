//! What is written as it was asked for although it is known not to work. Pure.

/// What is wrong with starting `image` as `command`, with the spelling that works.
pub(crate) fn command(command: &[String]) -> Option<String> {
    let program = command.first()?.rsplit('/').next()?;
    if program != "memcached" {
        return None;
    }
    let (flag, amount) = command.iter().find_map(|word| {
        let (flag, amount) = word.split_once('=')?;
        let is_short = flag.len() == 2 && flag.starts_with('-');
        is_short.then_some((flag, amount))
    })?;
    let works = match flag {
        "-m" => format!("--memory-limit={amount}"),
        _ => format!("{flag},{amount}"),
    };
    Some(format!(
        "memcached reads `{flag}={amount}` as `{flag}` with the value `={amount}`, and does not start: \
         written as you gave it, but `{works}` is what works"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        command(&text.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_tutorials_command_is_warned_about_with_what_works() {
        assert!(
            said("memcached,-m=64,-o,modern,-v")
                .unwrap()
                .contains("`--memory-limit=64` is what works")
        );
        assert!(said("/usr/bin/memcached,-p=11211").unwrap().contains("`-p,11211`"));
        assert_eq!(said("memcached,--memory-limit=64,-o,modern,-v"), None);
        assert_eq!(said("nginx,-m=64"), None);
    }
}
