import PortableFoundation

/// Room for recursion through deep JSON, on whatever thread it begins.
///
/// Scanning does not recurse; decoding does, through the models' own code, and so do equality, encoding and
/// pretty-printing. JSON up to 32 levels is worked on in place: on the 512 KB stacks of Dispatch that leaves 16 KB a level,
/// of which our part takes 3.5 without optimisation. Deeper JSON, which is rare, gets a thread of its own with 32 KB for
/// each of the 512 levels that the scanner lets through; only what is used of it becomes memory. Work that begins on such
/// a thread stays there as long as there is room for it.
enum LargeStack {
  private static let shallow = 32
  private static let level = 16 * 1024
  private static let size = JSON.maximumDepth * 2 * level

  /// Has, on our own threads, the address at which their stack ends; `nil` where the system has no key left.
  private static let limit: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// What a thread is to do; it is waited for, so it may point to the caller's stack.
  private struct Job {
    let size: Int
    let body: () -> Void
  }

  /// Runs `work`, which recurses as deep as `depth` levels of JSON, and waits for it.
  ///
  /// Where the system has no thread of `stackSize` bytes to give, `work` runs in place, on what stack there is.
  @inline(__always)
  static func run<Value, Failure: Error>(
    depth: Int, stackSize: Int = size, _ work: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    depth <= shallow || hasRoom(for: depth) ? try work() : try runElsewhere(stackSize, work)
  }

  /// Whether this is a thread of ours with enough left of its stack.
  private static func hasRoom(for depth: Int) -> Bool {
    guard let limit, let end = pthread_getspecific(limit) else { return false }
    return here() - Int(bitPattern: end) > (depth + shallow) * level
  }

  /// An address in the part of the stack that is in use now.
  @inline(__always)
  private static func here() -> Int {
    var mark: UInt8 = 0
    return withUnsafeMutablePointer(to: &mark) { Int(bitPattern: $0) }
  }

  private static func runElsewhere<Value, Failure: Error>(
    _ size: Int, _ work: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    var result: Result<Value, Failure>?
    withoutActuallyEscaping(work) { work in
      onThread(size) {
        do throws(Failure) { result = .success(try work()) } catch { result = .failure(error) }
      }
    }
    guard let result else { return try work() }
    return try result.get()
  }

  /// Runs `body` on a thread of its own and waits for its end; if there is none to be had, does nothing.
  private static func onThread(_ size: Int, _ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      var job = Job(size: size, body: body)
      join(size, &job)
    }
  }

  private static func join(_ size: Int, _ job: UnsafeMutablePointer<Job>) {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return }
    defer { pthread_attr_destroy(&attributes) }
    guard pthread_attr_setstacksize(&attributes, size) == 0 else { return }
    #if canImport(Darwin)
      var thread: pthread_t?
      guard pthread_create(&thread, &attributes, performJob, job) == 0, let thread else { return }
    #else
      var thread = pthread_t()
      guard pthread_create(&thread, &attributes, performJob, job) == 0 else { return }
    #endif
    pthread_join(thread, nil)
  }

  /// Notes where this thread's stack ends and does its job.
  fileprivate static func perform(_ argument: UnsafeMutableRawPointer?) {
    guard let job = argument?.assumingMemoryBound(to: Job.self) else { return }
    if let limit { pthread_setspecific(limit, UnsafeRawPointer(bitPattern: here() - job.pointee.size)) }
    job.pointee.body()
  }
}

// A function of the file: the compiler (6.3.1) fails over a closure that calls the method.
private func performJob(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  LargeStack.perform(argument)
  return nil
}
