import PortableFoundation

/// The rules of one upload that resumes, without I/O and time (tus 1.0; draft-ietf-httpbis-resumable-upload-11).
///
/// Three rules make it correct. No byte leaves before the upload's URL is on disk. After a request without a response,
/// the server is asked for its offset before anything is sent. The note says that the upload `isEnding` before the last
/// chunk leaves, so that a missing upload is then an unknown outcome, and never a second upload.
struct UploadState: Sendable {
  /// The stored part of the state.
  struct Note: Sendable, Equatable, Codable {
    var url: URL
    /// The version of the file that is uploaded.
    var file: FileVersion
    /// Whether the last byte may have left.
    var isEnding = false
    /// The response to the complete upload, until its subscriber has it; `nil` before, and for one that is too large.
    var response: Finished?
    /// The digest of the secrets with which `response` was received.
    var secrets: String?

    init(url: URL, file: FileVersion, isEnding: Bool = false) {
      (self.url, self.file, self.isEnding) = (url, file, isEnding)
    }
  }

  struct Finished: Sendable, Equatable, Codable {
    /// The maximum number of bytes of a body that is stored.
    static let maxBody = 16 << 10

    var url: URL
    var status: Int
    var headers: [[String]]
    var body: Data
  }

  struct Reply: Sendable, Equatable {
    var status: Int
    /// The URL of the upload; `nil` if there is none, or none that may be used.
    var location: URL?
    /// The reason why `location` may not be used.
    var refusal: String?
    var offset: Int64?
    /// Whether the server has the whole upload; `nil` if it does not say so, which is always the case with tus.
    var isComplete: Bool?
    /// The limits of the whole upload and of one request in bytes.
    var maxSize: Int64?
    var maxAppend: Int64?
    var minAppend: Int64?

    var isSuccess: Bool { (200...299).contains(status) }
    var isMissing: Bool { status == 404 || status == 410 }
    /// Whether another request with the same credentials would fail, too. 401 asks for others.
    var isFinal: Bool { (400..<500).contains(status) && status != 401 && !isTransient }
    /// Whether a later request may succeed.
    var isTransient: Bool { Response.isPassing(status) || status == 423 }
  }

  enum Event: Sendable {
    /// The start, with the note of an earlier run.
    case start(Note?)
    /// The response to the request in flight.
    case reply(Reply)
    /// The request in flight has ended without a response, and a later one may succeed.
    case lost
    /// The request was rejected here, and a later one may succeed.
    case unsent
    /// The request in flight can't succeed, or a later one is not wanted.
    case refused
    /// The last chunk of the file is in memory, and the file has not changed since the start.
    case lastChunk
    /// The file has changed since the start.
    case changed
    case resumed
    /// The note could not be written. Without an action in response, the upload has ended and does not need it.
    case unsaved
  }

  enum Action: Sendable, Equatable {
    case save(Note)
    case forget
    case create, ask
    case send(from: Int64, count: Int64)
    /// Give the last chunk to the connection.
    case release
    /// Cancel the request in flight.
    case stop
    /// Ask the server to delete an upload, without waiting for it.
    case terminate(URL)
    /// Pause after this number of failures without progress.
    case pause(failures: Int)
    /// Show that the server has this number of bytes.
    case show(Int64)
    /// Deliver the response as the result, then forget the note.
    case finish
    case fail(Failure)
  }

  enum Failure: Sendable, Equatable {
    /// The response, or the error without a response, is the error.
    case response
    case notSupported, refusedLocation(String), offset(Int64), incomplete, exhausted, unknownOutcome
    case tooLarge(limit: Int64), changedFile, note
  }

  private enum Phase: Equatable { case idle, creating, asking, sending, pausing, ended }

  /// The smallest request that the client chooses by itself, 256 KB: a server without memory of cut requests must get
  /// something done.
  static let minChunk: Int64 = 256 << 10

  /// The smallest request after several rejections of larger ones, 4 KB.
  private static let smallestRequest: Int64 = 4 << 10

  /// Rounds a size down to a multiple of 256 KB if it is larger: many storage services accept no others.
  private static func rounded(_ count: Int64) -> Int64 { count < minChunk ? count : count / minChunk * minChunk }

  private let method: UploadProtocol
  private let file: FileVersion
  /// The maximum number of attempts without progress.
  private let attempts: Int
  private var phase = Phase.idle
  private(set) var note: Note?
  /// The number of failures since the last progress.
  private var failures = 0
  /// The highest offset that the server has stated. A new upload does not reset it: a server that forgets makes no
  /// progress.
  private var confirmed: Int64 = 0
  /// The maximum number of bytes of a request that the server accepts, and the minimum.
  private var limit: Int64
  private var least: Int64 = 0
  /// The number of bytes of a request that the connection carries.
  private var chunk = Int64.max
  /// The request that is or was in flight, until the server has stated its offset.
  private var sent: (from: Int64, count: Int64) = (0, 0)
  /// Whether bytes are appended with POST, because PATCH is refused.
  private(set) var replacesPatch = false
  /// Whether the last request to send has ended without a response.
  private var isCut = false

  /// - Parameters:
  ///   - limit: The maximum number of bytes of a request.
  ///   - size: The number of bytes of every request but the last; `nil` if the server accepts any.
  init(_ method: UploadProtocol, file: FileVersion, attempts: Int, limit: Int64 = .max, size: Int64? = nil) {
    (self.method, self.file, self.attempts) = (method, file, attempts)
    self.limit = min(limit, size ?? .max)
    least = min(limit, size ?? 0)
  }

  private var size: Int64 { file.size }

  /// Changes the state, and returns the actions to carry out, in this order.
  mutating func handle(_ event: Event) -> [Action] {
    switch (event, phase) {
    case (_, .ended): return []
    case (.start(let stored), _): return start(stored)
    case (.resumed, .pausing): return note == nil ? create() : ask()
    case (.reply(let reply), .creating): return created(reply)
    case (.reply(let reply), .asking): return asked(reply)
    case (.reply(let reply), .sending): return accepted(reply)
    case (.lost, .creating), (.lost, .asking), (.unsent, .creating), (.unsent, .asking), (.unsent, .sending):
      return pause()
    case (.lost, .sending):
      isCut = true
      return pause()
    case (.refused, _): return end(.fail(.response))
    case (.lastChunk, .sending): return ending()
    case (.changed, .sending): return [.stop] + abandon(.changedFile, deletes: note?.isEnding != true)
    case (.unsaved, _): return [.stop] + abandon(.note)
    default: return []
    }
  }

  private mutating func start(_ stored: Note?) -> [Action] {
    guard let stored else { return create() }
    note = stored
    guard stored.file == file else {
      note = nil
      // An upload of the previous version that may be complete is not deleted.
      return (stored.isEnding ? [] : [.terminate(stored.url)]) + [.forget] + create()
    }
    // The process has ended before its subscriber had the result.
    if stored.response != nil { return finish() }
    return ask()
  }

  private mutating func create() -> [Action] {
    phase = .creating
    return [.create]
  }

  private mutating func ask() -> [Action] {
    phase = .asking
    return [.ask]
  }

  private mutating func created(_ reply: Reply) -> [Action] {
    guard reply.isSuccess else { return reply.isTransient ? pause() : end(.fail(.response)) }
    if let refusal = reply.refusal { return end(.fail(.refusedLocation(refusal))) }
    guard let url = reply.location else { return end(.fail(.notSupported)) }
    // An empty upload is complete when it is created (tus, creation).
    let isComplete = method.isTus && size == 0
    let new = Note(url: url, file: file, isEnding: isComplete)
    note = new
    if let failure = learn(reply) { return abandon(failure) }
    if isComplete { return [.save(new)] + finish() }
    return [.save(new), .show(0)] + send(from: 0)
  }

  private mutating func asked(_ reply: Reply) -> [Action] {
    if reply.isMissing { return missing() }
    guard reply.isSuccess else { return reply.isTransient ? pause() : end(.fail(.response)) }
    if reply.isComplete == true { return completed() }
    if let failure = learn(reply) { return abandon(failure) }
    // A response without an offset comes from something between the client and the server.
    guard let offset = reply.offset else { return pause() }
    return follow(offset)
  }

  private mutating func accepted(_ reply: Reply) -> [Action] {
    // A gateway may discard what it has received, too.
    isCut = reply.status == 408 || reply.status >= 500
    // The response of the target, also an error of it (draft, upload append).
    if reply.isComplete == true { return reply.isSuccess ? completed() : [.forget] + end(.fail(.response)) }
    if reply.isMissing { return missing() }
    if reply.status == 413 { return shrink(reply) }
    // Something between the client and the server may refuse PATCH (tus 1.0, X-HTTP-Method-Override).
    if reply.status == 405, method.isTus, !replacesPatch {
      replacesPatch = true
      return ask()
    }
    if [409, 460].contains(reply.status) || reply.isTransient { return pause() }
    guard reply.isSuccess else { return end(.fail(.response)) }
    if let failure = learn(reply) { return abandon(failure) }
    let all: Int64? = sent.from + sent.count
    // Only its own field says that an upload of the draft is complete. A server that omits it is asked.
    var assumed = method.isTus ? nil : all
    if all == size { assumed = nil }
    guard let offset = reply.offset ?? assumed else {
      failures += 1
      return failures < attempts ? ask() : end(.fail(.exhausted))
    }
    let progress = offset - sent.from
    if progress <= 0 { return pause() }
    guard progress < sent.count else {
      chunk = chunk > .max / 2 ? .max : chunk * 2
      return follow(offset)
    }
    // The rest is sent again. A server that confirms little of each request would receive the file many times.
    chunk = max(Self.minChunk, Self.rounded(progress > .max / 2 ? .max : 2 * progress))
    guard progress < sent.count / 8 else { return follow(offset) }
    failures += 1
    return failures < attempts ? follow(offset, countsAsProgress: false) : end(.fail(.exhausted))
  }

  /// Sends from the offset that the server has stated.
  private mutating func follow(_ offset: Int64, countsAsProgress: Bool = true) -> [Action] {
    guard offset <= size else {
      return note?.isEnding == true ? end(.fail(.unknownOutcome)) : abandon(.offset(offset))
    }
    // After a lost connection, a few bytes of a large request do not count: each attempt could send the file again.
    let isTooLittle = isCut && offset - sent.from < min(sent.count / 8, Self.smallestRequest)
    if offset > confirmed {
      confirmed = offset
      if countsAsProgress, !isTooLittle { failures = 0 }
    }
    if isCut, offset <= sent.from { chunk = max(Self.minChunk, Self.rounded(min(sent.count, chunk) / 8)) }
    isCut = false
    if method.isTus, offset == size { return finish() }
    return [.show(offset)] + send(from: offset)
  }

  private mutating func send(from offset: Int64) -> [Action] {
    phase = .sending
    sent = (offset, min(size - offset, max(min(chunk, limit), least)))
    return [.send(from: offset, count: sent.count)]
  }

  private mutating func ending() -> [Action] {
    guard var ending = note, !ending.isEnding else { return [.release] }
    ending.isEnding = true
    note = ending
    return [.save(ending), .release]
  }

  /// Handles a response without the upload. A complete upload may be removed immediately (draft, upload resource), so
  /// only an upload whose last byte has not left can start over.
  private mutating func missing() -> [Action] {
    guard note?.isEnding == false else { return end(.fail(.unknownOutcome)) }
    (note, isCut) = (nil, false)
    return [.forget, .show(0)] + pause()
  }

  /// Sends less in one request.
  private mutating func shrink(_ reply: Reply) -> [Action] {
    let stated = reply.maxAppend ?? .max
    let eighth = Self.rounded(sent.count / 8)
    // The default limit of many servers is 100 KB to 1 MB.
    let next = stated < sent.count ? stated : sent.count > Self.minChunk ? max(eighth, Self.minChunk) : eighth
    guard next < sent.count, next >= min(Self.smallestRequest, stated) else { return end(.fail(.response)) }
    limit = next
    least = min(least, next)
    // A server could state one byte less each time.
    return pause()
  }

  private mutating func learn(_ reply: Reply) -> Failure? {
    if let most = reply.maxAppend { limit = min(limit, most) }
    least = min(max(reply.minAppend ?? 0, least), limit)
    // An upload that may be complete is not deleted because of a limit that was lowered since.
    guard note?.isEnding != true else { return nil }
    return reply.maxSize.flatMap { $0 < size ? .tooLarge(limit: $0) : nil }
  }

  private mutating func pause() -> [Action] {
    failures += 1
    guard failures < attempts else { return end(.fail(.exhausted)) }
    phase = .pausing
    return [.pause(failures: failures)]
  }

  /// Ends with the response of a server that has the whole upload, which it can't have before the last byte has left.
  private mutating func completed() -> [Action] {
    note?.isEnding == true || size == 0 ? finish() : abandon(.incomplete)
  }

  private mutating func finish() -> [Action] { end(.finish) }

  /// Ends without a usable upload, here and at the server.
  private mutating func abandon(_ failure: Failure, deletes: Bool = true) -> [Action] {
    let url = deletes ? note?.url : nil
    note = nil
    return (url.map { [.terminate($0)] } ?? []) + [.forget] + end(.fail(failure))
  }

  private mutating func end(_ action: Action) -> [Action] {
    phase = .ended
    return [action]
  }
}
