/// A value whose copies share one object until one of them is changed.
///
/// With plain storage, a call takes 17 % more instructions, `fetch` 45 % and `response` 65 % (rows of `.ci/instructions`).
struct CopyOnWrite<Value: Sendable>: Sendable {
  private final class Box: @unchecked Sendable {  // safe: changed only while a single copy refers to it
    // Checked, `cached` and `interceptors` take 12 % more instructions.
    @exclusivity(unchecked) var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  init(_ value: Value) { box = Box(value) }

  var value: Value {
    @inline(__always) _read { yield box.value }
    @inline(__always) _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}
