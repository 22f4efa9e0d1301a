//! The checksum of a compiled component, against damage on the disk.

/// Returns the artifact with its checksum appended. The engine's loader ignores what follows the artifact.
pub(super) fn with_checksum(mut artifact: Vec<u8>) -> Vec<u8> {
    let checksum = crc32fast::hash(&artifact);
    artifact.extend(checksum.to_le_bytes());
    artifact
}

/// Returns whether the content of an artifact's file matches the checksum at its end.
pub(super) fn is_intact(artifact: &[u8]) -> bool {
    let Some((content, checksum)) = artifact.split_last_chunk::<4>() else { return false };
    crc32fast::hash(content).to_le_bytes() == *checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_of_an_artifact_is_noticed() {
        let written = with_checksum(b"machine code".to_vec());
        assert!(is_intact(&written));
        for bit in 0..written.len() * 8 {
            let mut damaged = written.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_intact(&damaged), "bit {bit}");
        }
        assert!(!is_intact(&written[..written.len() - 1]) && !is_intact(b""));
    }
}
