import Foundation
import HTTPTransport
import Races
import Streams
import StreamsTesting
import TestSupport

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// A server that knows whose data it sends and receives, in virtual time.
///
/// A path `/as/NAME/app/NAME/…` states the users who began the call, and a body `data of NAME` the user whose data it is. The
/// fields `X-User: NAME NUMBER` and `X-App: NAME NUMBER` are the credentials of the two sources.
final class AccountServer: Transport {
  private struct Upload {
    let owner: String
    var bytes: [UInt8] = []
    let length: Int
  }

  private struct State {
    var generator: SplitMix64
    var uploads: [String: Upload] = [:]
    var validToken = 1
    var problems: [String] = []
    var log: [String] = []
  }

  private let clock: TestScheduler
  private let state: Box<State>
  /// The mark of a world with an interceptor that forgets whose a response is.
  let mayForget = Box(false)

  init(_ seed: UInt64, _ clock: TestScheduler) {
    self.clock = clock
    state = Box(State(generator: SplitMix64(seed: seed)))
  }

  var problems: [String] { state.value.problems }
  var log: [String] { state.value.log }
  var validToken: Int { state.value.validToken }
  func expireTokens() { state.update { $0.validToken += 1 } }
  func note(_ text: String) { state.update { $0.log.append(text) } }
  func fail(_ text: String) { state.update { $0.problems.append(text) } }
  func check(_ what: String, _ whose: Whose, of begun: AccountWorld.Begun) {
    check(what, whose.user, of: begun.user)
    if let app = begun.app { check(what, whose.app, of: app) }
  }
  /// Checks data that a call of `begun` has received.
  func check(_ what: String, _ user: String, of begun: String) {
    // A cache that forgets users may return what nobody has asked for, such as a page that another origin has chosen.
    if user == "-", mayForget.value { return }
    if begun != "any", user != begun { fail("\(what) of \(begun) has data of \(user)") }
  }

  func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    let isOver = Flag()
    let delay = state.update { Int.random(in: 1...40, using: &$0.generator) }
    let timer = clock.scheduleRelative(.milliseconds(delay)) { [self] in
      let body: [UInt8]
      do { body = try Self.bytes(of: request) } catch {
        if isOver.raise() { completion(.failure(NetworkError.wrapping(error))) }
        return
      }
      let result = state.update { Self.respond(to: request, body, &$0) }
      if isOver.raise() { completion(result) }
    }
    return Disposables.create {
      timer.dispose()
      // Never from within the call.
      _ = self.clock.schedule {
        if isOver.raise() {
          completion(.failure(NetworkError(kind: .cancelled, reason: "cancelled", request: request)))
        }
      }
    }
  }

  private static func bytes(of request: Request) throws -> [UInt8] {
    switch request.body {
    case .data(let data): return Array(data)
    case .stream(let stream):
      guard case .reader(let open) = stream.maker else { return [] }
      let next = try open()
      var bytes: [UInt8] = []
      while let chunk = try next() { bytes += chunk }
      return bytes
    default: return []
    }
  }

  private static func respond(
    to request: Request, _ body: [UInt8], _ state: inout State
  ) -> Result<Response, NetworkError> {
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &state.generator) < percent }
    let parts = (request.headers["X-User"] ?? "- 0").split(separator: " ").map(String.init)
    let (user, token) = (parts[0], parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    let app = request.headers["X-App"]?.split(separator: " ").first.map(String.init) ?? "-"
    let path = request.url.path
    let text = String(decoding: body, as: UTF8.self)
    state.log.append("\(request.method) \(path) \(user) \(token) \(app) \(text.prefix(20))")
    let begun = path.split(separator: "/")
    if request.isForeign {
      if user != "-" || app != "-" {
        state.problems.append("a foreign request has credentials: \(path) \(user) \(app)")
      }
    } else {
      if begun.first == "as", begun.count > 1, begun[1] != "any", begun[1] != user {
        state.problems.append("a call of \(begun[1]) was sent as \(user): \(request.method) \(path)")
      }
      if begun.count > 3, begun[2] == "app", begun[3] != "any", begun[3] != app {
        state.problems.append("a call of the app \(begun[3]) was sent as \(app): \(request.method) \(path)")
      }
    }
    for name in ["ann", "bob"] where name != user && text.contains(name) {
      state.problems.append("data of \(name) in a request of \(user): \(request.method) \(path) \(text.prefix(40))")
    }
    if let upload = state.uploads[path], upload.owner != user {
      state.problems.append("the upload of \(upload.owner) is touched by \(user): \(request.method) \(path)")
    }
    let lost = NetworkError(kind: .connection, reason: "lost", request: request)
    if chance(6) { return .failure(lost) }
    if user != "-", token < state.validToken { return .success(Response(request: request, status: 401)) }
    if chance(6) { return .success(Response(request: request, status: 503)) }
    // A session check at another origin, from which the request returns without credentials.
    let isBounced = path.hasSuffix("/x") && chance(12)
    var response = reply(to: request, isBounced ? ("-", "-") : (user, app), body, path, &state)
    if isBounced {
      if chance(30) { response.status = 401 }
      response.redirects = [request.url, URL(string: "http://b/check") ?? request.url].map {
        Response.Redirect(url: $0, status: 302, headers: [:])
      }
    }
    return chance(5) ? .failure(lost) : .success(response)
  }

  private static func reply(
    to request: Request, _ users: (String, String), _ body: [UInt8], _ path: String, _ state: inout State
  ) -> Response {
    let (user, app) = users
    func response(_ status: Int, _ fields: HTTPHeaders = [:], _ text: String = "") -> Response {
      Response(request: request, status: status, headers: fields, body: Data(text.utf8))
    }
    if path.hasSuffix("/files") {
      let place = "/up/\(state.log.count)"
      state.uploads[place] = Upload(owner: user, length: Int(request.headers["Upload-Length"] ?? "") ?? 0)
      return response(201, ["Location": place])
    }
    if path.hasPrefix("/up/") {
      guard var upload = state.uploads[path] else { return response(404) }
      switch request.method {
      case .delete:
        state.uploads[path] = nil
        return response(204)
      case .patch:
        guard request.headers["Upload-Offset"] == "\(upload.bytes.count)" else { return response(409) }
        upload.bytes += body
        state.uploads[path] = upload
      default: break
      }
      return response(204, ["Upload-Offset": "\(upload.bytes.count)", "Upload-Length": "\(upload.length)"])
    }
    if path.hasSuffix("/events") {
      return response(200, ["Content-Type": "text/event-stream"], "data: \(user)\n\n")
    }
    let isLong = Int.random(in: 0..<2, using: &state.generator) == 0
    var fields: HTTPHeaders = [
      "Content-Type": "application/json", "Cache-Control": isLong ? "max-age=1000" : "no-cache",
    ]
    let host = request.url.host ?? ""
    let whose = #"{"user":"\#(user)","app":"\#(app)","host":"\#(host)"}"#
    guard path.hasSuffix("/pages") else { return response(200, fields, whose) }
    let next = Int.random(in: 0..<6, using: &state.generator)
    // The other origin always links to a private page, perhaps to one that was read before.
    if next > 1 || host == "b" {
      let place = host == "h" && next == 2 ? "b" : "h"
      fields["Link"] = "<http://\(place)\(path)?p=\(next > 4 ? 1 : state.log.count)>; rel=\"next\""
    }
    return response(200, fields, "[\(whose)]")
  }
}

struct Whose: Decodable, Sendable {
  var user: String
  var app: String
  var host: String
}

/// The second source of a device: the registration of the app itself, with its own users.
final class AppLogin: Interceptor, AccountSource {
  let user: BehaviorRelay<String?>
  init(_ user: String?) { self.user = BehaviorRelay(value: user) }
  var accountState: AccountState { user.value.map { .user($0) } ?? .nobody }
  var accountChanges: Observable<Void>? { user.asObservable().skip(1).map { _ in } }
  func covers(_ request: Request) -> Bool { request.url.host == "h" }
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard covers(request), let name = user.value else { return next(request) }
    return next(request, with: Request.Credentials(account: name, headers: ["X-App": "\(name) 1"]))
  }
}

/// Two processes of one app, with one token store, one outbox, one cache and one folder of uploads, in which two users sign in
/// and out.
final class AccountWorld {
  private final class Device {
    let name: String
    let login: any Login
    let app: AppLogin?
    let network: Network
    /// A copy of the network with another login, which shares its queries.
    let guest: (login: OwnLogin, network: Network)?
    /// Whether entries of the outbox belong to the user of the app.
    let isAppFirst: Bool
    let reachability = TestReachability()
    let bag = DisposeBag()
    var outbox: Outbox?
    var running: [any Disposable] = []

    init(_ name: String, _ login: any Login, _ app: AppLogin?, _ network: Network, _ guest: (OwnLogin, Network)?) {
      (self.name, self.login, self.app, self.network, self.guest) = (name, login, app, network, guest)
      isAppFirst = network.accountSources.first is AppLogin
    }

    var state: AccountState { login.source.accountState }
    /// The users in paths of calls that begin now.
    var begun: Begun { Begun(user: state.word ?? "any", app: app.map { $0.user.value ?? "any" }) }
  }

  struct Begun: Sendable {
    let user: String
    let app: String?
    var path: String { "/as/\(user)" + (app.map { "/app/\($0)" } ?? "") }
  }

  private let clock = TestScheduler(resolution: .milliseconds(1))
  private let server: AccountServer
  private let folder: URL
  private let home = URL(string: "http://h") ?? URL(filePath: "/")
  private var generator: SplitMix64
  private var devices: [Device] = []

  var problems: [String] { server.problems }
  var log: [String] { server.log }
  private(set) var steps = 0

  init(_ seed: UInt64, in folder: URL) throws {
    generator = SplitMix64(seed: seed)
    server = AccountServer(seed &+ 1, clock)
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["ann", "bob"] {
      try Data(String(repeating: name, count: 500).utf8).write(to: folder.appending(path: "\(name).bin"))
    }
    try Data(count: 900).write(to: folder.appending(path: "film.bin"))
    let first = ["ann", "bob", nil].randomElement(using: &generator) ?? nil
    let store = MemoryTokenStore(first.map { Token(access: "\($0) 1", account: $0) })
    let cache = ResponseCache(storingIn: nil)
    for name in ["0", "1"] {
      let login: any Login
      switch random(0...5) {
      case 0...1: login = OwnKind(login: OwnLogin(first.map { .user($0) } ?? .nobody, for: home))
      case 2:
        // Without names, two processes can't tell their users apart.
        let own = MemoryTokenStore(first.map { Token(access: "\($0) 1") })
        login = SharedTokenKind(home, own, server, clock, SplitMix64(seed: generator.next()), hasNames: false)
      default: login = SharedTokenKind(home, store, server, clock, SplitMix64(seed: generator.next()))
      }
      let app = random(0...2) == 0 ? AppLogin("one") : nil
      let network = Network(
        Backend(
          baseURL: home, transport: server, clock: clock, mapping: clock, interceptors: chain(login.source, app, cache))
      )
      var guest: (OwnLogin, Network)?
      if random(0...2) == 0 {
        let other = OwnLogin(.user("bob"), for: home)
        let interceptors = chain(other, nil, cache)
        guest = (other, network.with { $0.interceptors = interceptors })
      }
      devices.append(Device(name, login, app, network, guest))
    }
  }

  /// Returns the interceptors in any order.
  private func chain(
    _ login: any Interceptor, _ app: AppLogin?, _ cache: ResponseCache
  ) -> [any Interceptor] {
    let pauses = (0...1).map { _ in
      let draws = Box(SplitMix64(seed: generator.next()))
      return Pause { _ in .milliseconds(max(0, draws.update { Int.random(in: -60...80, using: &$0) })) }
    }
    var chain: [any Interceptor] = [
      CoalescingInterceptor(window: .milliseconds(random(0...1) * 60)), CacheInterceptor(cache, policy: .http),
      RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(30))), login,
    ]
    chain += pauses
    if let app { chain.append(app) }
    if random(0...3) == 0 {
      chain.append(ForgetfulCache())
      server.mayForget.value = true
    }
    return chain.shuffled(using: &generator)
  }

  private func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  func run() throws {
    for device in devices {
      watch(device, "/me")
      if random(0...1) == 0 { watch(device, "/other") }
      if let guest = device.guest { watch(device, "/me", guest.network, guest.login, nil) }
      try open(device)
    }
    for _ in 0..<60 where problems.isEmpty {
      steps += 1
      try step(devices[random(0...1)])
    }
    clock.advanceBy(200_000)
    for device in devices {
      device.outbox = nil
      for subscription in device.running { subscription.dispose() }
    }
    UploadRegistry.shared.settle()
  }

  private func step(_ device: Device) throws {
    switch random(1...100) {
    case ...18:
      let name = ["ann", "bob", nil].randomElement(using: &generator) ?? nil
      switch random(0...5) {
      case 0 where device.app != nil:
        let name = ["one", "two", nil].randomElement(using: &generator) ?? nil
        server.note("\(device.name) registers \(name ?? "-")")
        device.app?.user.accept(name)
      case 1 where device.guest != nil:
        server.note("\(device.name) has the guest \(name ?? "-")")
        device.guest?.login.set(name.map { .user($0) } ?? .nobody)
      default:
        server.note("\(device.name) signs in \(name ?? "-")")
        device.login.signIn(name)
      }
    case ...24: device.login.renew()
    case ...30: server.expireTokens()
    case ...40: fetch(device)
    case ...46: pages(device)
    case ...50: events(device)
    case ...58: edit(device)
    case ...66: try send(device)
    case ...70: try open(device)
    case ...76: upload(device)
    case ...78: device.running.removeFirstIfAny()?.dispose()
    case ...80: device.network.invalidateAll()
    case ...82: device.network.refetchStale()
    default: clock.advanceBy(random(1...120))
    }
  }

  private func watch(_ device: Device, _ path: String) {
    watch(device, path, device.network, device.login.source, device.app)
  }

  private func watch(
    _ device: Device, _ path: String, _ network: Network, _ source: any AccountSource, _ app: AppLogin?
  ) {
    network.watch(Call<Response>.get(path).as(Whose.self)).subscribe(onNext: { [server, name = device.name] snapshot in
      guard let shown = snapshot.value else { return }
      let state = source.accountState
      if shown.user != "-", state != .unknown, state.word != shown.user {
        server.fail("the screen \(path) of \(name), where \(state.word ?? "nobody") is signed in, shows \(shown.user)")
      }
      if let app, shown.app != "-", shown.app != app.user.value {
        server.fail("the screen \(path) of \(name), of the app \(app.user.value ?? "none"), shows \(shown.app)")
      }
    }).disposed(by: device.bag)
  }

  private func fetch(_ device: Device) {
    let begun = device.begun
    // A path of its own for each user, or one for all.
    let path = random(0...1) == 0 ? "\(begun.path)/x" : "/x"
    device.network.request(Call<Response>.get(path)).subscribe(
      onSuccess: { [server] response in
        guard let whose = try? response.decode(Whose.self) else { return server.fail("not decoded: \(response)") }
        // Only the request that has been at another origin is anonymous.
        if response.redirects.isEmpty {
          server.check("a call", whose, of: begun)
        } else if whose.user != "-" {
          server.fail("a request without credentials has data of \(whose.user)")
        }
      }, onError: { _ in }
    ).disposed(by: device.bag)
  }

  private func pages(_ device: Device) {
    let begun = device.begun
    let hasLeft = Flag()
    device.network.pages(.get("\(begun.path)/pages"), of: Whose.self).take(5).subscribe(
      onNext: { [server] page in
        for item in page.items {
          if item.host == "b" { hasLeft.raise() }
          if !hasLeft.isRaised {
            server.check("a page", item, of: begun)
          } else if item.user != "-" || item.app != "-" {
            server.fail("a page that another origin has chosen has data of \(item)")
          }
        }
      }, onError: { _ in }
    ).disposed(by: device.bag)
  }

  private func events(_ device: Device) {
    let begun = device.begun
    device.network.events(.get("\(begun.path)/events")).take(3).subscribe(
      onNext: { [server] in server.check("an event", $0.data, of: begun.user) }, onError: { _ in }
    ).disposed(by: device.bag)
  }

  private func edit(_ device: Device) {
    let begun = device.begun
    let write = Call(.post, "\(begun.path)/like", task: .data(Data("data of \(begun.user)".utf8)))
    device.network.request(write, editing: Call<Response>.get("/me").as(Whose.self)) { _ in }
      .subscribe(onError: { _ in }).disposed(by: device.bag)
  }

  private func open(_ device: Device) throws {
    device.outbox = nil
    let outbox = try Outbox(
      storingIn: folder.appending(path: "outbox"), on: device.network, reachability: device.reachability,
      retry: RetryPolicy(attempts: 3, initialDelay: .milliseconds(50), maxDelay: .milliseconds(200)),
      onProblem: { [server] in server.fail($0.reason) })
    device.outbox = outbox
    outbox.start()
  }

  private func send(_ device: Device) throws {
    // A custom login and a token may differ; each is a user of its own process.
    let all = device.begun
    // An entry belongs to the first source.
    let begun = device.isAppFirst ? Begun(user: "any", app: all.app) : Begun(user: all.user, app: nil)
    let call = Call(.post, "\(begun.path)/note", task: .data(Data("data of \(begun.user)".utf8)))
    do {
      try device.outbox?.send(call, lane: ["k", nil].randomElement(using: &generator) ?? nil)
    } catch {
      if error.kind != .authentication { server.fail("\(error)") }
    }
  }

  private func upload(_ device: Device) {
    guard let begun = device.state.name else { return }
    // The same file for both users, or one whose bytes name its user.
    let isShared = random(0...1) == 0
    let call = Call<Response>.post(isShared ? "/files" : "\(device.begun.path)/files")
    let file = folder.appending(path: isShared ? "film.bin" : "\(begun).bin")
    if random(0...5) == 0 {
      device.running.append(device.network.cancelUpload(of: file, to: call, by: .tus).subscribe(onError: { _ in }))
    } else {
      device.running.append(
        device.network.transfer(
          file, to: call, by: .tus, retry: RetryPolicy(attempts: 4, initialDelay: .milliseconds(20))
        ).subscribe(onError: { _ in }))
    }
  }
}

extension [any Disposable] {
  fileprivate mutating func removeFirstIfAny() -> (any Disposable)? { isEmpty ? nil : removeFirst() }
}

/// A login with a token, whose store several processes share, and whose refreshes may fail.
struct SharedTokenKind: Login {
  let login: AuthenticationInterceptor
  private let server: AccountServer
  private let hasNames: Bool

  init(
    _ url: URL, _ store: MemoryTokenStore, _ server: AccountServer, _ clock: TestScheduler, _ generator: SplitMix64,
    hasNames: Bool = true
  ) {
    (self.server, self.hasNames) = (server, hasNames)
    let generator = Box(generator)
    login = AuthenticationInterceptor(for: [url], store: store, apply: { $1.headers["X-User"] = $0.access }) {
      old -> Single<Token> in
      let (delay, fate) = generator.update {
        (Int.random(in: 1...60, using: &$0), Int.random(in: 0..<6, using: &$0))
      }
      guard let user = old?.access.split(separator: " ").first.map(String.init) else {
        return .error(NetworkError(kind: .status, reason: "nobody"))
      }
      return Observable<Int>.timer(.milliseconds(delay), scheduler: clock).asSingle().map { _ in
        switch fate {
        case 0: throw NetworkError(kind: .status, reason: "refused")
        case 1: throw NetworkError(kind: .connection, reason: "lost")
        default: break
        }
        let token = Token(access: "\(user) \(server.validToken)", account: fate == 2 && hasNames ? user : nil)
        // Some refreshes save their token themselves.
        if fate == 3 { store.save(Token(access: token.access, account: hasNames ? user : nil)) }
        return token
      }
    }
  }

  var source: any Interceptor & AccountSource { login }
  func signIn(_ name: String?) {
    login.set(name.map { Token(access: "\($0) \(server.validToken)", account: hasNames ? $0 : nil) })
  }
  func renew() {
    guard let name = login.accountState.word else { return }
    signIn(name)
  }
}

extension AccountState {
  /// The user, who may have only a token that begins with a name.
  fileprivate var word: String? {
    switch user {
    case .named(let text), .unnamed(let text): text.split(separator: " ").first.map(String.init)
    case .unknown, .nobody: nil
    }
  }
}
