import PortableFoundation

/// A description of the device, for a backend's common parameters:
/// `{ ["device_id": device.id, "device": device.description] }`.
public struct Device: Sendable, Hashable, CustomStringConvertible {
  /// A random identifier of this installation. It reveals nothing about the user or the hardware.
  public let id: String
  /// The name and version of the system, such as `Linux 6.1` or `iOS 18.2`.
  public let system: String
  /// The architecture of the processor, such as `arm64`.
  public let architecture: String
  /// The app's version from its bundle; `nil` for tools without a bundle.
  public let appVersion: String?

  /// The system and architecture in one text, without anything that identifies a device.
  public var description: String { "\(system); \(architecture)" }

  /// Returns this device with the identifier stored in `file`. The first call creates and stores the identifier.
  /// The file's directory is created with mode 0700 if it is missing.
  ///
  /// This function reads the disk, so call it once, at launch.
  ///
  /// - Throws: `NetworkError` of kind `file` if the identifier can be neither read nor stored.
  public static func current(storingIn file: URL) throws(NetworkError) -> Device {
    if let stored = try? String(contentsOf: file, encoding: .utf8), UUID(uuidString: stored) != nil {
      return Device(id: stored)
    }
    let id = UUID().uuidString
    do {
      try DurableDirectory.createFolder(file.deletingLastPathComponent().path)
      try Data(id.utf8).write(to: file, options: .atomic)
    } catch {
      throw NetworkError(
        kind: .file,
        reason: "the device's identifier can't be stored in \(file.path): \(SystemError.text(of: error)); "
          + "choose another file, in a writable directory", underlying: error)
    }
    return Device(id: id)
  }

  /// Creates a device with a custom identifier.
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
