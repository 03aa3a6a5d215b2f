// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// In Apple's Foundation, Darwin is a part. Declarations of a module precede those of Glibc and of Linux's Foundation.
@_exported import Darwin
import PortableFoundation

public typealias pthread_t = DarwinThread
public typealias JSONDecoder = AppleJSONDecoder

// Unavailable in Foundation on Linux.
let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

// Unavailable in Foundation on Linux.
extension NSData {
  enum CompressionAlgorithm: Int { case lzfse, lz4, lzma, zlib }

  func compressed(using algorithm: CompressionAlgorithm) throws -> Self { self }
}
