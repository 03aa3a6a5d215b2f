// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Apple's Foundation includes these modules.
@_exported import FoundationNetworking
@_exported import Glibc

// Names that differ in Glibc.
public typealias clockid_t = Int32
public let CLOCK_UPTIME_RAW: clockid_t = 8
public func clock_gettime_nsec_np(_ clock: clockid_t) -> UInt64 { UInt64(clock) }

extension stat {
  public var st_mtimespec: timespec { st_mtim }
  public var st_atimespec: timespec { st_atim }
}

public let SO_NOSIGPIPE: Int32 = 0x1022
public let F_FULLFSYNC: Int32 = 51

// On Darwin, a thread is a pointer.
public struct _opaque_pthread_t {}
public typealias DarwinThread = UnsafeMutablePointer<_opaque_pthread_t>
public func pthread_create(
  _ thread: UnsafeMutablePointer<DarwinThread?>!, _ attributes: UnsafePointer<pthread_attr_t>?,
  _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 { -1 }
@discardableResult
public func pthread_join(_ thread: DarwinThread, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) -> Int32 {
  -1
}
@discardableResult
public func pthread_detach(_ thread: DarwinThread) -> Int32 { -1 }
@discardableResult
public func pthread_setname_np(_ name: UnsafePointer<CChar>) -> Int32 { -1 }

public struct qos_class_t {}

public func qos_class_self() -> qos_class_t { qos_class_t() }

@discardableResult
public func pthread_attr_set_qos_class_np(
  _ attributes: UnsafeMutablePointer<pthread_attr_t>, _ level: qos_class_t, _ priority: Int32
) -> Int32 { 0 }

// A text on Linux.
extension URLSessionTaskTransactionMetrics {
  public var remotePort: Int? { nil }
}
