/// The system error of the last system call, or the one that underlies an error of Foundation.
package enum SystemError {
  /// The error of `errno`, for a system call that has just failed on this thread.
  package static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  /// The `errno` that underlies `error`; `nil` if it is not a system error.
  package static func code(of error: any Error) -> Int32? {
    if let error = error as? POSIXError { return error.code.rawValue }
    return (error as? CocoaError)?.underlying.flatMap(code)
  }

  /// The cause of `error` as text: the system's message, or else the error's own.
  package static func text(of error: any Error) -> String {
    if let code = code(of: error) { return String(cString: strerror(code)) }
    return (error as? any LocalizedError)?.errorDescription ?? "\(error)"
  }
}
