#if HAS_URLSESSION
  import Foundation
  import Synchronization

  /// A temporary file with a body that consists of parts or chunks. `URLSession` sends a body from memory or from a
  /// single file, and bodies should not be in memory. The file is removed when this object is released.
  final class BodySpool: Sendable {
    let file: URL

    fileprivate init(_ file: URL) { self.file = file }

    deinit { try? FileManager.default.removeItem(at: file) }
  }

  /// Writes a body to a temporary file, on its own queue, as fast as its source produces it. Can be stopped at any
  /// time.
  // @unchecked Sendable: mutable state is accessed only on `queue`, except `isStopped`, which is atomic, and `pump`,
  // which is set before any other thread has access.
  final class BodySpooler: @unchecked Sendable {
    typealias Completion = @Sendable (Result<BodySpool, NetworkError>) -> Void

    private static let chunkSize = 1 << 16

    private let request: Request
    private let file: URL
    private let queue = DispatchQueue(label: "NetLayer.Spool", qos: .utility)
    /// Set by the thread that stops it, read on the queue.
    private let isStopped = Atomic<Bool>(false)
    private var output: PartialFile?
    private var pump: ChunkPump?
    private var completion: Completion?

    /// Starts to write the body of `request`. `completion` is called once, on the queue, unless `stop()` is called
    /// before. It receives the file, an error of kind `file` if the disk is full, or the error of the body's source.
    init(_ request: Request, completion: @escaping Completion) {
      self.request = request
      self.completion = completion
      file = FileManager.default.temporaryDirectory.appending(path: "netlayer-\(UUID().uuidString).body")
      pump = Request.BodyStream(spooling: request).map { stream in
        ChunkPump(stream) { [weak self] in
          guard let self else { return }
          self.queue.async { self.write() }
        }
      }
      queue.async { self.open() }
    }

    deinit { pump?.stop() }

    /// Stops the source and the writing, and removes the file. Returns without waiting.
    func stop() {
      isStopped.store(true, ordering: .releasing)
      // Not on the queue, because the source must not be called again meanwhile.
      pump?.stop()
      queue.async { self.release() }
    }

    // MARK: On the queue

    private func open() {
      guard !isStopped.load(ordering: .acquiring) else { return }
      do throws(NetworkError) {
        // The temporary folder may be readable by other users.
        output = try PartialFile(file, isPrivate: true)
      } catch {
        return finish(.failure(error))
      }
      write()
    }

    /// Writes the available chunks, until the source must produce more.
    private func write() {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
      defer { buffer.deallocate() }
      do throws(NetworkError) {
        while let pump, let output, !isStopped.load(ordering: .acquiring) {
          switch pump.read(into: buffer) {
          case .wait: return
          case .bytes(let count): try output.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          case .failure(let error): throw error
          case .end:
            try output.complete()
            return finish(.success(BodySpool(file)))
          }
        }
      } catch {
        finish(.failure(error))
      }
    }

    private func finish(_ result: Result<BodySpool, NetworkError>) {
      let completion = completion
      release()
      completion?(result.mapError { $0.about(request) })
    }

    private func release() {
      pump?.stop()
      output = nil
      completion = nil
    }
  }

  extension Request.BodyStream {
    /// Creates a stream of the body of `request` if it must be written to a file first; otherwise `nil`.
    fileprivate init?(spooling request: Request) {
      switch request.body {
      case .stream(let stream): self = stream
      case .parts(let parts):
        self.init {
          let source = try BodySource(parts: parts, of: request)
          if let failure = RequestCheck.lengthFailure(of: request, length: source.count) { throw failure }
          return { try Self.chunk(of: source) }
        }
      case .none, .data, .file: return nil
      }
    }
  }
#endif
