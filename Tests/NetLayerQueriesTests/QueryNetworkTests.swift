import Foundation
import LoopbackServer
import NetLayer
import Races
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerQueries

/// Random schedules through a real network, cache and server: the state machine in its shell, on real threads.
///
/// `QUERY_NETWORK_SCHEDULES` sets the number of schedules; `QUERY_NETWORK_FIRST` sets the seed of the first one. The server
/// and the threads are free, so a seed does not repeat a schedule exactly.
final class QueryNetworkTests: XCTestCase {
  private static func setting(_ name: String, _ fallback: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
  }

  func test_query_randomSchedules_throughNetworkCacheAndServer_converge() async throws {
    let first = Self.setting("QUERY_NETWORK_FIRST", 1)
    for seed in first..<first + Self.setting("QUERY_NETWORK_SCHEDULES", 50) {
      let schedule = try LiveSchedule(seed: UInt64(seed))
      try await schedule.run()
      schedule.server.stop()
      if let problem = schedule.problems.all.first { return XCTFail("seed \(seed): \(problem)") }
    }
  }

  /// Lists of tokens on a server with faults, and screens that watch them.
  private final class LiveSchedule: Sendable {
    struct Store: Sendable {
      var generator: SplitMix64
      /// The tokens of each user and path.
      var lists: [String: [String]] = [:]
      var isFaulty = true
      /// The paths with changes that nobody has reported.
      var secrets: Set<String> = []

      mutating func chance(_ percent: Int) -> Bool { Int.random(in: 1...100, using: &generator) <= percent }
      mutating func delay() -> Double { Double(Int.random(in: 0...5, using: &generator)) / 1000 }

      mutating func reply(to request: TestServer.Request, _ owner: String, _ control: String) -> TestServer.Response {
        let delay = delay()
        if request.method == "POST" {
          let key = "\(owner) \(request.path.dropLast(4))"
          let form = URLComponents(string: "?\(request.text)")?.queryItems ?? []
          let token = form.first { $0.name == "token" }?.value ?? ""
          switch form.first(where: { $0.name == "fate" })?.value {
          case "applied":
            lists[key, default: []].append(token)
            return .json("{}").delayed(by: delay)
          case "lost":
            lists[key, default: []].append(token)
            return .closeBeforeHead
          case "failed":
            if chance(50) { lists[key, default: []].append(token) }
            return .json("{}", status: 500).delayed(by: delay)
          default: return .json("{}", status: 422).delayed(by: delay)
          }
        }
        if isFaulty, chance(12) { return chance(50) ? .json("{}", status: 503).delayed(by: delay) : .closeBeforeHead }
        let list = lists["\(owner) \(request.path)"] ?? []
        let tag = "\"\(list.joined(separator: ","))\""
        if request.header("If-None-Match") == tag {
          return .status(304).header("ETag", tag).header("Cache-Control", control).delayed(by: delay)
        }
        return .json("\(list)").header("ETag", tag).header("Cache-Control", control).delayed(by: delay)
      }
    }

    struct List: Endpoint {
      typealias Output = [String]
      var path: String
      var tags: Set<CacheTag> { [CacheTag(rawValue: path)] }
    }

    struct Write: Endpoint {
      typealias Output = NoContent
      var target: String
      var token: String
      var fate: String
      var path: String { target + "/add" }
      var method: HTTPMethod { .post }
      var task: HTTPTask { .parameters(["token": token, "fate": fate], encoding: .form) }
    }

    static let paths = ["/a", "/b"]
    let server: TestServer
    let network: Network
    let authentication: AuthenticationInterceptor
    let problems = Notes()
    private let store: Box<Store>
    private let user = Box(0)
    /// The acknowledged tokens of each user and path.
    private let acknowledged = Box<[String: Set<String>]>([:])
    /// The writes that were disposed, which may look acknowledged to their subscriber.
    private let disposed = Box<Set<String>>([])
    private let generator: Box<SplitMix64>
    private let writes = Box(0)

    init(seed: UInt64) throws {
      let store = Box(Store(generator: SplitMix64(seed: seed &* 31)))
      self.store = store
      generator = Box(SplitMix64(seed: seed))
      let header = ["no-cache", "max-age=60", "max-age=0, stale-while-revalidate=60", "max-age=0, stale-if-error=60"]
      let control = header[Int(seed % 4)]
      server = try TestServer { request in
        if request.path == "/tick" {
          return .json("{}").delayed(by: request.query("ms").flatMap { Double($0) }.map { $0 / 1000 } ?? 0)
        }
        let owner = request.header("Authorization") ?? ""
        return store.update { $0.reply(to: request, owner, control) }
      }
      authentication = AuthenticationInterceptor(
        for: [server.url], store: MemoryTokenStore(Token(access: "t0", account: "0"))
      ) { old in .just(old ?? Token(access: "")) }
      network = Network(
        Backend(
          baseURL: server.url,
          interceptors: [
            CoalescingInterceptor(), CacheInterceptor(ResponseCache(storingIn: nil)), authentication,
          ]))
    }

    private func random(_ range: ClosedRange<Int>) -> Int { generator.update { Int.random(in: range, using: &$0) } }
    private func chance(_ percent: Int) -> Bool { random(1...100) <= percent }

    /// The last snapshot of a subscriber, which checks each one.
    private final class Screen: Sendable {
      let path: String
      let last = Box<Snapshot<[String]>?>(nil)
      private let subscription = SerialDisposable()

      init(_ path: String, _ schedule: LiveSchedule) {
        self.path = path
        subscription.disposable = schedule.network.watch(List(path: path)).subscribe(onNext: { [last] snapshot in
          last.value = snapshot
          schedule.check(snapshot, path)
        })
      }

      func leave() { subscription.dispose() }
    }

    func run() async throws {
      let live = Hooks.liveSubscriptionCount
      var screens: [Screen] = []
      var work: [(path: String, token: String, subscription: any Disposable)] = []
      for _ in 0..<40 {
        let path = Self.paths[random(0...1)]
        switch random(1...100) {
        case ...18: screens.append(Screen(path, self))
        case ...26: if !screens.isEmpty { screens.remove(at: random(0...screens.count - 1)).leave() }
        case ...62: work.append(write(path))
        case ...66: if !work.isEmpty { dispose(work.remove(at: random(0...work.count - 1))) }
        case ...78: push(path, isReported: chance(80))
        case ...84: network.refetchStale()
        case ...86: network.invalidate(List(path: path))
        case ...88: try await changeUser()
        default: try await tick()
        }
        if chance(40) { try await tick() }
      }
      try await rest(screens, "at rest")
      compare(screens)
      // A forced load also shows what nobody has reported.
      store.update { ($0.isFaulty, $0.secrets) = (false, []) }
      network.invalidateAll()
      try await rest(screens, "after the last invalidation")
      for screen in screens where screen.last.value?.error != nil { problems.add("\(screen.path) has an error") }
      compare(screens)
      for screen in screens { screen.leave() }
      screens = []
      work = []
      try await eventually("nothing is left") {
        network.watching.counts == [0, 0] && Hooks.liveSubscriptionCount <= live
      }
    }

    /// Lets time pass: the server responds after some milliseconds.
    private func tick() async throws {
      let plain = Network(Backend(baseURL: server.url))
      _ = try await plain.response(.get("/tick", query: ["ms": "\(random(0...6))"]))
    }

    private func number() -> Int {
      writes.update {
        $0 += 1
        return $0
      }
    }

    private func write(_ path: String) -> (path: String, token: String, subscription: any Disposable) {
      let fate = ["applied", "applied", "applied", "rejected", "lost", "failed"][random(0...5)]
      let (user, token) = (user.value, "\(user.value).\(number())")
      writing.update { $0 += 1 }
      let work = network.request(Write(target: path, token: token, fate: fate), editing: List(path: path)) {
        $0.append(token)
      }
      return (
        path, token,
        work.asObservable().do(onDispose: { [writing] in writing.update { $0 -= 1 } })
          .subscribe(
            onNext: { [self] _ in acknowledged.update { _ = $0["\(user) \(path)", default: []].insert(token) } },
            onError: { _ in })
      )
    }

    /// Cancels a write, which the server may apply at any time.
    private func dispose(_ write: (path: String, token: String, subscription: any Disposable)) {
      disposed.update { _ = $0.insert(write.token) }
      store.update { _ = $0.secrets.insert(write.path) }
      write.subscription.dispose()
    }

    private func check(_ snapshot: Snapshot<[String]>, _ path: String) {
      // Not after a sign-in, because a snapshot of the previous user may be on its way.
      let known = user.value == 0 ? acknowledged.value["0 \(path)"] ?? [] : []
      guard let value = snapshot.value else { return }
      if Set(value).count != value.count { problems.add("\(path) shows a change twice: \(value)") }
      let missing = known.subtracting(value)
      // The value may have been made before the last of them was acknowledged, but not before it was shown.
      for token in missing where !disposed.value.contains(token) {
        problems.add("\(path): the acknowledged write \(token) is missing in \(value)")
      }
    }

    private let writing = Box(0)

    private func push(_ path: String, isReported: Bool) {
      let token = "\(user.value).\(number())"
      store.update { store in
        store.lists["Bearer t\(user.value) \(path)", default: []].append(token)
        if !isReported { store.secrets.insert(path) }
      }
      if isReported { network.invalidate([CacheTag(rawValue: path)]) }
    }

    private func changeUser() async throws {
      let next = user.update {
        $0 += 1
        return $0
      }
      store.update { $0.secrets = [] }
      try await authentication.setToken(Token(access: "t\(next)", account: "\(next)"))
    }

    private func rest(_ screens: [Screen], _ name: String) async throws {
      try await eventually("seed, \(name): \(screens.map { "\($0.path) \($0.last.value as Any)" })") {
        writing.value == 0 && screens.allSatisfy { $0.last.value?.isFetching == false }
      }
    }

    private func compare(_ screens: [Screen]) {
      let (lists, secrets) = store.update { ($0.lists, $0.secrets) }
      for screen in screens {
        guard let last = screen.last.value else {
          problems.add("nothing is shown")
          continue
        }
        let list = lists["Bearer t\(user.value) \(screen.path)"] ?? []
        if last.error != nil {
          if last.value != nil, !last.isStale { problems.add("\(screen.path): not stale in spite of an error") }
        } else {
          if last.isStale || last.isEdited { problems.add("\(screen.path): stale or edited at rest: \(last)") }
          if !secrets.contains(screen.path), last.value != list {
            problems.add("\(screen.path) shows \(last.value ?? []) instead of \(list)")
          }
        }
        check(last, screen.path)
      }
    }
  }
}
