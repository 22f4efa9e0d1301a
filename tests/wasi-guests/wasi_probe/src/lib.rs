//! A component with WASI 0.2, as most toolchains build it, which reports what it finds there.

use portolan_sdk::prelude::*;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Serialize, JsonSchema)]
struct Found {
    environment: usize,
    arguments: usize,
    /// Whether the root folder could be listed.
    files: bool,
    /// Whether a socket could be opened.
    sockets: bool,
    /// Milliseconds since the Unix epoch, by WASI's clock.
    wasi_now: u64,
    /// The same by the contract.
    now: u64,
}

pub struct WasiProbe;

/// Looks around in WASI.
#[capability(id = "wasi_probe", title = "WASI probe")]
impl WasiProbe {
    /// Tell what is there.
    #[action(access = read)]
    #[expect(clippy::disallowed_methods, reason = "it asks WASI for the time")]
    fn look(call: &Call) -> Result<Found, Infallible> {
        print!("the probe looks ");
        println!("around\nit finds nothing");
        eprintln!("the probe complains");
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Ok(Found {
            environment: std::env::vars().count(),
            arguments: std::env::args().count(),
            files: std::fs::read_dir("/").is_ok(),
            sockets: std::net::TcpStream::connect("127.0.0.1:80").is_ok(),
            wasi_now: u64::try_from(since.as_millis()).unwrap_or(0),
            now: call.now(),
        })
    }

    /// Print more lines than are logged.
    #[action(access = read)]
    fn floods_output(call: &Call) -> Result<NoOutput, Infallible> {
        for number in 0..50 {
            println!("flood {number}");
            call.log(log::Level::Debug, "flood");
        }
        Ok(NoOutput {})
    }

    /// Sleep in a host call for an hour.
    #[action(access = read)]
    fn sleep(_call: &Call) -> Result<Found, Infallible> {
        std::thread::sleep(Duration::from_secs(3600));
        Ok(Found {
            environment: 0,
            arguments: 0,
            files: false,
            sockets: false,
            wasi_now: 0,
            now: 0,
        })
    }
}
