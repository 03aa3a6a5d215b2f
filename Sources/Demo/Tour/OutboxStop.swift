import NetLayerOffline
import PortableFoundation
import Streams

/// A note that is made without a network, and whose first response is lost.
struct OutboxStop: Sendable {
  let network: Network

  var lines: Observable<String> {
    Single.from { try await play() }.asObservable().flatMap { Observable.from($0) }
  }

  private func play() async throws -> [String] {
    let directory = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let retry = RetryPolicy(attempts: 20, initialDelay: .milliseconds(50))
    var outbox = try Outbox(storingIn: directory, on: network, reachability: SwitchedNetwork(isOn: false), retry: retry)
    outbox.start()
    try outbox.send(AddNote(text: "tea"), lane: "notes")
    try outbox.send(AddNote(text: "milk"), lane: "notes")
    let waiting = try await outbox.pending.filter { $0.first?.state == .waitingForNetwork }.first().value
    let states = (waiting ?? []).map { "\($0.endpoint(as: AddNote.self)?.text ?? "") (\($0.state))" }
    var lines = ["without a network, \(states.joined(separator: " and ")) are on disk"]

    // The same directory in a later run of the app, with a network.
    outbox = try Outbox(storingIn: directory, on: network, reachability: SwitchedNetwork(isOn: true), retry: retry)
    let results = ReplaySubject<Outbox.EndpointOutcome<AddNote>>.create(bufferSize: 2)
    let subscription = outbox.results(of: AddNote.self).subscribe(results)
    defer { subscription.dispose() }
    outbox.start()
    for outcome in try await results.take(2).toArray().value {
      let requests = try outcome.result.get().requests
      lines.append("\(outcome.endpoint.text) is saved once, with \(requests) \(requests == 1 ? "request" : "requests")")
    }
    return lines
  }

  private struct SwitchedNetwork: Reachability {
    let isOn: Bool
    var isReachable: Observable<Bool> { .just(isOn).concat(.never()) }
  }
}

struct AddNote: Endpoint, Codable {
  struct Saved: Decodable, Sendable {
    var requests: Int
  }

  typealias Output = Saved
  let text: String
  var path: String { "/notes" }
  var method: HTTPMethod { .post }
  var task: HTTPTask { .json(["text": text]) }
}
