/// Replaces `value` by `new`, and returns the previous value.
@inlinable
package func exchange<Value: Sendable>(_ value: inout Value, with new: Value) -> Value {
  defer { value = new }
  return value
}
