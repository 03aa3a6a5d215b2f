// The default client of reqwest with a number of requests in flight. Build: cargo build --release
// Usage: reqwest-client URL IN-FLIGHT SECONDS. Prints the requests per second.
use std::time::{Duration, Instant};

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let in_flight: usize = arguments[2].parse().expect("a number of requests");
    let seconds: f64 = arguments[3].parse().expect("a number of seconds");
    let client = reqwest::Client::new();
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let mut tasks = Vec::new();
    for _ in 0..in_flight {
        let (client, url) = (client.clone(), arguments[1].clone());
        tasks.push(tokio::spawn(async move {
            let mut count = 0u64;
            while Instant::now() < end {
                client.get(&url).send().await.expect("a response").bytes().await.expect("a body");
                count += 1;
            }
            count
        }));
    }
    let mut count = 0;
    for task in tasks {
        count += task.await.expect("a result");
    }
    println!("{}", count as f64 / start.elapsed().as_secs_f64());
}
