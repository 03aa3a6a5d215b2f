// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol Digest {}

public struct SHA256Digest: Digest {}

public struct SHA256 {
  public static func hash(data: some Sequence<UInt8>) -> SHA256Digest { SHA256Digest() }
}
