import PortableFoundation
import Streams

extension Transport {
  /// Sends `request`, and writes the body of a success to the file `destination` while it comes in; its response has the
  /// file and no body. The body of any other status is collected in memory.
  ///
  /// The file appears when it is complete and the disk has it, in place of one that is there; a failure leaves nothing. When
  /// the disk is behind, the transfer pauses.
  ///
  /// - Parameters:
  ///   - request: what is sent.
  ///   - destination: the file; its directory must exist.
  ///   - progress: reports how far the transfer is, as in `stream`.
  ///   - completion: is called once, on a queue of the download's own, never from within this call.
  /// - Returns: a disposable that cancels the download.
  public func download(
    _ request: Request, to destination: URL, progress: ProgressHandler? = nil,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    let download = Download(request, to: destination, completion)
    download.start(on: self, progress)
    return download.sent
  }
}

/// A response on its way into a file, written on a queue of its own, so that a slow disk holds up this transfer alone.
// @unchecked Sendable: the transport writes `isSuccess` and `ending` before it hands on the chunk or the end behind which
// they are read, through the buffer's lock; everything else belongs to the queue.
private final class Download: @unchecked Sendable {
  /// Chunks may wait for the disk up to this many bytes: enough to keep both sides busy.
  private static let highWater = 1 << 20
  /// The most bytes of a body that is no success, where the request sets no limit: as many as transports keep in memory.
  private static let maxBodySize = 256 << 20

  private let request: Request
  private let destination: URL
  private let queue = SerialDispatchQueueScheduler(internalSerialQueueName: "NetLayer.Download", qos: .utility)
  private let buffer: BodyBuffer
  let sent = SingleAssignmentDisposable()
  private var isSuccess = false
  /// How the transfer has ended.
  private var ending: Result<Response, NetworkError>
  private var file: PartialFile?
  /// The body of another status.
  private var body = Data()
  /// Why the transfer was given up from here.
  private var failure: NetworkError?
  private let completion: @Sendable (Result<Response, NetworkError>) -> Void

  init(
    _ request: Request, to destination: URL,
    _ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    (self.request, self.destination, self.completion) = (request, destination, completion)
    buffer = BodyBuffer(queue, limit: Self.highWater)
    ending = .failure(NetworkError(kind: .cancelled, reason: "the download has not ended", request: request))
  }

  func start(on transport: some Transport, _ progress: ProgressHandler?) {
    // Not when all has been transferred.
    if let refusal = PartialFile.refusal(of: destination) {
      failure = refusal
      _ = queue.schedule { self.finish() }
      return
    }
    writeWaiting()
    // A transport that writes files itself must not.
    var request = request
    request.destination = nil
    let control = transport.stream(
      request, progress: progress, head: { self.isSuccess = $0.isSuccess }, chunk: buffer.push,
      completion: { result in
        self.ending = result
        self.buffer.finish(nil)
      })
    buffer.attach(control)
    sent.setDisposable(control)
  }

  private func writeWaiting() {
    while true {
      switch buffer.take(orCall: { self.writeWaiting() }) {
      case .wait: return
      case .end: return finish()
      case .chunk(let chunk):
        guard failure == nil else { continue }
        do throws(NetworkError) {
          try take(chunk)
        } catch {
          failure = error
          sent.dispose()
        }
      }
    }
  }

  private func take(_ chunk: Data) throws(NetworkError) {
    if isSuccess { return try opened().append(chunk) }
    let limit = request.chosenOptions?.value.maxBodySize ?? Self.maxBodySize
    guard chunk.count <= limit - body.count else {
      let reason = "the body from \(request.url.hostAndPort) is larger than \(limit) bytes; raise maxBodySize"
      throw NetworkError(kind: .tooLarge, reason: reason)
    }
    body.append(chunk)
  }

  private func opened() throws(NetworkError) -> PartialFile {
    if let file { return file }
    let made = try PartialFile(destination)
    file = made
    return made
  }

  private func finish() {
    do throws(NetworkError) {
      if let failure { throw failure }
      var response = try ending.get()
      response.request.destination = request.destination
      if isSuccess {
        // A success without content is an empty file.
        try opened().complete()
        response.file = destination
      } else {
        response.body = body
      }
      ending = .success(response)
    } catch {
      var error = error.about(request)
      error.metrics = error.metrics ?? ending.metrics
      ending = .failure(error)
    }
    // Removed before anyone hears of the end.
    file = nil
    completion(ending)
  }
}

extension Result<Response, NetworkError> {
  /// The measurements of the transport, however it ended.
  package var metrics: TransferMetrics? {
    switch self {
    case .success(let response): response.metrics
    case .failure(let error): error.metrics
    }
  }
}
