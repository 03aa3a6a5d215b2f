import PortableFoundation

/// What back ends want to know of the device, for their common parameters (article row 0.2).
///
/// ```swift
/// let device = try Device.current(storingIn: .applicationSupportDirectory.appending(path: "device"))
/// let backend = Backend(baseURL: url, commonParameters: { ["device_id": device.id, "device": device.description] })
/// ```
public struct Device: Sendable, Hashable, CustomStringConvertible {
  /// A random identifier of this installation: tells devices apart, and nothing about the user or the hardware.
  public let id: String
  /// The system's name and version, such as `Linux 6.1` or `iOS 18.2`.
  public let system: String
  /// The processor's architecture, such as `arm64`.
  public let architecture: String
  /// The app's version from its bundle; `nil` for tools without one.
  public let appVersion: String?

  /// System and architecture in one text, without anything that would identify one device.
  public var description: String { "\(system); \(architecture)" }

  /// This device, with the identifier that was stored in `file`; the first call makes one and stores it.
  ///
  /// Reads the disk: call it once, at the start.
  ///
  /// - Throws: `NetworkError` of kind `file` when the identifier can be neither read nor stored.
  public static func current(storingIn file: URL) throws(NetworkError) -> Device {
    if let stored = try? String(contentsOf: file, encoding: .utf8), UUID(uuidString: stored) != nil {
      return Device(id: stored)
    }
    let id = UUID().uuidString
    do {
      let folder = file.deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(id.utf8).write(to: file, options: .atomic)
    } catch {
      throw NetworkError(
        kind: .file, reason: "the device's identifier can't be stored in \(file.path): \(SystemError.text(of: error))",
        underlying: error)
    }
    return Device(id: id)
  }

  /// A device with an identifier of the app's own.
  public init(id: String) {
    self.id = id
    let version = ProcessInfo.processInfo.operatingSystemVersion
    system = "\(Self.systemName) \(version.majorVersion).\(version.minorVersion)"
    architecture = Self.architectureName
    #if canImport(Darwin)
      appVersion = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
    #else
      appVersion = nil
    #endif
  }

  private static var systemName: String {
    #if os(iOS)
      "iOS"
    #elseif os(tvOS)
      "tvOS"
    #elseif os(watchOS)
      "watchOS"
    #elseif os(visionOS)
      "visionOS"
    #elseif os(macOS)
      "macOS"
    #else
      "Linux"
    #endif
  }

  private static var architectureName: String {
    #if arch(arm64)
      "arm64"
    #elseif arch(x86_64)
      "x86_64"
    #else
      "unknown"
    #endif
  }
}
