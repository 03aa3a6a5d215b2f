import CountMalloc
import Foundation
import NetLayer
import Streams

// Measures the cost that interceptors add to a request: the same call without and with them, on a transport that
// responds immediately.

/// A transport that responds immediately, so that only the cost of the library remains.
struct AtOnce: Transport {
  static let body = Data(#"{"code":200,"message":"ok","data":{"id":7,"name":"Ada"}}"#.utf8)

  func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    completion(.success(Response(request: request, body: Self.body)))
    return Disposables.create()
  }
}

/// A scheduler that runs work inline.
struct Here: ImmediateSchedulerType {
  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    action()
    return Disposables.create()
  }
}

struct Pass: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
}

func network(_ interceptors: [any Interceptor]) -> Network {
  Network(
    Backend(
      baseURL: URL(string: "http://127.0.0.1"), envelope: .standard, transport: AtOnce(), mapping: Here(),
      interceptors: interceptors))
}

struct User: Decodable, Sendable {
  var id: Int
  var name: String
}

func run(_ network: Network, _ count: Int, decoding: Bool = false) {
  for _ in 0..<count {
    if decoding {
      _ = network.json(.get, "/x").data(User.self).subscribe(onError: { fatalError("\($0)") })
    } else {
      _ = network.responses(.get, "/x").subscribe(onError: { fatalError("\($0)") })
    }
  }
}

func measure(_ network: Network, _ count: Int, decoding: Bool = false) -> (nanoseconds: Double, mallocs: Double) {
  let start = DispatchTime.now().uptimeNanoseconds
  run(network, count, decoding: decoding)
  let time = DispatchTime.now().uptimeNanoseconds - start
  // A separate pass, because counting takes time.
  let counted = count / 20
  count_start()
  run(network, counted, decoding: decoding)
  return (Double(time) / Double(count), Double(count_stop()) / Double(counted))
}

let token = AuthenticationInterceptor(
  for: [URL(fileURLWithPath: "/")], store: MemoryTokenStore(Token(access: "x")), refresh: { _ in .never() })
let rows: [(String, [any Interceptor])] = [
  ("none", []),
  ("one that does nothing", [Pass()]),
  ("coalescing", [CoalescingInterceptor()]),
  ("retry", [RetryInterceptor()]),
  ("limits", [LimitInterceptor(maxConcurrent: 64, maxPerHost: 6)]),
  (
    "coalescing, retry, limits",
    [CoalescingInterceptor(), RetryInterceptor(), LimitInterceptor(maxConcurrent: 64, maxPerHost: 6)]
  ),
]
var file: String?
var rounds = 7
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst() {
  switch (option, arguments.popFirst()) {
  case ("--json", let value?): file = value
  case ("--rounds", let value?): rounds = max(1, Int(value) ?? rounds)
  default:
    print("options: --rounds N (number of rounds for the medians, default 7), --json FILE")
    exit(2)
  }
}
var results: [[String: Any]] = []
/// Prints a row and adds it to the results for the file.
@MainActor
func report(_ name: String, _ time: Double, mallocs: Double? = nil, over base: (time: Double, mallocs: Double)? = nil) {
  results.append(["name": name, "unit": "ns", "ours": time])
  results[results.count - 1]["mallocs"] = mallocs
  results[results.count - 1]["added"] = base.map { time - $0.time }
  results[results.count - 1]["addedMallocs"] = base.flatMap { base in mallocs.map { $0 - base.mallocs } }
  func column(_ value: Double?, _ width: Int, _ digits: Int) -> String {
    let text = value.map { String(format: "%.\(digits)f", $0) } ?? ""
    return String(repeating: " ", count: max(1, width - text.count)) + text
  }
  print(
    name.padding(toLength: 34, withPad: " ", startingAt: 0) + column(time, 10, 0)
      + column(base.map { time - $0.time }, 11, 0) + column(mallocs, 10, 1)
      + column(base.flatMap { base in mallocs.map { $0 - base.mallocs } }, 8, 1))
}
let count = 20_000
var times = [[Double]](repeating: [], count: rows.count)
var mallocs = [Double](repeating: 0, count: rows.count)
let networks = rows.map { network($0.1) }
for _ in 0..<rounds {
  for (index, network) in networks.enumerated() {
    let (time, allocations) = measure(network, count)
    times[index].append(time)
    mallocs[index] = allocations
  }
}
let bare = (time: times[0].sorted()[rounds / 2], mallocs: mallocs[0])
print("interceptors                      ns/request   added ns   mallocs   added")
for (index, row) in rows.enumerated() {
  report(row.0, times[index].sorted()[rounds / 2], mallocs: mallocs[index], over: bare)
}

let decoded = (0..<rounds).map { _ in measure(networks[0], count, decoding: true) }.sorted {
  $0.nanoseconds < $1.nanoseconds
}
report("none, decoded", decoded[rounds / 2].nanoseconds, mallocs: decoded[rounds / 2].mallocs)

// The same call as a single whose value is awaited, and with `fetch`. They alternate, because both vary with the
// machine.
let plain = networks[0]
var awaited: [[Double]] = [[], []]
for _ in 0..<rounds {
  for form in 0..<2 {
    let start = DispatchTime.now().uptimeNanoseconds
    for _ in 0..<count {
      if form == 0 {
        _ = try await plain.request(.get("/x"), as: User.self).value
      } else {
        _ = try await plain.fetch(.get("/x"), as: User.self)
      }
    }
    awaited[form].append(Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count))
  }
}
let medians = awaited.map { $0.sorted()[rounds / 2] }
report("awaited as a Single", medians[0])
report("awaited by fetch", medians[1])
if let file {
  let data = try JSONSerialization.data(withJSONObject: ["rows": results], options: [.prettyPrinted, .sortedKeys])
  try data.write(to: URL(fileURLWithPath: file))
}
