import PortableFoundation

/// What makes values of bytes: `JSONDecoder`, `PropertyListDecoder`.
public protocol DataDecoder: Sendable {
  /// The value of `type` that `data` stands for.
  func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}

extension ObservableType where Element == Data {
  /// Decodes each element, on the thread it comes on; a failure is the stream's error (law 7).
  public func decode<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, using decoder: some DataDecoder
  ) -> Observable<Value> {
    map { try decoder.decode(type, from: $0) }
  }
}
