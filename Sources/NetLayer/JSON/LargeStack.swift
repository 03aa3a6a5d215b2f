import Foundation

/// Room for recursion through deep JSON, on whatever thread it begins.
///
/// Scanning does not recurse; decoding does, through the models' own code, and so do equality and pretty-printing. JSON up
/// to 32 levels is worked on in place: on the 512 KB stacks of Dispatch that leaves 16 KB a level, of which our part takes 3.5
/// without optimisation. Deeper JSON, which is rare, gets a thread of its own with 32 KB for each of the 512 levels that
/// the scanner lets through; only what is used of it becomes memory.
enum LargeStack {
  private static let shallow = 32
  private static let size = JSON.maximumDepth * 32 * 1024

  // Safe: `result` is written before the semaphore is signalled and read after it was waited for; `work` runs meanwhile.
  private final class Job<Value, Failure: Error>: @unchecked Sendable {
    var work: (() throws(Failure) -> Value)?
    let done = DispatchSemaphore(value: 0)
    var result: Result<Value, Failure>?

    init(_ work: @escaping () throws(Failure) -> Value) { self.work = work }

    func run() {
      do throws(Failure) { if let work { result = .success(try work()) } } catch { result = .failure(error) }
      // Whoever waits may not find it used any more.
      work = nil
      done.signal()
    }
  }

  /// Runs `work`, which recurses as deep as `depth` levels of JSON, and waits for it.
  @inline(__always)
  static func run<Value, Failure: Error>(
    depth: Int, _ work: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    depth <= shallow ? try work() : try runElsewhere(work)
  }

  private static func runElsewhere<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value
  {
    let result = withoutActuallyEscaping(work) { work in
      let job = Job(work)
      let thread = Thread { job.run() }
      thread.stackSize = size
      thread.start()
      job.done.wait()
      return job.result
    }
    guard let result else { preconditionFailure("the thread has signalled without a result") }
    return try result.get()
  }
}
