#if canImport(UIKit)
  import UIKit

  /// The platform's image type.
  public typealias PlatformImage = UIImage
#elseif canImport(AppKit)
  import AppKit

  /// The platform's image type.
  public typealias PlatformImage = NSImage
#endif

#if canImport(UIKit) || canImport(AppKit)
  // @unchecked Sendable: the image was made here and nobody else has a reference through which to change it.
  /// An image decoded from a body.
  public struct DecodedImage: ResponseReadable, @unchecked Sendable {
    /// The image.
    public let image: PlatformImage

    /// The media type of images.
    public static var accept: String? { "image/*" }

    /// Decodes the image in the body.
    ///
    /// - Throws: `NetworkError` of kind `parse` if the bytes are not an image.
    public static func read(_ response: Response) throws -> DecodedImage {
      guard let image = PlatformImage(data: response.body) else {
        throw response.parseFailure("the body of \(response.body.count) bytes is not an image")
      }
      return DecodedImage(image: image)
    }
  }
#endif
