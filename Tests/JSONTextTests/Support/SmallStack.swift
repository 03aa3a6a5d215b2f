import Foundation

// Safe: written before the semaphore is signaled, read after the wait for it.
private final class Slot<Value>: @unchecked Sendable { var value: Value? }

/// Runs `work` on 512 KB of stack, like that of Dispatch's worker threads.
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
