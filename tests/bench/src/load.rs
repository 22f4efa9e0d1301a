//! The load generator: a process of its own that keeps connections busy.

use crate::response::Head;
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::Command,
};

/// The figures of a slice of load.
pub(crate) struct Slice {
    pub(crate) per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Processor time of the serving process for each request.
    pub(crate) cpu_us: f64,
}

/// Runs a slice in another process. `request` is the whole HTTP request.
pub(crate) async fn slice(
    address: &str,
    request: &str,
    connections: usize,
    milliseconds: u64,
) -> Result<Slice> {
    slice_of_processes(&["self".to_owned()], address, request, connections, milliseconds).await
}

/// Runs a slice, and measures the processor time of these processes.
pub(crate) async fn slice_of_processes(
    serving: &[String],
    address: &str,
    request: &str,
    connections: usize,
    milliseconds: u64,
) -> Result<Slice> {
    let (connections, milliseconds) = (connections.to_string(), milliseconds.to_string());
    let arguments = ["load", address, request, &connections, &milliseconds];
    let before = processor_time(serving)?;
    let output = Command::new(std::env::current_exe()?).args(arguments).output().await?;
    let spent = processor_time(serving)? - before;
    if !output.status.success() {
        bail!("the load failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let figures: Value = serde_json::from_slice(&output.stdout)?;
    let figure =
        |name: &str| figures.get(name).and_then(Value::as_f64).context("a figure is missing");
    Ok(Slice {
        per_second: figure("per_second")?,
        p50_us: figure("p50_us")?,
        p99_us: figure("p99_us")?,
        cpu_us: spent * 1e6 / figure("answers")?,
    })
}

/// Returns the seconds of processor time that these processes have used: `utime` and `stime` of
/// proc_pid_stat(5), in ticks of 10 ms.
fn processor_time(processes: &[String]) -> Result<f64> {
    let mut ticks = 0.0;
    for process in processes {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let used: Result<Vec<f64>, _> = fields.skip(11).take(2).map(str::parse).collect();
        ticks += used?.iter().sum::<f64>();
    }
    Ok(ticks / 100.0)
}

/// Returns the child processes of a process, of all its threads.
pub(crate) fn children(process: u32) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        // A thread may have ended meanwhile.
        let listed = std::fs::read_to_string(thread?.path().join("children")).unwrap_or_default();
        found.extend(listed.split_whitespace().map(str::to_owned));
    }
    Ok(found)
}

/// Runs the loading process: `load ADDRESS REQUEST CONNECTIONS MILLISECONDS`.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let [address, request, connections, milliseconds] = arguments else {
        bail!("load ADDRESS REQUEST CONNECTIONS MILLISECONDS");
    };
    let (connections, milliseconds) = (connections.parse()?, milliseconds.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let until = started + Duration::from_millis(milliseconds);
    let mut latencies = runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..connections {
            tasks.spawn(keep_busy((*address).to_owned(), (*request).to_owned(), until));
        }
        let mut latencies = Vec::new();
        while let Some(done) = tasks.join_next().await {
            latencies.extend(done??);
        }
        anyhow::Ok(latencies)
    })?;
    let elapsed = started.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let quantile = |part: f64| {
        let index = (latencies.len() as f64 * part) as usize;
        latencies.get(index).map_or(f64::NAN, |latency| *latency as f64 / 1000.0)
    };
    let figures = json!({
        "answers": latencies.len(),
        "per_second": latencies.len() as f64 / elapsed,
        "p50_us": quantile(0.50),
        "p99_us": quantile(0.99),
    });
    println!("{figures}");
    Ok(())
}

/// Keeps one connection busy: sends, reads the whole answer, sends again. Returns each request's
/// nanoseconds.
async fn keep_busy(address: String, request: String, until: Instant) -> Result<Vec<u64>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 256 << 10];
    let mut latencies = Vec::with_capacity(1 << 16);
    while Instant::now() < until {
        let sent = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        let mut filled = 0;
        let length = loop {
            let free = buffer.get_mut(filled..).unwrap_or_default();
            if free.is_empty() {
                bail!("a response in chunks is too long");
            }
            let read = stream.read(free).await?;
            if read == 0 {
                bail!("the connection was closed");
            }
            filled += read;
            if let Some(length) = response_length(buffer.get(..filled).unwrap_or_default())? {
                break length;
            }
        };
        // The rest of the body is read and discarded.
        while filled < length {
            let most = buffer.len().min(length - filled);
            let read = stream.read(buffer.get_mut(..most).unwrap_or_default()).await?;
            if read == 0 {
                bail!("the connection was closed");
            }
            filled += read;
        }
        latencies.push(u64::try_from(sent.elapsed().as_nanos())?);
    }
    Ok(latencies)
}

/// Returns the length of a response, once it is known. A status other than 200, 206 or 304 is an error.
fn response_length(response: &[u8]) -> Result<Option<usize>> {
    let Some(head) = Head::of(response)? else {
        return Ok(None);
    };
    if !matches!(head.status()?, 200 | 206 | 304) {
        bail!("{}", String::from_utf8_lossy(response));
    }
    head.response_length(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Serves this response to every request of one connection, in two parts.
    async fn serve(response: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 64];
            while stream.read(&mut request).await.unwrap_or_default() > 0 {
                let (first, rest) = response.split_at(response.len() - 4);
                stream.write_all(first.as_bytes()).await.unwrap();
                tokio::task::yield_now().await;
                stream.write_all(rest.as_bytes()).await.unwrap();
            }
        });
        address
    }

    async fn load(response: &'static str) -> Result<Vec<u64>> {
        let until = Instant::now() + Duration::from_millis(50);
        keep_busy(serve(response).await, "GET / HTTP/1.1\r\n\r\n".to_owned(), until).await
    }

    #[tokio::test]
    async fn whole_answers_are_read_by_their_length_and_in_chunks() {
        let plain = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabcde";
        assert!(load(plain).await.unwrap().len() > 1);
        let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n";
        assert!(load(chunks).await.unwrap().len() > 1);
    }

    #[tokio::test]
    async fn a_refusal_ends_the_load() {
        let refusal = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy";
        assert!(load(refusal).await.is_err());
    }
}
