import PortableFoundation
import Streams

/// The calls of a recorder: a state machine without threads. It redacts what it keeps.
struct RecordedCalls {
  /// An event with its time. It must not retain a response, because releasing one cancels its stream.
  struct Noted: Sendable {
    let event: CallEvent
    let number: Int
    let request: Request
    let now: Date
    let uptime: Duration
    /// The source of a response.
    private(set) var origin = Response.Origin.network
    /// The number of bytes of a body, of which the event has only the start.
    private(set) var bodySize = 0
    /// Whether the request has a body that is not kept.
    let hidesBody: Bool

    init(_ event: CallEvent, number: Int, request: Request, at now: Date, uptime: Duration, keeping limit: Int) {
      (self.number, self.now, self.uptime) = (number, now, uptime)
      (self.request, hidesBody) = Self.bare(request, limit, event)
      switch event {
      case .received(let response, let sent):
        origin = response.origin
        bodySize = response.body.count
        self.event = .received(Self.bare(response, limit), from: sent)
      case .head(let response): self.event = .head(Self.bare(response, limit))
      case .finished(.success(let response)):
        bodySize = response.body.count
        self.event = .finished(.success(Self.bare(response, limit)))
      case .finished(.failure(let error)): self.event = .finished(.failure(Self.bare(error)))
      case .failed(let error): self.event = .failed(Self.bare(error))
      case .chunk(let chunk):
        bodySize = chunk.count
        self.event = .chunk(chunk.prefix(limit))
      default: self.event = event
      }
    }

    /// Returns the request with its body, if the event needs it. A body above the limit is not kept, because a part of it
    /// would match no request of a replay.
    private static func bare(_ request: Request, _ limit: Int, _ event: CallEvent) -> (Request, hidesBody: Bool) {
      var request = request
      let hidesBody = (request.body.byteCount ?? 0) > limit
      switch event {
      case .sent, .received: if hidesBody { request.body = .none }
      default: request.body = .none
      }
      return (request, hidesBody)
    }

    /// Returns the response without its context, which owns the body of a stream.
    private static func bare(_ response: Response, _ limit: Int) -> Response {
      var response = response
      response.context = Context()
      response.body = response.body.prefix(limit)
      return response
    }

    private static func bare(_ error: NetworkError) -> NetworkError {
      var bare = NetworkError(kind: error.kind, code: error.code, message: "", reason: error.reason)
      bare.metrics = error.metrics
      return bare
    }
  }

  /// The maximum number of messages or events of a stream, and of bytes of each.
  private static let (maxMessages, maxMessageSize) = (200, 4 << 10)

  let maxCalls: Int
  let maxSize: Int
  let maxBodySize: Int
  /// The recorder's redaction, and the same with the names of the backend of the current event.
  private let ownRedaction: Redaction
  private var redaction: Redaction
  private(set) var dropped = 0
  /// The number of changes and removals until now, and the last change of each call.
  private var revision = Recorder.Revision()
  private var revisions: [Int: Int] = [:]
  private var entries: [Int: Recorder.Entry] = [:]
  private var sizes: [Int: Int] = [:]
  private var size = 0

  init(maxCalls: Int, maxSize: Int, maxBodySize: Int, redaction: Redaction) {
    (self.maxCalls, self.maxSize, self.maxBodySize) = (maxCalls, maxSize, maxBodySize)
    (ownRedaction, self.redaction) = (redaction, redaction)
  }

  /// The calls, the oldest first.
  var all: [Recorder.Entry] { entries.values.sorted { $0.number < $1.number } }

  /// Returns the calls that have changed after a revision, the oldest first.
  func changes(since last: Recorder.Revision) -> Recorder.Changes {
    var changes = Recorder.Changes(revision: revision, entries: [], numbers: nil, dropped: dropped)
    if revision.changes > last.changes {
      changes.entries = revisions.filter { $0.value > last.changes }.keys.sorted().compactMap { entries[$0] }
    }
    if revision.removals > last.removals { changes.numbers = Set(revisions.keys) }
    return changes
  }

  subscript(number: Int) -> Recorder.Entry? { entries[number] }

  /// Counts calls that were not recorded.
  mutating func skip(_ count: Int) {
    guard count > 0 else { return }
    dropped += count
    revision.removals += 1
  }

  /// Removes the calls that have ended.
  mutating func clear() {
    for (number, entry) in entries where entry.state != .open { remove(number) }
    dropped = 0
  }

  /// Applies an event. Events of a dropped call have no effect.
  mutating func apply(_ noted: Noted) {
    if !ownRedaction.hidesNothing { redaction = ownRedaction.hiding(noted.request.options.redaction) }
    if case .started(let endpoint) = noted.event {
      var entry = Recorder.Entry(
        number: noted.number, request: noted.request, at: noted.now, uptime: noted.uptime, redaction: redaction)
      entry.endpoint = endpoint
      return store(entry)
    }
    guard var entry = entries[noted.number] else { return }
    change(&entry, noted)
    store(entry)
  }

  private func change(_ entry: inout Recorder.Entry, _ noted: Noted) {
    switch noted.event {
    case .started: break
    case .sent: send(&entry, noted)
    case .head(let response): entry.change { open(&$0, response) }
    case .chunk(let chunk): entry.change { add(chunk, noted.bodySize, to: &$0) }
    case .message(let message, let isSent): entry.change { add(message, isSent, noted, to: &$0) }
    case .event(let id, let name, let data):
      entry.change { attempt in
        let event = HAREntry.Event(
          time: noted.now.timeIntervalSince1970, name: start(of: name), id: start(of: id), data: start(of: data))
        attempt.archived.events = attempt.archived.events.suffix(Self.maxMessages - 1) + [event]
        attempt.archived.resourceType = "eventsource"
      }
    case .finished(let result): finish(&entry, result, noted)
    case .closed(let result):
      entry.change { end(&$0, noted) }
      if case .failure(let error) = result { entry.change { $0.failure = failure(error) } }
      end(&entry, (try? result.get()) == nil ? .failed : .done, noted)
    case .pause(let pause): entry.pause = pause
    case .received(let response, let sent): receive(&entry, response, sent, noted)
    case .decoded(let time): entry.decoding = (entry.decoding ?? .zero) + time
    case .failed(let error):
      entry.failure = failure(error)
      end(&entry, error.kind == .cancelled ? .cancelled : .failed, noted)
    case .cancelled: if entry.state == .open { end(&entry, .cancelled, noted) }
    }
  }

  // MARK: Attempts

  private func send(_ entry: inout Recorder.Entry, _ noted: Noted) {
    var archived = HAREntry(
      noted.request, .success(Response(request: noted.request, status: 0)), started: noted.now, redaction: redaction)
    if noted.hidesBody { archived.requestBody = .unknown }
    entry.attempts.append(
      Recorder.Entry.Attempt(archived, begin: noted.uptime, pause: entry.pause.take()))
  }

  private func open(_ attempt: inout Recorder.Entry.Attempt, _ response: Response) {
    attempt.streamed = Data()
    attempt.isSocket = response.status == 101
    if attempt.isSocket { attempt.archived.resourceType = "websocket" }
    attempt.archived.status = response.status
    attempt.archived.responseHeaders = redaction.redacted(response.headers)
  }

  private func add(_ chunk: Data, _ count: Int, to attempt: inout Recorder.Entry.Attempt) {
    attempt.bodySize += count
    let room = maxBodySize - (attempt.streamed?.count ?? 0)
    if room > 0 { attempt.streamed?.append(chunk.prefix(room)) }
  }

  private func add(
    _ message: WebSocketMessage, _ isSent: Bool, _ noted: Noted, to attempt: inout Recorder.Entry.Attempt
  ) {
    let (opcode, data) =
      switch message {
      case .text(let text): (1, start(of: text))
      case .binary(let bytes):
        (2, redaction.binaryMessage(bytes, limit: Self.maxMessageSize)?.base64EncodedString() ?? "")
      }
    let archived = HAREntry.Message(
      isSent: isSent, time: noted.now.timeIntervalSince1970, opcode: opcode, data: data)
    attempt.archived.messages = attempt.archived.messages.suffix(Self.maxMessages - 1) + [archived]
  }

  private func finish(_ entry: inout Recorder.Entry, _ result: Result<Response, NetworkError>, _ noted: Noted) {
    entry.change { attempt in
      let isStreamed = attempt.streamed != nil
      switch result {
      case .success(var response):
        if let streamed = attempt.streamed { response.body = streamed } else { attempt.bodySize = noted.bodySize }
        fill(&attempt, noted.request, response)
      case .failure(let error):
        attempt.failure = failure(error)
        attempt.metrics = error.metrics
        guard isStreamed else {
          let kept = attempt.archived
          attempt.archived = HAREntry(
            noted.request, .failure(error), started: attempt.started, redaction: redaction)
          attempt.archived.requestBody = kept.requestBody
          break
        }
        setBody(&attempt, attempt.streamed ?? Data())
      }
      attempt.streamed = nil
      end(&attempt, noted)
      guard isStreamed else { return }
      attempt.archived.failure = attempt.failure.map(\.archived)
    }
    // The result of a streamed call was its head.
    guard entry.duration == nil, entry.attempts.last?.archived.status != 0, entry.hasResult else { return }
    guard case .failure(let error) = result else { return end(&entry, .done, noted) }
    entry.failure = failure(error)
    end(&entry, error.kind == .cancelled ? .cancelled : .failed, noted)
  }

  /// Fills an attempt with its complete response, and with the redirects before it.
  private func fill(_ attempt: inout Recorder.Entry.Attempt, _ request: Request, _ response: Response) {
    let kept = attempt.archived
    var head = response
    head.body = Data()
    var all = HAREntry.entries(of: request, .success(head), started: attempt.started, redaction: redaction)
    attempt.metrics = response.metrics
    guard var last = all.popLast() else { return }
    last.responseHeaders = redaction.redacted(response.headers)
    last.requestBody = kept.requestBody
    (last.events, last.resourceType) = (kept.events, kept.resourceType)
    (attempt.archived, attempt.redirects) = (last, all)
    setBody(&attempt, response.body)
  }

  private func receive(_ entry: inout Recorder.Entry, _ response: Response, _ sent: Int, _ noted: Noted) {
    entry.hasResult = true
    if sent != 0, sent != entry.number { entry.shared = sent }
    switch noted.origin.kind {
    case .cache: entry.cache = noted.origin.isStale ? "stale" : "hit"
    case .revalidated: entry.cache = "revalidated"
    default: entry.cache = nil
    }
    if entry.attempts.isEmpty {
      send(&entry, noted)
      entry.change { attempt in
        attempt.bodySize = noted.bodySize
        fill(&attempt, noted.request, response)
        end(&attempt, noted)
      }
    }
    if entry.attempts.last?.streamed == nil { end(&entry, .done, noted) }
  }

  private func end(_ attempt: inout Recorder.Entry.Attempt, _ noted: Noted) {
    attempt.duration = noted.uptime - attempt.begin
    if attempt.metrics == nil {
      attempt.archived.time = (noted.uptime - attempt.begin).milliseconds
      attempt.archived.timings.wait = attempt.archived.time
    }
  }

  private func end(_ entry: inout Recorder.Entry, _ state: Recorder.Entry.State, _ noted: Noted) {
    entry.state = state
    entry.duration = noted.uptime - entry.begin
  }

  private func failure(_ error: NetworkError) -> Recorder.Entry.Failure {
    Recorder.Entry.Failure(kind: error.kind, code: error.code, reason: redaction.redacted(error.reason))
  }

  // MARK: Bodies

  /// Keeps the start of a body, without its secrets. Those of a body that is neither UTF-8 nor binary can't be found.
  private func setBody(_ attempt: inout Recorder.Entry.Attempt, _ bytes: Data) {
    var body = Data(bytes.prefix(maxBodySize))
    let isWhole = attempt.bodySize <= body.count
    if !isWhole { body.removeLast(body.unfinishedScalar) }
    if String(validating: body, as: UTF8.self) != nil, !body.contains(0) {
      body = Data(redaction.bytes(body, isCut: !isWhole))
    } else if Self.isBinary(attempt.archived.responseHeaders["Content-Type"]) {
      body = redaction.binaryBody(body, isCut: !isWhole) ?? Data()
    } else {
      body = Data()
    }
    attempt.archived.body = body
    attempt.archived.fullCount = isWhole && !(body.isEmpty && !bytes.isEmpty) ? nil : attempt.bodySize
  }

  private static func isBinary(_ type: String?) -> Bool {
    let type = MediaType(type ?? "").essence
    return type.hasPrefix("image/") || type.hasPrefix("font/") || type == "application/octet-stream"
  }

  /// Returns the start of a text of a stream, without secrets.
  private func start(of text: String) -> String { redaction.start(of: text, limit: Self.maxMessageSize) }

  // MARK: Limits

  private mutating func store(_ entry: Recorder.Entry) {
    revision.changes += 1
    revisions[entry.number] = revision.changes
    let new = entry.size
    size += new - (sizes[entry.number] ?? 0)
    (entries[entry.number], sizes[entry.number]) = (entry, new)
    guard entries.count > maxCalls || size > maxSize else { return }
    for number in entries.keys.sorted() where entries[number]?.state != .open {
      guard entries.count > maxCalls || size > maxSize else { return }
      remove(number)
      dropped += 1
    }
  }

  private mutating func remove(_ number: Int) {
    entries[number] = nil
    revisions[number] = nil
    revision.removals += 1
    size -= sizes.removeValue(forKey: number) ?? 0
  }
}

extension Recorder.Entry {
  /// Changes the last attempt.
  fileprivate mutating func change(_ body: (inout Attempt) -> Void) {
    guard !attempts.isEmpty else { return }
    body(&attempts[attempts.count - 1])
  }
}

extension Recorder.Entry.Failure {
  fileprivate var archived: HAREntry.Failure { HAREntry.Failure(kind: kind.rawValue, code: code, reason: reason) }
}
