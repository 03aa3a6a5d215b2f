import PortableFoundation
import Streams

extension Transport {
  /// Sends `request`, and writes the body of a successful response to the file `destination` while it arrives. The
  /// response then has the file and no body. The body of a response with any other status is collected in memory.
  ///
  /// The file appears when it is complete and stored on disk. It replaces an existing file. A failure leaves no file
  /// behind. The transfer pauses when the disk is slower than the network.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - destination: The file; its directory must exist.
  ///   - progress: A closure that receives the progress, as in `stream`.
  ///   - completion: A closure that is called once, on a queue of the download, never from within this call.
  /// - Returns: A disposable that cancels the download.
  public func download(
    _ request: Request, to destination: URL, progress: ProgressHandler? = nil,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    let download = Download(request, to: destination, completion)
    download.start(on: self, progress)
    return download.sent
  }
}

/// A download to a file, written on its own queue, so that a slow disk delays only this transfer.
// @unchecked Sendable: the transport writes `isSuccess` and `ending` before it delivers the chunk or the end that
// precedes reading them, through the buffer's lock; the queue owns all other state.
private final class Download: @unchecked Sendable {
  /// The maximum number of buffered bytes, enough to keep both network and disk busy.
  private static let highWater = 1 << 20
  /// The maximum number of bytes of an unsuccessful response's body, unless the request sets a limit: the default of
  /// the transports.
  private static let maxBodySize = 32 << 20

  private let request: Request
  private let destination: URL
  private let queue = SerialDispatchQueueScheduler(internalSerialQueueName: "NetLayer.Download", qos: .utility)
  private let buffer: BodyBuffer
  let sent = SingleAssignmentDisposable()
  private var isSuccess = false
  private var ending: Result<Response, NetworkError>
  private var file: PartialFile?
  private var body = Data()
  /// The error with which this download cancelled the transfer.
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
    // Checked before the transfer, so that an invalid destination causes no transfer.
    if let invalid = PartialFile.failure(of: destination) {
      failure = invalid
      _ = queue.schedule { self.finish() }
      return
    }
    writeWaiting()
    // The transport must not write the file, too.
    var request = request
    request.destination = nil
    request.context[IsDownload.self] = true
    let control = transport.stream(
      request, progress: progress,
      receiver: StreamReceiver(
        head: { self.isSuccess = $0.isSuccess }, chunk: buffer.push,
        completion: { result in
          self.ending = result
          self.buffer.finish(nil)
        }))
    buffer.attach(control)
    sent.setDisposable(control)
  }

  private func writeWaiting() {
    while true {
      switch buffer.take(orCall: { self.writeWaiting() }) {
      case .wait: return
      case .end: return finish()
      case .element(let chunk):
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
        // A success without content creates an empty file.
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
    // Removed before the completion is called.
    file = nil
    completion(ending)
  }
}

extension Result<Response, NetworkError> {
  /// The measurements of the transport, for a success or a failure.
  package var metrics: TransferMetrics? {
    switch self {
    case .success(let response): response.metrics
    case .failure(let error): error.metrics
    }
  }
}
