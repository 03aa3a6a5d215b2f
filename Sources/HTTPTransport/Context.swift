/// Values that layers attach to a request, a response or an error, each identified by its type, like OkHttp's tags.
///
/// ```swift
/// enum TraceID: ContextKey { static let defaultValue: String? = nil }
///
/// request.context[TraceID.self] = "4bf92f35"
/// response.request.context[TraceID.self]  // the same value, also after retries and redirects
/// ```
/// The values are never sent. Copies of a request keep them, so they remain available after retries and redirects.
public struct Context: Sendable {
  // An array, because there are only a few values. Copies share it.
  @usableFromInline
  var values: [(key: ObjectIdentifier, value: any Sendable)] = []

  /// Creates an empty context.
  @inlinable
  public init() {}

  /// Whether the context has no values.
  @inlinable
  public var isEmpty: Bool { values.isEmpty }

  /// The value of a key; the key's `defaultValue` if it has not been set.
  @inlinable
  public subscript<Key: ContextKey>(key: Key.Type) -> Key.Value {
    get {
      for entry in values where entry.key == ObjectIdentifier(key) {
        return entry.value as? Key.Value ?? Key.defaultValue
      }
      return Key.defaultValue
    }
    set {
      let entry = (key: ObjectIdentifier(key), value: newValue as any Sendable)
      if let index = values.firstIndex(where: { $0.key == entry.key }) {
        values[index] = entry
      } else {
        // Contexts with one value usually get more.
        if values.isEmpty { values.reserveCapacity(4) }
        values.append(entry)
      }
    }
  }
}

extension Context {
  /// Takes all values of `other`, which replace existing values of the same keys.
  package mutating func take(_ other: Context) {
    values.removeAll { own in other.values.contains { $0.key == own.key } }
    values += other.values
  }
}

/// A type that identifies a value of a ``Context``.
public protocol ContextKey {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The value of the key if none has been set.
  static var defaultValue: Value { get }
}

/// The number of the attempt that a request belongs to, counted from 1.
///
/// Interceptors that retry a request increase it. Logs and error descriptions show it.
public enum Attempt: ContextKey {
  /// The first attempt.
  public static let defaultValue = 1
}

/// The header fields that no redirect to another origin may carry, regardless of their names.
///
/// A network adds the header fields and the signature of its backend. An interceptor that adds credentials adds its
/// fields here, too.
public enum OriginBoundFields: ContextKey {
  /// No fields.
  public static let defaultValue = HTTPHeaders()
}
