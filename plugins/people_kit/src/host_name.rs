//! Host names.

/// Returns whether this is a host name in ASCII with at least two labels, and not an IP address:
/// its last label has at least two characters and begins with a letter.
pub fn is_host_name(host: &str) -> bool {
    let top = host.rsplit('.').next().unwrap_or_default();
    let is_top = top.len() >= 2 && top.starts_with(|first: char| first.is_ascii_alphabetic());
    is_top && host.contains('.') && host.len() <= 253 && host.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&label.len())
        && label.bytes().all(inside)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_name_consists_of_labels() {
        let (label, host) = ("a".repeat(63), "a.".repeat(125));
        for name in ["press.example", "Www.Press-2.Example", "1.example", "xn--prss-bpa.example"] {
            assert!(is_host_name(name), "{name}");
        }
        assert!(is_host_name(&format!("{label}.example")) && is_host_name(&format!("{host}com")));
        let others = "localhost 127.0.0.1 2130706433 [::1] a.b .example press..example \
            press.example. -press.example press-.example pr\u{e9}ss.example a_b.example \
            press.example:8443 ada@press.example";
        for name in others.split(' ').chain(["", "a b.example"]) {
            assert!(!is_host_name(name), "{name}");
        }
        assert!(!is_host_name(&format!("a{label}.example")));
        assert!(!is_host_name(&format!("{host}comm")));
    }
}
