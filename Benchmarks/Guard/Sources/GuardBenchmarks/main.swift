import Dispatch
import Foundation
import LoopbackServer
import NetLayer
import Streams

// Short programs whose instructions are counted. `GuardBenchmarks NAME COUNT` repeats one of them. At most one thread
// works at any time, so that all runs have nearly the same count.

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

/// Prints its URL, and serves until the end of standard input. The programs with libcurl read the URL from `SERVER`, so
/// that only the client's instructions are counted. Those over TLS read the URL of another server from `SECURE`.
func serve() throws {
  let server = try TestServer { _ in .json(String(decoding: AtOnce.body, as: UTF8.self)) }
  try FileHandle.standardOutput.write(contentsOf: Data((server.url.absoluteString + "\n").utf8))
  _ = FileHandle.standardInput.readDataToEndOfFile()
  server.stop()
}

/// A scheduler that runs work inline.
struct Here: ImmediateSchedulerType {
  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    action()
    return Disposables.create()
  }
}

struct User: Decodable, Sendable {
  var id: Int
  var name: String
}

struct Draft: Encodable, Sendable {
  var number: Int
  var titleText = "A title of some length"
  var isPublic = true
  var ratings = [4.5, 3.25, 5]
  var tags = ["engine": "notes", "poetry": "\u{201C}London\u{201D}\n"]
  var createdAt = Date(timeIntervalSince1970: 1_700_000_000.5)
}

struct Message: Decodable, Sendable {
  var message: String
}

let arguments = CommandLine.arguments
let server = URL(string: ProcessInfo.processInfo.environment["SERVER"] ?? "") ?? URL(filePath: "/")
let network = Network(
  Backend(baseURL: URL(string: "http://127.0.0.1"), envelope: .standard, transport: AtOnce(), mapping: Here()))
// The body is the model.
let plain = network.with { $0.envelope = .none }
let busy = network.with {
  $0.interceptors = [CoalescingInterceptor(), RetryInterceptor(), LimitInterceptor(maxConcurrent: 64, maxPerHost: 6)]
}
let delivered = plain.with { $0.delivery = Here() }
let authenticated = network.with {
  let store = MemoryTokenStore(Token(access: "abc", expiresAt: .distantFuture))
  $0.interceptors = [
    AuthenticationInterceptor(for: [URL(string: "http://127.0.0.1")].compactMap(\.self), store: store) { _ in
      .error(NetworkError(kind: .authentication, reason: "no refresh"))
    }
  ]
}
let cached = network.with {
  $0.interceptors = [CacheInterceptor(ResponseCache(storingIn: nil), policy: .cacheFirst(maxAge: .seconds(86_400)))]
}
let text = Data(
  #"{"items":[\#((0..<20).map { #"{"id":\#($0),"name":"user \#($0)"}"# }.joined(separator: ","))]}"#.utf8)

/// Objects of 64 members, as those of GitHub's repositories.
let wide = {
  let object = "{" + (0..<64).map { #""member_\#($0)":\#($0)"# }.joined(separator: ",") + "}"
  return Data("[\(Array(repeating: object, count: 5).joined(separator: ","))]".utf8)
}()

/// Six of the members of an object in `wide`.
struct Wide: Decodable {
  var member_3, member_12, member_27, member_33, member_48, member_60: Int
}

/// Prevents the optimizer from removing work.
@inline(never)
func use<Value>(_ value: Value) { withExtendedLifetime(value) {} }

@inline(never)
func chain(_ count: Int) -> Observable<Int> {
  Observable<Int>.create { observer in
    for number in 0..<count { observer.onNext(number) }
    observer.onCompleted()
    return Disposables.create()
  }
  .map { $0 &+ 1 }.filter { $0 & 1 == 0 }.map { $0 &* 3 }
}

/// Calls `network` from one task, one call after the other.
func fetchRepeatedly(_ count: Int, _ network: Network, on executor: (any TaskExecutor)? = nil) throws {
  let done = DispatchSemaphore(value: 0)
  Task.detached(executorPreference: executor) {
    do {
      for _ in 0..<count { use(try await network.fetch(.get("/x"), as: Message.self)) }
    } catch {
      fatalError("\(error)")
    }
    done.signal()
  }
  done.wait()
}

/// A transport that trusts the server's certificate, the file in `CERTIFICATE`.
func makeTransport() throws -> CurlTransport {
  guard let path = ProcessInfo.processInfo.environment["CERTIFICATE"] else { return try CurlTransport() }
  return try CurlTransport(.init(tls: .init(trust: .pem(file: URL(filePath: path)))))
}

func sendRepeatedly(_ count: Int, _ request: Request) throws {
  let transport = try makeTransport()
  let done = DispatchSemaphore(value: 0)
  for _ in 0..<count {
    use(
      transport.send(request) { result in
        switch result {
        case .success(let response) where response.status == 200: break
        default: fatalError("\(result)")
        }
        done.signal()
      })
    done.wait()
  }
}

/// Sends each request in the completion of the previous one, on the transport's thread.
func sendFromCompletion(_ count: Int, _ transport: CurlTransport, _ request: Request, _ done: DispatchSemaphore) {
  if count == 0 {
    done.signal()
    return
  }
  _ = transport.send(request) { result in
    if case .failure(let error) = result { fatalError("\(error)") }
    sendFromCompletion(count - 1, transport, request, done)
  }
}

/// The HTTPS server, whose URL is in `SECURE`.
func secureServer() throws -> URL {
  guard let url = URL(string: ProcessInfo.processInfo.environment["SECURE"] ?? "") else {
    throw CocoaError(.fileNoSuchFile)
  }
  return url
}

func requestOverHTTP2(_ method: HTTPMethod) throws -> Request {
  var request = Request(method: method, url: try secureServer())
  request.options.httpVersion = .http2
  if method == .post { request.body = .data(AtOnce.body) }
  return request
}

let programs: [String: (Int) throws -> Void] = [
  "response": { for _ in 0..<$0 { use(network.responses(.get, "/x").subscribe(onNext: { use($0) })) } },
  "decoded": { for _ in 0..<$0 { use(network.json(.get, "/x").data(User.self).subscribe(onNext: { use($0) })) } },
  "typed": { for _ in 0..<$0 { use(plain.request(.get("/x"), as: Message.self).subscribe(onSuccess: { use($0) })) } },
  "fetch": { try fetchRepeatedly($0, plain) },
  "delivered": { count in
    for _ in 0..<count {
      use(delivered.request(.get("/x"), as: Message.self).subscribe(onSuccess: { use($0) }))
    }
  },
  "query": { count in
    for number in 0..<count {
      let call = Call.get("/x", query: ["page": number, "q": "swift"])
      use(plain.request(call, as: Message.self).subscribe(onSuccess: { use($0) }))
    }
  },
  "interceptors": { for _ in 0..<$0 { use(busy.responses(.get, "/x").subscribe(onNext: { use($0) })) } },
  "authenticated": {
    for _ in 0..<$0 { use(authenticated.responses(.get, "/x").subscribe(onNext: { use($0) })) }
  },
  "cached": { for _ in 0..<$0 { use(cached.responses(.get, "/x").subscribe(onNext: { use($0) })) } },
  "chain": { use(chain($0 * 10).subscribe(onNext: { use($0) })) },
  "single": { count in
    for number in 0..<count * 10 {
      use(Single.just(number).map { $0 &+ 1 }.flatMap { .just($0 &* 3) }.subscribe(onSuccess: { use($0) }))
    }
  },
  "subject": { count in
    let subject = BehaviorSubject(value: 0)
    let bag = DisposeBag()
    for _ in 0..<3 { subject.map { $0 &+ 1 }.subscribe(onNext: { use($0) }).disposed(by: bag) }
    for number in 0..<count * 10 { subject.onNext(number) }
  },
  "transport": { try sendRepeatedly($0, Request(url: server)) },
  "chained": { count in
    let done = DispatchSemaphore(value: 0)
    sendFromCompletion(count, try makeTransport(), Request(url: server), done)
    done.wait()
  },
  "https": { try sendRepeatedly($0, Request(url: try secureServer())) },
  "http2": { try sendRepeatedly($0, try requestOverHTTP2(.get)) },
  "post": { try sendRepeatedly($0, try requestOverHTTP2(.post)) },
  "call": { count in
    let network = Network(Backend(baseURL: server, envelope: .standard, transport: try makeTransport()))
    let done = DispatchSemaphore(value: 0)
    for _ in 0..<count {
      use(
        network.json(.get, "/x").data(User.self).subscribe(
          onNext: { use($0) }, onError: { fatalError("\($0)") }, onCompleted: { done.signal() }))
      done.wait()
    }
  },
  "awaited": { try fetchRepeatedly($0, Network(Backend(baseURL: server, transport: try makeTransport()))) },
  "executor": {
    let transport = try makeTransport()
    try fetchRepeatedly($0, Network(Backend(baseURL: server, transport: transport)), on: transport.executor)
  },
  "json": { count in
    struct List: Decodable { var items: [User] }
    for _ in 0..<count { use(try JSON(parsing: text).decode(List.self)) }
  },
  "wide": { for _ in 0..<$0 { use(try JSON(parsing: wide).decode([Wide].self)) } },
  "body": { count in
    for number in 0..<count {
      var request = Request(method: .post, url: server)
      try JSONParameterEncoder(dates: .iso8601, keys: .snakeCase).encode(
        Parameters(Draft(number: number)), into: &request)
      use(request)
    }
  },
]

if arguments == [arguments[0], "serve"] {
  try serve()
  exit(0)
}
guard arguments.count == 3, let program = programs[arguments[1]], let count = Int(arguments[2]) else {
  print("GuardBenchmarks NAME COUNT, of: \(programs.keys.sorted().joined(separator: ", "))")
  exit(2)
}
try program(count)
