/// Values that layers attach to a request, a response or an error, each known by its type (OkHttp's tags).
///
/// ```swift
/// enum TraceID: ContextKey { static let defaultValue: String? = nil }
///
/// request.context[TraceID.self] = "4bf92f35"
/// response.request.context[TraceID.self]  // the same, after retries and redirects
/// ```
/// Nothing of it is sent. A copy of a request has the same values, so they outlive retries and redirects.
public struct Context: Sendable {
  // A list, as there are few; it is shared by copies.
  @usableFromInline
  var values: [(key: ObjectIdentifier, value: any Sendable)] = []

  /// A context without values.
  @inlinable
  public init() {}

  /// Whether no value was set.
  @inlinable
  public var isEmpty: Bool { values.isEmpty }

  /// The value of a key; the key's default where none was set.
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
        // Where there is one, there are mostly more.
        if values.isEmpty { values.reserveCapacity(4) }
        values.append(entry)
      }
    }
  }
}

extension Context {
  /// Takes all values of `other`, over those that are here.
  package mutating func take(_ other: Context) {
    values.removeAll { own in other.values.contains { $0.key == own.key } }
    values += other.values
  }
}

/// The type that a value of a ``Context`` is known by.
public protocol ContextKey {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The value where none was set.
  static var defaultValue: Value { get }
}

/// The number of the attempt at its call that a request is, from 1.
///
/// Whoever repeats a request counts on; logs and error descriptions name it.
public enum Attempt: ContextKey {
  /// The first.
  public static let defaultValue = 1
}

/// The header fields that no redirect takes to another origin, whatever they are called.
///
/// A network puts a back end's headers and signature there; an interceptor that adds credentials adds them here, too.
public enum OriginBoundFields: ContextKey {
  /// None.
  public static let defaultValue = HTTPHeaders()
}
