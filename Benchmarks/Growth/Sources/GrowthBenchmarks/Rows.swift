import Foundation
import LoopbackServer
import NetLayer
import NetLayerOffline
import NetLayerQueries
import NetLayerRecording
import NetLayerTesting
import Streams
import Synchronization

struct Item: Codable, Sendable, Equatable { var id: Int }

struct Numbered: Endpoint {
  typealias Output = Item
  let number: Int
  var path: String { "/items/\(number)" }
  var tags: Set<CacheTag> { ["all", CacheTag(rawValue: "\(number)")] }
}

struct Always: Reachability {
  let isOn: Bool
  var isReachable: Observable<Bool> { .just(isOn).concat(.never()) }
}

let base = URL(string: "http://h")
let item = #"{"id":1}"#

func network(
  _ interceptors: [any Interceptor] = [], _ respond: @escaping @Sendable (Request) -> StubTransport.StubbedResponse
) -> Network {
  Network(Backend(baseURL: base, transport: StubTransport(respond), interceptors: interceptors))
}

let stub = network { _ in .json(item) }

/// A directory that lives as long as the process.
func folder() throws -> URL {
  let url = FileManager.default.temporaryDirectory.appending(path: "growth-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  return url
}

final class Count: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .acquiring) }
  func next() { count.add(1, ordering: .releasing) }
}

/// Waits until `condition` holds.
func waits(until condition: () -> Bool) async throws {
  while !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

let rows: [Row] = [
  Row(name: "decoding an object of n members") { count in
    let text = "{" + (0..<count).map { "\"member\($0)\":\($0)" }.joined(separator: ",") + "}"
    let network = network { _ in .json(text) }
    return { _ = try await network.fetch(.get("/"), as: [String: Int].self) }
  },
  Row(name: "decoding an array of n objects") { count in
    let text = "[" + (0..<count).map { _ in item }.joined(separator: ",") + "]"
    let network = network { _ in .json(text) }
    return { _ = try await network.fetch(.get("/"), as: [Item].self) }
  },
  Row(name: "encoding an object of n members") { count in
    let body = Dictionary(uniqueKeysWithValues: (0..<count).map { ("member\($0)", $0) })
    return { try await stub.fetch(.post("/", json: body)) }
  },
  Row(name: "n query parameters") { count in
    let query = Parameters(Dictionary(uniqueKeysWithValues: (0..<count).map { ("name\($0)", $0) }))
    return { try await stub.fetch(.get("/").query(query)) }
  },
  Row(name: "a form of n parts") { count in
    let parts = (0..<count).map { MultipartForm.Part.field("name\($0)", "value") }
    return { try await stub.fetch(.post("/", .multipart(MultipartForm(parts)))) }
  },
  Row(name: "a response with n header fields", least: 30, most: 480) { count in
    let fields = (0..<count).map { (name: "name-\($0)", value: "value") }
    let server = try TestServer { _ in .init(headers: fields) }
    let network = Network(Backend(baseURL: server.url))
    return {
      for _ in 0..<8 { _ = try await network.response(.get("/")) }
      withExtendedLifetime(server) {}
    }
  },
  Row(name: "an HTTP cache with n responses", least: 256) { count in
    let cache = CacheInterceptor(
      ResponseCache(storingIn: nil, maxMemorySize: 1 << 30), policy: .cacheFirst(maxAge: .seconds(60)))
    let network = network([cache]) { _ in .json(item) }
    return {
      for number in 0..<count { _ = try await network.fetch(Numbered(number: number)) }
      for number in 0..<count { _ = try await network.fetch(Numbered(number: number)) }
    }
  },
  Row(name: "a list of n pages", least: 64) { count in
    let network = network { request in
      let page = Int(request.url.query?.split(separator: "=").last ?? "1") ?? 1
      return .json(page <= count ? "[{\"id\":\(page)}]" : "[]")
    }
    return { _ = try await network.fetchAll(.get("/"), of: Item.self, by: .number()) }
  },
  Row(name: "a stream of n events") { count in
    let bytes = Data((0..<count).map { "id: \($0)\ndata: \(item)\n\n" }.joined().utf8)
    let network = network { _ in .chunks([bytes], headers: ["Content-Type": "text/event-stream"]) }
    return {
      var events = 0
      for try await _ in network.events(.get("/")).take(count).values { events += 1 }
      precondition(events == count)
    }
  },
  Row(name: "a call through n interceptors", most: 2048) { count in
    let pass = AsyncInterceptor { request, next in try await next(request) }
    let network = network(Array(repeating: pass, count: count)) { _ in .json(item) }
    return { _ = try await network.fetch(.get("/"), as: Item.self) }
  },
  Row(name: "n calls at the same time", least: 256) { count in
    return {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count { group.addTask { _ = try await stub.fetch(Numbered(number: number)) } }
        try await group.waitForAll()
      }
    }
  },
  Row(name: "n equal calls that share a request") { count in
    let network = network([CoalescingInterceptor()]) { _ in .json(item, after: .milliseconds(20)) }
    return {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<count { group.addTask { _ = try await network.fetch(Numbered(number: 1)) } }
        try await group.waitForAll()
      }
    }
  },
  Row(name: "n hosts that wait for a limit", least: 512, most: 1 << 15) { count in
    let network = network([LimitInterceptor(maxConcurrent: 4, maxPerHost: 2)]) { _ in .json(item) }
    return {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<count { group.addTask { try await network.fetch(.get("http://h\(number)/")) } }
        try await group.waitForAll()
      }
    }
  },
  Row(name: "cookies of n domains", most: 3000) { count in
    let jar = CookieJar()
    return { for number in 0..<count { try jar.insert(.init(name: "a", value: "1", domain: "h\(number).example")) } }
  },
  Row(name: "live queries of n endpoints, and a tag that invalidates all", least: 256, most: 1 << 14) { count in
    let network = network { _ in .json(item) }
    return {
      let total = Count()
      let bag = DisposeBag()
      for number in 0..<count {
        network.watch(Numbered(number: number)).filter { $0.value != nil && !$0.isFetching }.subscribe(onNext: { _ in
          total.next()
        }).disposed(by: bag)
      }
      try await waits { total.value >= count }
      network.invalidate(["all"])
      try await waits { total.value >= 2 * count }
    }
  },
  Row(name: "n watchers of one endpoint, which leave", least: 512, most: 1 << 16) { count in
    let network = network { _ in .json(item) }
    return {
      var watchers: [any Disposable] = []
      for _ in 0..<count { watchers.append(network.watch(Numbered(number: 1)).subscribe(onNext: { _ in })) }
      for watcher in watchers { watcher.dispose() }
    }
  },
  Row(name: "n tags that are invalidated while a query is watched") { count in
    let tags = Set((0..<count).map { CacheTag(rawValue: "tag \($0)") })
    let network = network { _ in .json(item) }
    let watcher = network.watch(Numbered(number: 1)).subscribe(onNext: { _ in })
    return {
      network.invalidate(tags)
      withExtendedLifetime(watcher) {}
    }
  },
  Row(name: "an outbox of n entries: send", least: 512, most: 1 << 14) { count in
    let outbox = try Outbox(
      storingIn: folder(), on: stub, reachability: Always(isOn: false),
      limits: .init(maxEntries: 1 << 20, maxSize: 1 << 30))
    outbox.start()
    return { for number in 0..<count { try outbox.send(.post("/", json: ["id": number])) } }
  },
  Row(name: "an outbox of n entries: start again, and send all", least: 256, most: 1 << 14) { count in
    let folder = try folder()
    let limits = Outbox.Limits(maxEntries: 1 << 20, maxSize: 1 << 30)
    let former = try Outbox(storingIn: folder, on: stub, reachability: Always(isOn: false), limits: limits)
    for number in 0..<count { try former.send(.post("/", json: ["id": number]), lane: number % 2 == 0 ? "lane" : nil) }
    return {
      let outbox = try Outbox(storingIn: folder, on: stub, reachability: Always(isOn: true), limits: limits)
      let sent = Count()
      let subscription = outbox.results.subscribe(onNext: { _ in sent.next() })
      outbox.start()
      try await waits { sent.value == count }
      subscription.dispose()
    }
  },
  Row(name: "a recorder of n calls", least: 256) { count in
    let network = network([Recorder()]) { _ in .json(item) }
    return { for _ in 0..<count { _ = try await network.fetch(Numbered(number: 1)) } }
  },
  Row(name: "a recording of n calls", least: 256, most: 1 << 14) { count in
    let file = try folder().appending(path: "calls.har")
    let transport = try RecordingTransport(StubTransport { _ in .json(item) }, to: file)
    let network = Network(Backend(baseURL: base, transport: transport))
    return { for _ in 0..<count { _ = try await network.fetch(Numbered(number: 1)) } }
  },
  Row(name: "an archive of n calls that is read", most: 1 << 15) { count in
    let file = try folder().appending(path: "calls.har")
    let recorder = Recorder(maxCalls: .max, maxSize: .max)
    let network = network([recorder]) { _ in .json(item) }
    for _ in 0..<count { _ = try await network.fetch(Numbered(number: 1)) }
    try recorder.write(to: file)
    return { _ = try StubTransport(har: file) }
  },
  Row(name: "a subject with n observers, which leave in order") { count in
    return {
      let subject = PublishSubject<Int>()
      let observers = (0..<count).map { _ in subject.subscribe(onNext: { _ in }) }
      subject.onNext(1)
      for observer in observers { observer.dispose() }
    }
  },
  Row(name: "merge, zip and concat of n streams", most: 1 << 18) { count in
    let streams = (0..<count).map { Observable.just($0) }
    return {
      Observable.merge(streams).subscribe(onNext: { _ in }).dispose()
      Observable.zip(streams).subscribe(onNext: { _ in }).dispose()
      Observable.concat(streams).subscribe(onNext: { _ in }).dispose()
    }
  },
]
