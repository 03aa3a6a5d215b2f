import Foundation
import Races

@testable import NetLayer
@testable import NetLayerOffline

/// A file, a disk, a server with faults, and an app that uploads until it knows the outcome. The rules that it checks
/// follow from the guide to uploads, not from the code of the state machine.
///
/// The server remembers from which version of the file each byte came, so that a mixed, double or forged upload is
/// visible.
struct UploadWorld {
  private struct Resource {
    let operation: Int
    let version: Int
    let length: Int64
    var offset: Int64 = 0
    var versions: Set<Int> = []
    var isComplete = false
  }

  /// A request to append that a connection carries.
  private struct Patch {
    let url: URL
    let from: Int64
    let count: Int64
    /// The number of bytes that the client has given to the connection.
    var given: Int64
    let version: Int
    let isLast: Bool
  }

  private enum Request { case create, ask, patch(Patch) }
  private struct Killed: Error {}

  private var generator: SplitMix64
  private let method: UploadProtocol
  private let size: Int64
  // The habits of the server.
  private let lies, discards, removesComplete, forgets, deletes, omitsOffset, rejects: Bool
  private let maxAppend: Int64
  private let statesLimit: Bool

  private var resources: [URL: Resource] = [:]
  private var late: [Patch] = []
  private var completions: [String: Int] = [:]
  private var disk: UploadState.Note?
  private var version = 1
  private var operation = 1
  private var machine: UploadState?
  private var machineVersion = 1
  private var request: Request?
  private var isPausing = false
  private var step = 0
  /// Whether a request to append has ended without a statement of the server since.
  private var isUnsure = false
  private var requestsOfRun = 0
  private var isDone = false
  private(set) var failure: String?
  private(set) var requests = 0
  private(set) var results = 0
  private(set) var unknowns = 0
  private let isTraced: Bool

  private static let calm = 250
  private static let end = 900

  init(seed: UInt64, isTraced: Bool = false) {
    var generator = SplitMix64(seed: seed)
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    self.isTraced = isTraced
    method = chance(50) ? .tus : .ietf()
    let sizes: [Int64] = [0, 1, 70_000, 262_144, 1_000_000, 3_000_000]
    size = sizes.randomElement(using: &generator) ?? 1
    lies = chance(12)
    discards = chance(25)
    removesComplete = chance(30)
    forgets = chance(25)
    deletes = chance(70)
    omitsOffset = chance(20)
    rejects = chance(10)
    maxAppend = chance(25) ? 300_000 : .max
    statesLimit = chance(50)
    self.generator = generator
  }

  mutating func run() {
    while failure == nil, !isDone {
      step += 1
      if step > Self.end { return fail("no end after \(step) steps") }
      do {
        try advance()
      } catch {
        note("killed")
        (machine, request, isPausing) = (nil, nil, false)
      }
    }
    for (key, count) in completions where count > 1 { fail("\(count) complete uploads of \(key)") }
  }

  private var isCalm: Bool { step > Self.calm }
  private mutating func chance(_ percent: Int) -> Bool {
    !isCalm && Int.random(in: 0..<100, using: &generator) < percent
  }
  private mutating func number(_ limit: Int64) -> Int64 {
    limit <= 0 ? 0 : Int64.random(in: 0...limit, using: &generator)
  }
  private mutating func fail(_ text: String) { failure = failure ?? text }
  private func note(_ text: @autoclosure () -> String) { if isTraced { print("  \(step): \(text())") } }

  private mutating func advance() throws {
    if !late.isEmpty, isCalm || chance(30) { _ = append(late.removeFirst()) }
    if chance(1) {
      version += 1
      note("file changes")
    }
    if chance(3) { throw Killed() }
    if machine == nil { return try start() }
    if chance(1), let request {
      if case .patch(let patch) = request, patch.count > 0 { late.append(cut(patch)) }
      (self.request, isUnsure) = (nil, true)
      return try handle(.refused)
    }
    if isPausing {
      isPausing = false
      return try handle(.resumed)
    }
    guard let request else { return fail("nothing in flight") }
    self.request = nil
    switch request {
    case .create: try resolveCreate()
    case .ask: try resolveAsk()
    case .patch(let patch): try resolve(patch)
    }
  }

  private mutating func start() throws {
    (machineVersion, requestsOfRun, isUnsure) = (version, 0, true)
    machine = UploadState(method, file: file(version), attempts: 8)
    note("start with \(disk.map { "\($0)" } ?? "no note")")
    try handle(.start(disk))
  }

  private func file(_ version: Int) -> FileVersion {
    FileVersion(size: size, changed: Int64(version), start: "", end: "")
  }

  // MARK: The client

  private mutating func handle(_ event: UploadState.Event) throws {
    guard var state = machine else { return }
    let actions = state.handle(event)
    machine = state
    note("\(event) -> \(actions)")
    try perform(actions)
  }

  private mutating func perform(_ actions: [UploadState.Action]) throws {
    for action in actions {
      if chance(1) { throw Killed() }
      switch action {
      case .save(let new):
        if chance(2) {
          let others = machine?.handle(.unsaved) ?? []
          note("unsaved -> \(others)")
          if others.isEmpty { continue }
          return try perform(others)
        }
        disk = new
      case .forget: disk = nil
      case .release, .show: break
      case .create: begin(.create)
      case .ask: begin(.ask)
      case .send(let from, let count):
        if isUnsure { fail("sent without asking") }
        guard let disk, disk.url == machine?.note?.url else { return fail("sent without a note on disk") }
        if from < 0 || count < 0 || from + count > size { fail("sent bytes \(from)+\(count) of \(size)") }
        begin(
          .patch(
            Patch(
              url: disk.url, from: from, count: count, given: 0, version: machineVersion, isLast: from + count == size))
        )
      case .stop: request = nil
      case .terminate(let url): delete(url)
      case .pause: isPausing = true
      case .finish: try finish()
      case .fail(let failure): ended(failure)
      }
    }
  }

  private mutating func begin(_ new: Request) {
    if request != nil || isPausing { fail("two requests in flight") }
    request = new
    requests += 1
    requestsOfRun += 1
    if requestsOfRun > 300 { fail("more than 300 requests in one run") }
  }

  private mutating func finish() throws {
    let key = "\(operation) v\(machineVersion)"
    // The response may be too large for the note, or the disk full.
    if chance(60), var note = machine?.note {
      note.response = UploadState.Finished(url: note.url, status: 204, headers: [], body: Data())
      disk = note
    }
    if chance(10) { throw Killed() }
    if !lies, completions[key] == nil { fail("a result of \(key), which is not complete") }
    results += 1
    note("result")
    // A process that is killed between result and forgetting delivers it again.
    if chance(20) { throw Killed() }
    disk = nil
    machine = nil
    if isCalm || chance(50) { isDone = true } else { operation += 1 }
  }

  private mutating func ended(_ reason: UploadState.Failure) {
    if request != nil || isPausing { fail("an end with a request in flight") }
    machine = nil
    switch reason {
    case .unknownOutcome:
      unknowns += 1
      if disk?.isEnding != true { fail("an unknown outcome of an upload that was not ending") }
      // The app deletes the upload, and uploads again.
      if let disk { delete(disk.url) }
      disk = nil
      operation += 1
      if isCalm { isDone = true }
    case .response where rejects && method == .ietf() && disk == nil: operation += 1
    case .exhausted, .response, .note, .changedFile: break
    case .offset: if !lies { fail("an impossible offset") }
    case .notSupported, .incomplete, .refusedLocation, .tooLarge: fail("\(reason)")
    }
    // A server that lies or rejects need not let the upload end.
    if isCalm, lies || rejects { isDone = true }
  }

  // MARK: The network and the server

  private mutating func delete(_ url: URL) {
    if deletes, !chance(20) { resources[url] = nil }
  }

  private mutating func status() -> Int? {
    chance(6) ? [423, 429, 500, 503, 408].randomElement(using: &generator) : nil
  }

  private mutating func resolveCreate() throws {
    if chance(10) { return try handle(.lost) }
    if let status = status() { return try handle(.reply(.init(status: status))) }
    guard let url = URL(string: "http://h/\(requests)") else { return }
    resources[url] = Resource(operation: operation, version: machineVersion, length: size)
    if method == .tus, size == 0 { complete(url) }
    if chance(10) { return try lost() }
    isUnsure = false
    var reply = UploadState.Reply(status: 201, location: url)
    if statesLimit, method == .ietf(), maxAppend < .max { reply.maxAppend = maxAppend }
    try handle(.reply(reply))
  }

  private mutating func resolveAsk() throws {
    if chance(10) { return try handle(.lost) }
    if let status = status() { return try handle(.reply(.init(status: status))) }
    guard let url = machine?.note?.url else { return fail("asked without a note") }
    if forgets, chance(5), resources[url]?.isComplete == false { resources[url] = nil }
    guard let resource = resources[url] else { return try handle(.reply(.init(status: 404))) }
    if chance(10) { return try handle(.lost) }
    var reply = UploadState.Reply(status: 204, offset: resource.offset)
    if method == .ietf() { reply.isComplete = resource.isComplete }
    if lies, chance(30) { reply.offset = number(2 * size) }
    if chance(2) { (reply.offset, reply.isComplete) = (nil, nil) } else { isUnsure = false }
    try handle(.reply(reply))
  }

  private mutating func resolve(_ patch: Patch) throws {
    var patch = patch
    isUnsure = true
    // Everything but the last chunk of the file.
    patch.given = patch.isLast ? max(0, patch.count - 65_536) : patch.count
    if version != machineVersion, patch.isLast || chance(50) {
      if patch.count > 0 { _ = append(cut(patch)) }
      return try handle(.changed)
    }
    if patch.count > 0, chance(12) { return try end(patch) }
    if patch.isLast {
      try handle(.lastChunk)
      guard machine != nil else { return }
      if disk?.isEnding != true { return fail("the last byte left before the note said so") }
      patch.given = patch.count
    }
    if chance(25) { return try end(patch) }
    if let status = status() { return try handle(.reply(.init(status: status))) }
    if patch.count > maxAppend {
      var reply = UploadState.Reply(status: 413)
      if statesLimit, method == .ietf() { reply.maxAppend = maxAppend }
      isUnsure = true
      return try handle(.reply(reply))
    }
    let reply = append(patch)
    if chance(8) { return try lost() }
    if reply.isSuccess { isUnsure = false }
    try handle(.reply(reply))
  }

  private mutating func lost() throws {
    isUnsure = true
    try handle(.lost)
  }

  /// The connection of a request is cut: the server has nothing, a part, or receives the bytes later.
  private mutating func end(_ patch: Patch) throws {
    switch number(2) {
    case 0: break
    case 1: _ = append(cut(patch))
    default: late.append(chance(50) ? patch : cut(patch))
    }
    try lost()
  }

  private mutating func cut(_ patch: Patch) -> Patch {
    var patch = patch
    patch.given = min(number(patch.count), patch.given)
    return patch
  }

  private mutating func append(_ patch: Patch) -> UploadState.Reply {
    guard var resource = resources[patch.url] else { return .init(status: 404) }
    guard !resource.isComplete else { return .init(status: chance(50) ? 403 : 409) }
    guard resource.offset == patch.from else { return .init(status: 409) }
    let isWhole = patch.given == patch.count
    if patch.given > 0, isWhole || !discards {
      resource.offset += patch.given
      resource.versions.insert(patch.version)
    }
    resources[patch.url] = resource
    var reply = UploadState.Reply(status: 204, offset: resource.offset)
    let isComplete = method == .tus ? resource.offset == size : isWhole && patch.isLast
    if isComplete {
      complete(patch.url)
      if method == .ietf() { reply = .init(status: rejects ? 422 : 200, isComplete: true) }
    } else if method == .ietf() {
      reply.isComplete = chance(50) ? nil : false
      if omitsOffset { reply.offset = nil }
    }
    if omitsOffset, chance(20) { (reply.offset, reply.isComplete) = (nil, nil) }
    if lies, chance(20) { reply.offset = number(2 * size) }
    return reply
  }

  private mutating func complete(_ url: URL) {
    guard var resource = resources[url] else { return }
    resource.isComplete = true
    resources[url] = removesComplete ? nil : resource
    let key = "\(resource.operation) v\(resource.version)"
    // The app may upload again what the server has rejected. Nobody can know that an empty upload is complete whose
    // response is lost.
    let mayRepeat = method == .ietf() ? rejects : size == 0
    completions[key] = mayRepeat ? 1 : (completions[key] ?? 0) + 1
    if resource.offset != size || !resource.versions.isSubset(of: [resource.version]) {
      fail("complete with \(resource.offset) of \(size) bytes, of versions \(resource.versions)")
    }
  }
}
