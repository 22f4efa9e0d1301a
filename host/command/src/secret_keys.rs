//! The secret keys of a host: of the configuration, or of a file in the data folder.

use crate::config::Config;
use anyhow::Context as _;
use portolan_vocabulary::Keyring;
use std::path::Path;
use zeroize::Zeroizing;

/// The file in the data folder that has the secret keys, unless the configuration has them.
pub(crate) const SECRET_KEYS: &str = "secret.keys";

/// Returns the configured keys, or those of the file `secret.keys` in this data folder.
pub(crate) fn read_secret_keys(config: &Config, data_dir: &Path) -> anyhow::Result<Keyring> {
    if let Some(keys) = &config.secret_keys {
        return Ok(keys.clone());
    }
    let path = data_dir.join(SECRET_KEYS);
    let file_name = || path.display().to_string();
    let text = Zeroizing::new(std::fs::read_to_string(&path).with_context(file_name)?);
    Keyring::parse(&text).map_err(|fix| anyhow::anyhow!("{}: {fix}", file_name()))
}
