// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

open class UIImage: NSObject {
  public init?(data: Data) { nil }
}
