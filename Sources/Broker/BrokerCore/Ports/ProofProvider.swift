import BrokerProtocol
package import SecretMemory
import TextCoding

/// A provider whose sessions may have a key that their tokens are bound to (RFC 9449).
package protocol ProofProvider: Sendable {
  /// Makes a proof for one request to a server that takes the session's tokens.
  ///
  /// No server is asked, and no two proofs are the same.
  ///
  /// - Parameters:
  ///   - token: the token that goes with the request, with its key.
  ///   - request: the request.
  /// - Returns: the proof, a compact JWS.
  /// - Throws: `.transient(.overloaded)`; `.credentialMissing` where no library signs on this machine.
  func proof(of token: BoundToken, for request: ProvenRequest) throws(ProviderFailure) -> Secret
}

/// A request that a proof is made for (RFC 9449, section 4.2).
package struct ProvenRequest: Sendable, Equatable {
  /// The method.
  package var method: String
  /// The address without query and fragment, as the request names it.
  package var address: String
  /// The server of the address: scheme, host and port.
  package var origin: String
  /// The nonce that the server has demanded; nil for the last one that is known of it.
  package var nonce: String?

  /// How long a method can be: the longest registered one has 17 letters (IANA's registry of HTTP methods).
  private static let methodCount = 1...32

  /// A request as a client names it.
  ///
  /// - Throws: ``Flaw``, which is the name of the parameter that is none.
  package init(method: String, url: String, nonce: String?) throws(Flaw) {
    let isMethod = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
    guard Self.methodCount.contains(method.utf8.count), isMethod else { throw .method }
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = AddressParts(url), parts.user == nil,
      parts.scheme == "https" || parts.scheme == "http", let server = parts.server, let port = parts.port
    else { throw .url }
    if let nonce, !Self.isNonce(nonce) { throw .nonce }
    self.method = method
    let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.utf8.endIndex
    address = String(url[..<end])
    origin = "\(parts.scheme)://\(server.host):\(port)"
    self.nonce = nonce
  }

  /// A request of a provider's own, to an address that was checked.
  package init(method: String, address: String, origin: String) {
    self.method = method
    self.address = address
    self.origin = origin
  }

  /// A parameter that is not what its name says.
  package enum Flaw: String, Error {
    case method, url, nonce
  }

  /// Whether a text can be a nonce (RFC 9449, section 8.1: `1*NQCHAR`).
  package static func isNonce(_ text: String) -> Bool {
    (1...ParameterLength.nonce).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      }
  }
}
