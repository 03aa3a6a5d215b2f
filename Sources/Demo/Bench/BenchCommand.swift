import NetLayer
import PortableFoundation
import Streams

struct BenchOptions: URLOptions {
  var request = RequestOptions()
  var url: URL?
  var count = 1000
  var concurrency = 16

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    switch name {
    case "-n", "--requests": count = try arguments.number(in: 1...100_000_000)
    case "-c", "--concurrency": concurrency = try arguments.number(in: 1...10_000)
    default: return false
    }
    return true
  }
}

/// `Demo bench`: measures the throughput and latency of a server, and the CPU time per request of this process.
enum BenchCommand {
  static let help = """
    usage: Demo bench [options] URL

    Sends the same GET repeatedly and prints the requests per second, the latencies, and the CPU time of this process
    per request. A response with a status other than 2xx counts as failed.

      -n, --requests N      number of requests (default: 1000)
      -c, --concurrency C   number of concurrent requests, each on its own connection (default: 16)
    \(RequestOptions.help)

    Examples, with the URL that `Demo serve` prints:
      swift run -c release Demo bench http://127.0.0.1:PORT/cart -n 20000 -c 64
      Demo bench http://127.0.0.1:PORT/cart --json

    Exit code: 0, 1 if any request failed, 2 for a usage error, 130 on interrupt.
    """

  static func run(_ options: BenchOptions, _ console: Console) throws -> Int32 {
    let network = try options.request.network(concurrency: options.concurrency, console)
    let target = try options.target()
    if options.request.curl { return DryRun.run(target, network, console) }
    // The mapping threads add samples, and the main thread reads them at the end.
    let figures = Locked(BenchFigures())
    let (start, cpu) = (ContinuousClock.now, processTime())
    let ending = Observable.range(start: 0, count: options.count)
      .map { _ in sample(target, network) }
      .merge(maxConcurrent: options.concurrency)
      .wait { sample in
        let done = figures.withLock { figures in
          figures.add(sample)
          return figures.count
        }
        if done.isMultiple(of: 100) { console.progress("\(done) of \(options.count)") }
        return true
      }
    console.progress("")
    var result = figures.withLock { $0 }
    result.seconds = (ContinuousClock.now - start) / .seconds(1)
    result.processTime = processTime() - cpu
    if result.count > 0 {
      let report = BenchReport(result, options)
      console.print(options.request.json ? report.json : report.text(console.style))
    }
    let code = console.finish(ending, json: options.request.json)
    return code == 0 && result.failed > 0 ? 1 : code
  }

  /// Sends one request and emits its sample. A failure is also a sample.
  private static func sample(_ target: Call<Response>, _ network: Network) -> Observable<BenchFigures.Sample> {
    .deferred {
      let start = ContinuousClock.now
      return network.responses(target).map { response in
        let isSuccess = response.isSuccess
        return .init(
          milliseconds: (ContinuousClock.now - start) / .milliseconds(1), byteCount: response.body.count,
          outcome: "\(response.status)", isFailure: !isSuccess)
      }
      .catchError { error in
        let kind = (error as? NetworkError)?.kind ?? .other
        return .just(
          .init(
            milliseconds: (ContinuousClock.now - start) / .milliseconds(1), byteCount: 0, outcome: kind.rawValue,
            isFailure: true))
      }
    }
  }

  /// Returns the CPU time of this process so far, in seconds.
  private static func processTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
