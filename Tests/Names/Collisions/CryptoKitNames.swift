import CryptoKit
import Foundation
import NetLayer

private func digests(_ data: Data) -> (Data, any Digest) {
  (Hash.sha256(data), SHA256.hash(data: data))
}
