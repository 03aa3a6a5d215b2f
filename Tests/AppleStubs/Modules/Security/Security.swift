// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation
import FoundationNetworking

public typealias CFString = String
public typealias CFData = Data
public typealias CFArray = [Any]
public typealias CFError = any Error
public typealias CFTypeID = UInt
public final class CFAllocator {}
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { 0 }
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = AnyObject
public typealias OSStatus = Int32

public let kSecClass = "class"
public let kSecClassGenericPassword = "genp"
public let kSecAttrService = "svce"
public let kSecAttrAccount = "acct"
public let kSecAttrAccessible = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "ck"
public let kSecReturnData = "r_Data"
public let kSecMatchLimit = "m_Limit"
public let kSecMatchLimitOne = "m_LimitOne"
public let kSecValueData = "v_Data"
public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? { nil }

public final class SecCertificate {}
public final class SecIdentity {}
public final class SecTrust {}

public let kSecImportExportPassphrase = "passphrase"
public let kSecImportToMemoryOnly = "memory"
public let kSecImportItemIdentity = "identity"
public let kSecImportItemCertChain = "chain"

public func SecIdentityGetTypeID() -> CFTypeID { 0 }
public func SecPKCS12Import(
  _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { 0 }
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { nil }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { CFData() }
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus { 0 }
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus { 0 }
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus { 0 }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }

public final class OS_sec_protocol_options {
  public init() {}
}
public typealias sec_protocol_options_t = OS_sec_protocol_options
public func sec_protocol_options_set_min_tls_protocol_version(
  _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) {}

// In Apple's SDK, parts of Foundation that Linux does not have.
extension URLCredential {
  public convenience init(trust: SecTrust) { self.init(user: "", password: "", persistence: .none) }
  public convenience init(identity: SecIdentity, certificates certArray: [Any]?, persistence: Persistence) {
    self.init(user: "", password: "", persistence: persistence)
  }
}

extension URLProtectionSpace {
  public var serverTrust: SecTrust? { nil }
}

extension URLSessionConfiguration {
  public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
    get { .TLSv12 }
    set {}
  }
}
