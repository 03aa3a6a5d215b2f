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
