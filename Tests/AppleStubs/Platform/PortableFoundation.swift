// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported import Darwin
@_exported import Foundation

public typealias pthread_t = DarwinThread

/// Apple's decoder has a strategy with a formatter, which the one of Linux has not.
open class AppleJSONDecoder: @unchecked Sendable {  // safe: compiled only, never run
  public enum DateDecodingStrategy: Sendable {
    case deferredToDate
    case secondsSince1970
    case millisecondsSince1970
    case iso8601
    @preconcurrency case formatted(DateFormatter)
    case custom(@Sendable (any Decoder) throws -> Date)
  }
  public typealias KeyDecodingStrategy = Foundation.JSONDecoder.KeyDecodingStrategy
  public typealias DataDecodingStrategy = Foundation.JSONDecoder.DataDecodingStrategy
  public typealias NonConformingFloatDecodingStrategy = Foundation.JSONDecoder.NonConformingFloatDecodingStrategy

  open var dateDecodingStrategy = DateDecodingStrategy.deferredToDate
  open var keyDecodingStrategy = KeyDecodingStrategy.useDefaultKeys
  open var dataDecodingStrategy = DataDecodingStrategy.base64
  open var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.throw
  open var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  public init() {}

  open func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
    try Foundation.JSONDecoder().decode(type, from: data)
  }
}
