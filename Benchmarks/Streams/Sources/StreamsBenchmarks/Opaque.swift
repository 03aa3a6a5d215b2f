import Streams

// Closures passed through these functions are opaque to the optimizer, for both libraries. Each type has a separate
// overload, because a generic one would wrap the closure in a thunk.
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Int) -> Void) -> @Sendable (Int) -> Void { closure }
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Int, Int) -> Void) -> @Sendable (Int, Int) -> Void { closure }
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Int) -> Int) -> @Sendable (Int) -> Int { closure }
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Int) -> Bool) -> @Sendable (Int) -> Bool { closure }
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Int, Int) -> Int) -> @Sendable (Int, Int) -> Int { closure }
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Person) -> Person) -> @Sendable (Person) -> Person { closure }
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Person) -> Bool) -> @Sendable (Person) -> Bool { closure }
@inline(never) @_optimize(none)
func opaque(_ closure: @escaping @Sendable (Person) -> Void) -> @Sendable (Person) -> Void { closure }
@inline(never) @_optimize(none)
func opaque(_ value: Int) -> Int { value }
// A chain passed through these functions is built in one place and subscribed in another, so that it cannot be
// optimized into a loop.
@inline(never) @_optimize(none)
func opaque(_ chain: Observable<Int>) -> Observable<Int> { chain }
@inline(never) @_optimize(none)
func opaque(_ chain: Observable<Person>) -> Observable<Person> { chain }
@inline(never) @_optimize(none)
func opaque(_ chain: Observable<[Int]>) -> Observable<[Int]> { chain }
@inline(never) @_optimize(none)
func opaque(_ chain: Single<Int>) -> Single<Int> { chain }

/// A generic client that is not specialized.
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func generic<Value: FixedWidthInteger & Sendable>(
  _ count: Value, _ transform: @escaping @Sendable (Value) -> Value, _ sink: @escaping @Sendable (Value) -> Void
) {
  _ = Observable<Value>.range(start: 1, count: count).map(transform).subscribe(onNext: sink)
}

/// A client that is generic over another type and is not specialized.
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func genericClient<Context: Sendable>(
  _ context: Context, _ count: Int, _ transform: @escaping @Sendable (Int) -> Int,
  _ sink: @escaping @Sendable (Int) -> Void
) {
  _ = Observable.range(start: 1, count: count).map { value in withExtendedLifetime(context) { transform(value) } }
    .subscribe(onNext: sink)
}

/// The plain loop for comparison.
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func genericLoop<Value: FixedWidthInteger & Sendable>(
  _ count: Value, _ transform: @escaping @Sendable (Value) -> Value, _ sink: @escaping @Sendable (Value) -> Void
) {
  var value: Value = 1
  while value <= count {
    sink(transform(value))
    value &+= 1
  }
}
