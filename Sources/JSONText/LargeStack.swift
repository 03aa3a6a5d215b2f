import PortableFoundation

/// A stack that is large enough for recursion through deep JSON, on any thread.
///
/// Scanning is not recursive. Decoding (through the code of the models), equality, encoding and pretty-printing are
/// recursive. JSON of up to 32 levels is processed in place: on the 512 KB stacks of Dispatch that leaves 16 KB per
/// level. This module needs 3.5 KB of it without optimization.
///
/// Deeper JSON, which is rare, is processed on a separate thread with 32 KB for each of the 512 levels that the scanner
/// accepts; unused parts take no memory. Work that begins on such a thread stays there as long as there is room.
enum LargeStack {
  private static let shallow = 32
  private static let level = 16 * 1024
  private static let size = JSON.maxDepth * 2 * level

  /// The thread-specific key for the end of the stack, set on the threads of this module; `nil` if the system has no
  /// key left.
  private static let limit: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// The work of a thread. The caller waits for it, so it may point to the caller's stack.
  private struct Job {
    let size: Int
    let body: () -> Void
  }

  /// Runs `work`, which recurses through `depth` levels of JSON, and waits for it.
  ///
  /// If the system cannot create a thread with `stackSize` bytes, `work` runs in place.
  @inline(__always)
  static func run<Value, Failure: Error>(
    depth: Int, stackSize: Int = size, _ work: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    depth <= shallow || hasRoom(for: depth) ? try work() : try runElsewhere(stackSize, work)
  }

  /// Returns whether this is a thread of this module with enough stack left.
  private static func hasRoom(for depth: Int) -> Bool {
    guard let limit, let end = pthread_getspecific(limit) else { return false }
    return here() - Int(bitPattern: end) > (depth + shallow) * level
  }

  /// Returns an address in the part of the stack that is in use.
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

  /// Runs `body` on a new thread and waits for its end; does nothing if no thread can be created.
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
      // The caller waits, and joining a thread lends it no priority.
      pthread_attr_set_qos_class_np(&attributes, qos_class_self(), 0)
      var thread: pthread_t?
      guard pthread_create(&thread, &attributes, { performJob($0) }, job) == 0, let thread else { return }
    #else
      var thread = pthread_t()
      guard pthread_create(&thread, &attributes, { performJob($0) }, job) == 0 else { return }
    #endif
    pthread_join(thread, nil)
  }

  /// Records the end of the stack of this thread, and runs its job.
  fileprivate static func perform(_ argument: UnsafeMutableRawPointer?) {
    guard let job = argument?.assumingMemoryBound(to: Job.self) else { return }
    if let limit { pthread_setspecific(limit, UnsafeRawPointer(bitPattern: here() - job.pointee.size)) }
    job.pointee.body()
  }
}

// A function at file scope: the compiler (6.3.1) rejects a closure that calls the method. It is called in a closure, because the
// compiler crashes where the function itself has another parameter than Darwin's `pthread_create` asks for.
private func performJob(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  LargeStack.perform(argument)
  return nil
}
