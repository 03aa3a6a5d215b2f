extension Observable where Element == Never {
  /// Emits the latest elements of all sources as a tuple whenever one of them emits, once all have emitted.
  ///
  /// Completes when all sources have completed, or when one completes without an element (contract, law 12). Without
  /// sources, completes immediately.
  ///
  ///     first:         -a-----b-|
  ///     second:        ---1-2---|
  ///     combineLatest: ---A-B-C-|    A = (a, 1), B = (a, 2), C = (b, 2)
  public static func combineLatest<each Source: ObservableConvertibleType>(
    _ sources: repeat each Source
  ) -> Observable<(repeat (each Source).Element)> {
    joined(repeat each sources, takesOnce: false)
  }
}

// Overloads for two to five sources. The compiler knows their tuple types immediately. In contrast, it solves the type
// of a pack together with any closure that follows, which takes seconds for `.map { $0.0 + $0.1 + $0.2 }`.
extension Observable where Element == Never {
  /// Emits the latest elements of two sources as tuples; optimized for this common case.
  @inlinable
  public static func combineLatest<A: ObservableConvertibleType, B: ObservableConvertibleType>(
    _ a: A, _ b: B
  ) -> Observable<(A.Element, B.Element)> {
    Observable<(A.Element, B.Element)>.combineLatest(a, b) { ($0, $1) }
  }

  /// Emits the latest elements of three sources as tuples; type-checks faster than the overload for any number of
  /// sources.
  public static func combineLatest<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C
  ) -> Observable<(A.Element, B.Element, C.Element)> {
    joined(a, b, c, takesOnce: false)
  }

  /// Emits the latest elements of four sources as tuples; type-checks faster than the overload for any number of
  /// sources.
  public static func combineLatest<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType,
    D: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C, _ d: D
  ) -> Observable<(A.Element, B.Element, C.Element, D.Element)> {
    joined(a, b, c, d, takesOnce: false)
  }

  /// Emits the latest elements of five sources as tuples; type-checks faster than the overload for any number of
  /// sources.
  public static func combineLatest<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType,
    D: ObservableConvertibleType, E: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
  ) -> Observable<(A.Element, B.Element, C.Element, D.Element, E.Element)> {
    joined(a, b, c, d, e, takesOnce: false)
  }
}

extension Observable {
  /// Emits the latest elements combined by `combine`; an error that it throws fails the stream (contract, law 7).
  @inlinable
  public static func combineLatest<A: ObservableConvertibleType, B: ObservableConvertibleType>(
    _ a: A, _ b: B, resultSelector combine: @escaping @Sendable (A.Element, B.Element) throws -> Element
  ) -> Observable<Element> {
    Observable(joining: a.asObservable(), b.asObservable(), LatestPair<A.Element, B.Element>.self, combine)
  }

  /// Emits the latest elements combined by `combine`; an error that it throws fails the stream (contract, law 7).
  public static func combineLatest<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C,
    resultSelector combine: @escaping @Sendable (A.Element, B.Element, C.Element) throws -> Element
  ) -> Observable<Element> {
    Observable<Never>.combineLatest(a, b, c).map { try combine($0.0, $0.1, $0.2) }
  }

  /// Emits the latest elements combined by `combine`; an error that it throws fails the stream (contract, law 7).
  public static func combineLatest<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType,
    D: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C, _ d: D,
    resultSelector combine: @escaping @Sendable (A.Element, B.Element, C.Element, D.Element) throws -> Element
  ) -> Observable<Element> {
    Observable<Never>.combineLatest(a, b, c, d).map { try combine($0.0, $0.1, $0.2, $0.3) }
  }
}

extension Observable {
  /// Emits the latest elements of all `sources` as an array whenever one of them emits, once all have emitted.
  ///
  /// Without sources, completes immediately (contract, law 12).
  public static func combineLatest<S: Sequence & Sendable>(_ sources: S) -> Observable<[Element]>
  where S.Element: ObservableConvertibleType, S.Element.Element == Element {
    let sources = sources.map { $0.asObservable() }
    return Observable<[Element]>(joining: { ArrayJoin($0, takesOnce: false).start(sources) })
  }

  /// Emits the latest elements of all `sources`, combined by `combine`; an error that it throws fails the stream
  /// (contract, law 7).
  public static func combineLatest<S: Sequence & Sendable>(
    _ sources: S, resultSelector combine: @escaping @Sendable ([S.Element.Element]) throws -> Element
  ) -> Observable<Element> where S.Element: ObservableConvertibleType {
    Observable<S.Element.Element>.combineLatest(sources).map(combine)
  }
}

/// The latest elements of two sources.
@usableFromInline
struct LatestPair<First: Sendable, Second: Sendable>: Pair {
  @usableFromInline var first: First?
  @usableFromInline var second: Second?
  @usableFromInline var firstHasEnded = false
  @usableFromInline var secondHasEnded = false

  @inlinable init() {}

  @inlinable static var takesOnce: Bool { false }

  /// A source without an element has completed, or both have (contract, law 12).
  @inlinable var isOver: Bool {
    firstHasEnded && secondHasEnded || firstHasEnded && first == nil || secondHasEnded && second == nil
  }

  @inlinable
  mutating func put(first element: First) -> Second? {
    first = element
    return second
  }

  @inlinable
  mutating func put(second element: Second) -> First? {
    second = element
    return first
  }
}
