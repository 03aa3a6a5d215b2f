import Foundation

// Safe: written before the semaphore is signalled, read after it was waited for.
private final class Slot<Value>: @unchecked Sendable { var value: Value? }

/// Runs `work` where Dispatch's worker threads run things: on 512 KB of stack.
func onSmallStack<Value>(_ work: @escaping @Sendable () -> Value) -> Value {
  let slot = Slot<Value>()
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    slot.value = work()
    done.signal()
  }
  thread.stackSize = 512 * 1024
  thread.start()
  done.wait()
  guard let value = slot.value else { preconditionFailure("the thread has signalled without a value") }
  return value
}
