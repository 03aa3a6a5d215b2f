// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

public struct StandInDigest: Sequence {
  public func makeIterator() -> IndexingIterator<[UInt8]> { [].makeIterator() }
}

public struct SHA256 {
  public init() {}
  public static func hash<D: DataProtocol>(data: D) -> StandInDigest { StandInDigest() }
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> StandInDigest { StandInDigest() }
}

public enum Insecure {
  public struct SHA1 {
    public static func hash<D: DataProtocol>(data: D) -> StandInDigest { StandInDigest() }
  }
  public struct MD5 {
    public static func hash<D: DataProtocol>(data: D) -> StandInDigest { StandInDigest() }
  }
}
