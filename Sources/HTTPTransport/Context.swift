/// Values that layers attach to a request, a response or an error, each identified by its type, like OkHttp's tags.
///
/// ```swift
/// enum TraceID: ContextKey { static let defaultValue: String? = nil }
///
/// request.context[TraceID.self] = "4bf92f35"
/// response.request.context[TraceID.self]  // the same value, even after retries and redirects
/// ```
/// The values are never sent. Copies of a request keep them, so they remain available after retries and redirects.
public struct Context: Sendable {
  // A list of immutable entries, of which copies share the end. There are only a few, each with another key.
  @usableFromInline
  var first: Entry?

  /// Creates an empty context.
  @inlinable
  public init() {}

  /// Whether the context has no values.
  @inlinable
  public var isEmpty: Bool { first == nil }

  /// The value of a key; the key's `defaultValue` if it has not been set.
  @inlinable
  public subscript<Key: ContextKey>(key: Key.Type) -> Key.Value {
    get {
      guard let entry = first?.entry(ObjectIdentifier(key)) else { return Key.defaultValue }
      // Only this setter creates an entry with this identifier.
      return unsafeDowncast(entry, to: EntryOf<Key>.self).value
    }
    set { first = EntryOf<Key>(newValue, before: without(ObjectIdentifier(key))) }
  }

  @usableFromInline
  func without(_ key: ObjectIdentifier) -> Entry? { first?.without(key) }

  /// A key and its value, which the subclass has.
  @usableFromInline
  class Entry: @unchecked Sendable {  // safe: immutable
    @usableFromInline let key: ObjectIdentifier
    @usableFromInline let next: Entry?

    @usableFromInline
    init(_ key: ObjectIdentifier, before next: Entry?) { (self.key, self.next) = (key, next) }

    func copy(before next: Entry?) -> Entry { self }

    /// The entry of `key`. Recursive, because a loop would retain each entry.
    @usableFromInline
    final func entry(_ key: ObjectIdentifier) -> Entry? { self.key == key ? self : next?.entry(key) }

    final func without(_ key: ObjectIdentifier) -> Entry? {
      if self.key == key { return next }
      guard let next else { return self }
      let rest = next.without(key)
      return rest === next ? self : copy(before: rest)
    }
  }

  @usableFromInline
  final class EntryOf<Key: ContextKey>: Entry, @unchecked Sendable {  // safe: as above
    @usableFromInline let value: Key.Value

    @usableFromInline
    init(_ value: Key.Value, before next: Entry?) {
      self.value = value
      super.init(ObjectIdentifier(Key.self), before: next)
    }

    override func copy(before next: Entry?) -> Entry { EntryOf(value, before: next) }
  }
}

extension Context {
  package mutating func take(_ other: Context) {
    guard let entry = other.first else { return }
    var rest = other
    rest.first = entry.next
    take(rest)
    first = entry.copy(before: without(entry.key))
  }
}

/// A type that identifies a value of a ``Context``.
public protocol ContextKey {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The value of the key if none has been set.
  static var defaultValue: Value { get }
}
