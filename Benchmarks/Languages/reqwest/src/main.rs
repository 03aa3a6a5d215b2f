// The default client of reqwest with a number of requests in flight. Build: cargo build --release
// Usage: reqwest-client URL IN-FLIGHT SECONDS [CA]. Prints the requests and the seconds, or without a CA, for which it does not
// decode the bodies, the requests per second.
use serde::Deserialize;
use std::time::{Duration, Instant};

#[derive(Deserialize)]
#[allow(dead_code, non_snake_case)]
struct User {
    id: i64,
    name: String,
    email: String,
    isActive: bool,
    score: f64,
    biography: String,
    tags: Vec<String>,
    address: Address,
    followers: Vec<i64>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Address {
    street: String,
    city: String,
    latitude: f64,
    longitude: f64,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Wrapped {
    code: i64,
    message: String,
    data: User,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let in_flight: usize = arguments[2].parse().expect("a number of requests");
    let seconds: f64 = arguments[3].parse().expect("a number of seconds");
    let decodes = arguments.len() > 4;
    let mut builder = reqwest::Client::builder();
    if decodes {
        let pem = std::fs::read(&arguments[4]).expect("a certificate");
        builder = builder.add_root_certificate(reqwest::Certificate::from_pem(&pem).expect("a certificate"));
    }
    let client = builder.build().expect("a client");
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let mut tasks = Vec::new();
    for _ in 0..in_flight {
        let (client, url) = (client.clone(), arguments[1].clone());
        tasks.push(tokio::spawn(async move {
            let mut count = 0u64;
            while Instant::now() < end {
                let body = client.get(&url).send().await.expect("a response").bytes().await.expect("a body");
                if decodes {
                    let found: Wrapped = serde_json::from_slice(&body).expect("a user");
                    assert!(found.code == 200);
                }
                count += 1;
            }
            count
        }));
    }
    let mut count = 0;
    for task in tasks {
        count += task.await.expect("a result");
    }
    let seconds = start.elapsed().as_secs_f64();
    if decodes {
        println!("{} {}", count, seconds);
    } else {
        println!("{}", count as f64 / seconds);
    }
}
