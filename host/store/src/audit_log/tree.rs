//! The root of a Merkle tree (RFC 9162, section 2.1.1).

use super::leaf::Hash;
use sha2::{Digest as _, Sha256};

const NODE: u8 = 1;

/// Returns the root of the tree with these leaves.
pub(super) fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::digest([]).into(),
        [leaf] => *leaf,
        _ => {
            // The left subtree has the largest power of two of leaves that is less than their number.
            let (left, right) = leaves.split_at(leaves.len().div_ceil(2).next_power_of_two());
            let node = Sha256::new().chain_update([NODE]);
            node.chain_update(root(left)).chain_update(root(right)).finalize().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit_log::leaf::hex;

    /// The leaves and the roots are the known answers of implementations of RFC 6962.
    #[test]
    fn the_roots_are_those_of_other_implementations() {
        let inputs: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let leaf = |input: &&[u8]| Sha256::new().chain_update([0]).chain_update(input).finalize();
        let leaves: Vec<Hash> = inputs.iter().map(|input| leaf(input).into()).collect();
        let expected = [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
            (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
            (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
            (5, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"),
            (7, "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"),
            (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
        ];
        for (count, root_hex) in expected {
            assert_eq!(hex(&root(&leaves[..count])), root_hex, "{count} leaves");
        }
    }
}
