/// A thread-local pointer, initially `nil`.
// Foundation's `Thread.threadDictionary` is not part of FoundationEssentials.
package struct ThreadPointer: Sendable {
  /// `nil` if the process has no key left (Linux allows 1,024); the pointer then stays `nil`.
  private let key: pthread_key_t?

  package init() {
    var key = pthread_key_t()
    self.key = pthread_key_create(&key, nil) == 0 ? key : nil
  }

  /// The calling thread's pointer, which is not retained.
  package var value: UnsafeMutableRawPointer? {
    get { key.flatMap { pthread_getspecific($0) } }
    nonmutating set { if let key { pthread_setspecific(key, newValue) } }
  }
}

/// Threads that run until their work is done and are never joined.
package enum DetachedThread {
  private final class Start: Sendable {
    let name: String
    let work: @Sendable () -> Void

    init(_ name: String, _ work: @escaping @Sendable () -> Void) { (self.name, self.work) = (name, work) }

    func run() {
      #if canImport(Darwin)
        pthread_setname_np(name)
      #else
        // `pthread_setname_np` is not available in Swift here. Linux keeps 15 bytes of a name.
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        if file >= 0 {
          writeAll(Data(name.utf8), to: file)
          _ = close(file)
        }
      #endif
      work()
    }
  }

  /// Runs `work` on a new thread that debuggers show as `name`.
  ///
  /// - Throws: `POSIXError` if the system can't create a thread.
  package static func start(_ name: String, _ work: @escaping @Sendable () -> Void) throws {
    let start = Unmanaged.passRetained(Start(name, work))
    let code: Int32
    #if canImport(Darwin)
      var thread: pthread_t?
      code = pthread_create(
        &thread, nil,
        { argument in
          Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().run()
          return nil
        }, start.toOpaque())
      if code == 0, let thread { pthread_detach(thread) }
    #else
      var thread = pthread_t()
      code = pthread_create(
        &thread, nil,
        { argument in
          if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().run() }
          return nil
        }, start.toOpaque())
      if code == 0 { pthread_detach(thread) }
    #endif
    guard code != 0 else { return }
    start.release()
    throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EAGAIN)
  }
}
