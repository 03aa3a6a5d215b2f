#if canImport(Darwin)
  import CryptoKit

  // The digests of Apple platforms, which replace the implementations in the other files of this folder.

  /// An incremental SHA-256.
  package struct SHA256 {
    private var digest = CryptoKit.SHA256()

    package init() {}

    /// Returns the 32 bytes of the digest of `message`.
    static func hash(_ message: [UInt8]) -> [UInt8] { Array(CryptoKit.SHA256.hash(data: message)) }

    /// Adds `bytes` to the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bufferPointer: bytes) }

    /// Returns the 32 bytes of the digest.
    package mutating func finish() -> [UInt8] { Array(digest.finalize()) }
  }

  /// SHA-1, only for the WebSocket handshake.
  package enum SHA1 {
    /// Returns the 20 bytes of the digest of `message`.
    package static func hash(_ message: [UInt8]) -> [UInt8] { Array(Insecure.SHA1.hash(data: message)) }
  }

  /// MD5, for servers that require it in signatures.
  enum MD5 {
    /// Returns the 16 bytes of the digest of `message`.
    static func hash(_ message: [UInt8]) -> [UInt8] { Array(Insecure.MD5.hash(data: message)) }
  }
#endif
