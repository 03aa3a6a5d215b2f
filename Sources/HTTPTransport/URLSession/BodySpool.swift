#if HAS_URLSESSION
  import Foundation
  import Synchronization

  /// A body of several pieces, or of chunks, in a temporary file: `URLSession` sends from memory or from one file, and a body
  /// does not belong in memory. Removed when it is released.
  final class BodySpool: Sendable {
    let file: URL

    fileprivate init(_ file: URL) { self.file = file }

    deinit { try? FileManager.default.removeItem(at: file) }
  }

  /// Writes a body to a temporary file, on a queue of its own, as fast as its maker makes it; can be stopped at any time.
  // @unchecked Sendable: what changes is touched on `queue` alone, but for `isStopped`, which is atomic, and `pump`,
  // which is set before anyone else has this.
  final class BodySpooler: @unchecked Sendable {
    typealias Completion = @Sendable (Result<BodySpool, NetworkError>) -> Void

    private static let pieceSize = 1 << 16

    private let request: Request
    private let file: URL
    private let queue = DispatchQueue(label: "NetLayer.Spool", qos: .utility)
    /// Set by whoever stops it, read on the queue.
    private let isStopped = Atomic<Bool>(false)
    private var output: PartialFile?
    private var pump: ChunkPump?
    private var completion: Completion?

    /// Begins to write the body of `request`. `completion` is called once, on a queue of its own, unless `stop()` is
    /// first: with the file, or an error of kind `file` when there is no room, or that of the body's maker.
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

    /// Asks for nothing more, writes nothing more, and removes the file; waits for nothing.
    func stop() {
      isStopped.store(true, ordering: .releasing)
      // Here, not on the queue: the maker must not be asked again meanwhile.
      pump?.stop()
      queue.async { self.release() }
    }

    // MARK: On the queue

    private func open() {
      guard !isStopped.load(ordering: .acquiring) else { return }
      do throws(NetworkError) {
        // Others on the machine may look into the temporary folder.
        output = try PartialFile(file, isPrivate: true)
      } catch {
        return finish(.failure(error))
      }
      write()
    }

    /// Writes what there is, until the maker is to be waited for.
    private func write() {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
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
    /// The body of `request` where it is to be written to a file first; `nil` where it is not.
    fileprivate init?(spooling request: Request) {
      switch request.body {
      case .stream(let stream): self = stream
      case .parts(let parts):
        self.init {
          let source = try BodySource(parts: parts, of: request)
          if let failure = RequestCheck.lengthFailure(of: request, length: source.count) { throw failure }
          return { try Self.piece(of: source) }
        }
      case .none, .data, .file: return nil
      }
    }
  }
#endif
