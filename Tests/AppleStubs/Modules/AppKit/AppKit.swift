// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

open class NSImage: NSObject {
  public init?(data: Data) { nil }
}
