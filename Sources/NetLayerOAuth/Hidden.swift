/// A value that descriptions and mirrors of the types around it do not show.
struct Hidden<Value: Sendable>: Sendable, CustomStringConvertible, CustomReflectable {
  let value: Value

  init(_ value: Value) { self.value = value }

  var description: String { "***" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
