import PortableFoundation

/// A type that decodes values from bytes, such as `JSONDecoder` and `PropertyListDecoder`.
public protocol DataDecoder: Sendable {
  /// Decodes a value of `type` from `data`.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}

extension ObservableType where Element == Data {
  /// Decodes each element on the thread that delivers it; a decoding error fails the stream (contract, law 7).
  public func decode<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, using decoder: some DataDecoder
  ) -> Observable<Value> {
    map { try decoder.decode(type, from: $0) }
  }
}
