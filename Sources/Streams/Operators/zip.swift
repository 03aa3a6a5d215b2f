extension Observable where Element == Never {
  /// Emits the first elements of all sources as a tuple, then the second elements, and so on.
  ///
  /// Completes as soon as a completed source has no queued elements (contract, law 11, as in ReactiveX); an error fails
  /// the result immediately.
  ///
  ///     first:  -a---b---c-|
  ///     second: --1-2--|
  ///     zip:    --A--B-|    A = (a, 1), B = (b, 2)
  public static func zip<each Source: ObservableConvertibleType>(
    _ sources: repeat each Source
  ) -> Observable<(repeat (each Source).Element)> {
    joined(repeat each sources, takesOnce: true)
  }
}

// Overloads for three to five sources. The compiler knows their tuple types immediately. In contrast, it solves the
// type of a pack together with any closure that follows, which takes seconds for `.map { $0.0 + $0.1 + $0.2 }`.
extension Observable where Element == Never {
  /// Emits the elements of three sources as tuples; type-checks faster than the overload for any number of sources.
  public static func zip<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C
  ) -> Observable<(A.Element, B.Element, C.Element)> {
    joined(a, b, c, takesOnce: true)
  }

  /// Emits the elements of four sources as tuples; type-checks faster than the overload for any number of sources.
  public static func zip<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType,
    D: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C, _ d: D
  ) -> Observable<(A.Element, B.Element, C.Element, D.Element)> {
    joined(a, b, c, d, takesOnce: true)
  }

  /// Emits the elements of five sources as tuples; type-checks faster than the overload for any number of sources.
  public static func zip<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType,
    D: ObservableConvertibleType, E: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
  ) -> Observable<(A.Element, B.Element, C.Element, D.Element, E.Element)> {
    joined(a, b, c, d, e, takesOnce: true)
  }
}

extension Observable {
  /// Emits the zipped elements combined by `combine`; an error that it throws fails the stream (contract, law 7).
  @inlinable
  public static func zip<A: ObservableConvertibleType, B: ObservableConvertibleType>(
    _ a: A, _ b: B, resultSelector combine: @escaping @Sendable (A.Element, B.Element) throws -> Element
  ) -> Observable<Element> {
    Observable(joining: a.asObservable(), b.asObservable(), QueuedPair<A.Element, B.Element>.self, combine)
  }

  /// Emits the zipped elements combined by `combine`; an error that it throws fails the stream (contract, law 7).
  public static func zip<A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType>(
    _ a: A, _ b: B, _ c: C,
    resultSelector combine: @escaping @Sendable (A.Element, B.Element, C.Element) throws -> Element
  ) -> Observable<Element> {
    Observable<Never>.zip(a, b, c).map { try combine($0.0, $0.1, $0.2) }
  }

  /// Emits the zipped elements combined by `combine`; an error that it throws fails the stream (contract, law 7).
  public static func zip<
    A: ObservableConvertibleType, B: ObservableConvertibleType, C: ObservableConvertibleType,
    D: ObservableConvertibleType
  >(
    _ a: A, _ b: B, _ c: C, _ d: D,
    resultSelector combine: @escaping @Sendable (A.Element, B.Element, C.Element, D.Element) throws -> Element
  ) -> Observable<Element> {
    Observable<Never>.zip(a, b, c, d).map { try combine($0.0, $0.1, $0.2, $0.3) }
  }
}

extension Observable where Element == Never {
  /// Emits the elements of two sources as tuples; optimized for this common case.
  @inlinable
  public static func zip<A: ObservableConvertibleType, B: ObservableConvertibleType>(
    _ a: A, _ b: B
  ) -> Observable<(A.Element, B.Element)> {
    Observable<(A.Element, B.Element)>.zip(a, b) { ($0, $1) }
  }
}

extension Observable {
  /// Emits the first elements of all `sources` as an array, then the second elements, and so on.
  ///
  /// Without sources, completes immediately (contract, law 11).
  public static func zip<S: Sequence & Sendable>(_ sources: S) -> Observable<[Element]>
  where S.Element: ObservableConvertibleType, S.Element.Element == Element {
    let sources = sources.map { $0.asObservable() }
    return Observable<[Element]>(joining: { ArrayJoin($0, takesOnce: true).start(sources) })
  }

  /// Emits the zipped elements of all `sources`, combined by `combine`; an error that it throws fails the stream
  /// (contract, law 7).
  public static func zip<S: Sequence & Sendable>(
    _ sources: S, resultSelector combine: @escaping @Sendable ([S.Element.Element]) throws -> Element
  ) -> Observable<Element> where S.Element: ObservableConvertibleType {
    Observable<S.Element.Element>.zip(sources).map(combine)
  }
}

/// The elements of two sources that wait for an element of the other.
@usableFromInline
struct QueuedPair<First: Sendable, Second: Sendable>: Pair {
  @usableFromInline var firsts = Queue<First>()
  @usableFromInline var seconds = Queue<Second>()
  @usableFromInline var firstHasEnded = false
  @usableFromInline var secondHasEnded = false

  @inlinable init() {}

  @inlinable static var takesOnce: Bool { true }

  /// A completed source has no queued elements (contract, law 11).
  @inlinable var isOver: Bool { firstHasEnded && firsts.isEmpty || secondHasEnded && seconds.isEmpty }

  @inlinable
  mutating func put(first element: First) -> Second? {
    if let other = seconds.popFirst() { return other }
    firsts.append(element)
    return nil
  }

  @inlinable
  mutating func put(second element: Second) -> First? {
    if let other = firsts.popFirst() { return other }
    seconds.append(element)
    return nil
  }
}
