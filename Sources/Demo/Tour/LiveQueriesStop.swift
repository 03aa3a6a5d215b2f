import NetLayerQueries
import PortableFoundation
import Streams

/// Two screens that watch the same data: an edit, an edit that the server rejects, and a push.
struct LiveQueriesStop: Sendable {
  let network: Network

  var lines: Observable<String> {
    Single.from { try await play() }.asObservable().flatMap { Observable.from($0) }
  }

  private func play() async throws -> [String] {
    let list = network.watch(Stories())
    let total = network.watch(Stories()).map { snapshot in snapshot.value?.map(\.likes).reduce(0, +) }
    var screens = Observable.combineLatest(list, total) { Screens(list: $0, total: $1) }.values.makeAsyncIterator()
    var lines: [String] = []

    // The server keeps the likes of earlier tours.
    let start = try await Self.next(&screens) { $0.total != nil }
    let before = start.total ?? 0
    lines.append("two screens show \(start.text)")

    async let liked: NoContent = network.fetch(LikeStory(id: 1), editing: Stories()) { $0.like(1) }
    let edited = try await Self.next(&screens) { $0.list.isEdited && $0.total == before + 1 }
    lines.append("an edit shows \(edited.text) before the server has responded")
    _ = try await liked

    async let rejected: NoContent = network.fetch(LikeStory(id: 2), editing: Stories()) { $0.like(2) }
    _ = try await Self.next(&screens) { $0.list.isEdited && $0.total == before + 2 }
    do {
      _ = try await rejected
    } catch let error as NetworkError {
      let former = try await Self.next(&screens) { !$0.list.isEdited && $0.total == before + 1 }
      lines.append("an edit that the server rejects with \(error.code) disappears: \(former.text)")
    }

    let changes = network.events(.get("/changes")).take(1)
      .subscribe(onNext: { [network] in network.invalidate([CacheTag(rawValue: $0.event)]) }, onError: { _ in })
    defer { changes.dispose() }
    let pushed = try await Self.next(&screens) { $0.total == before + 11 }
    lines.append("a push of the server updates both: \(pushed.text)")
    return lines
  }

  private static func next(
    _ screens: inout ObservableValues<Screens>.AsyncIterator, where condition: (Screens) -> Bool
  ) async throws -> Screens {
    while let screens = try await screens.next() {
      if condition(screens), screens.isConsistent { return screens }
    }
    throw StreamError.noElements
  }

  private struct Screens: Sendable {
    var list: Snapshot<[Story]>
    var total: Int?

    var isConsistent: Bool { list.value?.map(\.likes).reduce(0, +) == total }
    var text: String {
      let stories = list.value?.map { "\($0.title) \($0.likes)" }.joined(separator: ", ") ?? ""
      return "\(stories) | total \(total ?? 0)"
    }
  }
}

struct Story: Decodable, Sendable {
  var id: Int
  var title: String
  var likes: Int
}

extension [Story] {
  mutating func like(_ id: Int) {
    for index in indices where self[index].id == id { self[index].likes += 1 }
  }
}

struct Stories: Endpoint {
  typealias Output = [Story]
  var path: String { "/stories" }
  var tags: Set<CacheTag> { ["stories"] }
}

struct LikeStory: Endpoint {
  typealias Output = NoContent
  let id: Int
  var path: String { "/stories/\(id)/like" }
  var method: HTTPMethod { .post }
}
