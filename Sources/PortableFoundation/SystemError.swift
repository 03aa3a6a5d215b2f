/// The system's part of an error: of the last system call, or behind one of Foundation's errors.
package enum SystemError {
  /// The error of `errno`, for a system call that has just failed on this thread.
  package static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  /// The `errno` behind `error`; `nil` where the system had no part in it.
  package static func code(of error: any Error) -> Int32? {
    if let error = error as? POSIXError { return error.code.rawValue }
    return (error as? CocoaError)?.underlying.flatMap(code)
  }

  /// The cause of `error` in words: the system's, or else the error's own.
  package static func text(of error: any Error) -> String {
    if let code = code(of: error) { return String(cString: strerror(code)) }
    return (error as? any LocalizedError)?.errorDescription ?? "\(error)"
  }
}
