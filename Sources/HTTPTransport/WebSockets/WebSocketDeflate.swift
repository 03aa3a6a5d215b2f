#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  /// The compression of permessage-deflate (RFC 7692), with zlib, which is loaded at run time. Used only on the
  /// socket's thread.
  final class WebSocketDeflate: WebSocketCompressor {
    static var isAvailable: Bool { cdeflate_available() }

    /// The bytes that a sender removes from the end of each message (§7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    private static let chunkSize = 1 << 14

    private let pair: OpaquePointer
    private let resets: Bool

    /// - Parameter resets: `true` to compress each message independently of earlier messages.
    init?(resets: Bool) {
      guard let pair = cdeflate_make() else { return nil }
      (self.pair, self.resets) = (pair, resets)
    }

    deinit { cdeflate_free(pair) }

    func compress(_ payload: UnsafeRawBufferPointer) -> [UInt8]? {
      var output: [UInt8] = []
      var input = payload
      var isFull = true
      while !input.isEmpty || isFull {
        let step = withUnsafeTemporaryAllocation(byteCount: Self.chunkSize, alignment: 16) { chunk in
          let step = cdeflate_compress(pair, input.baseAddress, input.count, chunk.baseAddress, chunk.count)
          output.append(contentsOf: chunk.prefix(step.produced))
          return step
        }
        if step.is_broken {
          // Resets the window, because the server never receives this input and later messages must not refer to it.
          cdeflate_reset_compression(pair)
          return nil
        }
        input = UnsafeRawBufferPointer(rebasing: input[step.consumed...])
        isFull = step.produced == Self.chunkSize
      }
      if resets { cdeflate_reset_compression(pair) }
      guard output.suffix(4).elementsEqual(Self.tail) else { return nil }
      output.removeLast(4)
      return output
    }

    func decompress(
      _ chunk: UnsafeRawBufferPointer, isLast: Bool, limit: Int, into message: inout [UInt8]
    ) throws(WebSocketFrame.Violation) {
      try inflate(chunk, limit, &message)
      guard isLast else { return }
      let tail = Self.tail.withUnsafeBytes { bytes in
        Result { () throws(WebSocketFrame.Violation) in try inflate(bytes, limit, &message) }
      }
      try tail.get()
    }

    private func inflate(
      _ bytes: UnsafeRawBufferPointer, _ limit: Int, _ message: inout [UInt8]
    ) throws(WebSocketFrame.Violation) {
      var input = bytes
      var isFull = false
      while !input.isEmpty || isFull {
        let step = withUnsafeTemporaryAllocation(byteCount: Self.chunkSize, alignment: 16) { chunk in
          let step = cdeflate_decompress(pair, input.baseAddress, input.count, chunk.baseAddress, chunk.count)
          message.append(contentsOf: chunk.prefix(step.produced))
          return step
        }
        guard message.count <= limit else { throw WebSocketProtocol.tooLarge(limit) }
        isFull = step.produced == Self.chunkSize
        guard !step.is_broken, step.consumed > 0 || step.produced > 0 || input.isEmpty else {
          throw WebSocketFrame.Violation(code: .invalidData, reason: "a compressed message is not valid deflate data")
        }
        input = UnsafeRawBufferPointer(rebasing: input[step.consumed...])
      }
    }
  }
#endif
