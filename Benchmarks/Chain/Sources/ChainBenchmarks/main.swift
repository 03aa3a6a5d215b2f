import CountMalloc
import Foundation
import NetLayer
import Streams

// What the interceptors add to a request: the same call without and with them, on a transport that answers at once.

/// Answers on the spot: what remains is the way of a call through the library.
struct AtOnce: Transport {
  static let body = Data(#"{"code":200,"message":"ok","data":{"id":7,"name":"Ada"}}"#.utf8)

  func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    completion(.success(Response(request: request, body: Self.body)))
    return Disposables.create()
  }
}

/// Runs work where it is.
struct Here: ImmediateSchedulerType {
  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    action()
    return Disposables.create()
  }
}

struct Pass: Interceptor {
  func intercept(_ request: Request, next: Chain) -> Observable<Response> { next(request) }
}

func network(_ interceptors: [any Interceptor]) -> Network {
  Network(
    Backend(
      baseURL: URL(string: "http://127.0.0.1"), transport: AtOnce(), mapping: Here(), interceptors: interceptors))
}

struct User: Decodable, Sendable {
  var id: Int
  var name: String
}

func measure(_ network: Network, _ count: Int, decoding: Bool = false) -> (nanoseconds: Double, mallocs: Double) {
  let start = DispatchTime.now().uptimeNanoseconds
  let before = count_malloc()
  for _ in 0..<count {
    if decoding {
      _ = network.json(.get, "/x").data(User.self).subscribe(onError: { fatalError("\($0)") })
    } else {
      _ = network.response(.get, "/x").subscribe(onError: { fatalError("\($0)") })
    }
  }
  let mallocs = count_malloc() - before
  let time = DispatchTime.now().uptimeNanoseconds - start
  return (Double(time) / Double(count), Double(mallocs) / Double(count))
}

let token = AuthenticationInterceptor(
  for: [URL(fileURLWithPath: "/")], store: MemoryTokenStore(Token(access: "x")), refresh: { _ in .never() })
let rows: [(String, [any Interceptor])] = [
  ("none", []),
  ("one that does nothing", [Pass()]),
  ("coalescing", [.coalescing]),
  ("retry", [RetryInterceptor()]),
  ("limits", [LimitInterceptor(maxConcurrent: 64, maxPerHost: 6)]),
  ("coalescing, retry, limits", [.coalescing, RetryInterceptor(), LimitInterceptor(maxConcurrent: 64, maxPerHost: 6)]),
]
let rounds = 7
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
let bare = times[0].sorted()[rounds / 2]
print("interceptors                    ns/request   added ns   mallocs   added")
for (index, row) in rows.enumerated() {
  let time = times[index].sorted()[rounds / 2]
  print(
    row.0.padding(toLength: 30, withPad: " ", startingAt: 0)
      + String(format: "%12.0f %10.0f %9.1f %7.1f", time, time - bare, mallocs[index], mallocs[index] - mallocs[0]))
}

let decoded = (0..<rounds).map { _ in measure(networks[0], count, decoding: true) }.sorted {
  $0.nanoseconds < $1.nanoseconds
}
print(
  "\n" + "decoded, without interceptors".padding(toLength: 30, withPad: " ", startingAt: 0)
    + String(format: "%12.0f            %9.1f", decoded[rounds / 2].nanoseconds, decoded[rounds / 2].mallocs))

// The same call as a single whose value is awaited, and by `fetch`. Taking turns, as both vary with the machine.
struct Payload: Decodable, Sendable { var data: User }
let plain = networks[0]
var awaited: [[Double]] = [[], []]
for _ in 0..<rounds {
  for form in 0..<2 {
    let start = DispatchTime.now().uptimeNanoseconds
    for _ in 0..<count {
      if form == 0 {
        _ = try await plain.request(.get("/x"), as: Payload.self).value
      } else {
        _ = try await plain.fetch(.get("/x"), as: Payload.self)
      }
    }
    awaited[form].append(Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count))
  }
}
let medians = awaited.map { $0.sorted()[rounds / 2] }
print(String(format: "\nawaited as a Single            %11.0f", medians[0]))
print(
  String(format: "awaited by fetch               %11.0f %10.0f", medians[1], medians[1] - medians[0])
    + (medians[1] - medians[0] <= 2000 ? "   met (2000)" : "   missed (2000)"))
