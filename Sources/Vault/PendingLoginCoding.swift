import BrokerCore
import BrokerProtocol
import JSONRPC
import Sealing
import SecretMemory

/// A login that waits for its code, as it is before sealing: one JSON object, the provider's handle in base64url.
enum PendingLoginCoding {
  /// What a provider says of a challenge may be as long as its reply; the database refuses what is longer than this as
  /// well, so nothing was ever written that cannot be read.
  private static let limits = JSONLimits(depth: 16, byteCount: 4 << 20)

  /// The object; the caller wipes it.
  static func encode(_ login: PendingLogin) -> [UInt8] {
    var buffer: [UInt8] = []
    // Room for everything at once: a buffer that grows leaves its earlier bytes behind. Base64 makes 4 bytes of 3, an
    // escape 6 of 1; 1 KiB is more than the names, numbers and times have together.
    buffer.reserveCapacity(
      1024 + 2 * login.flow.byteCount + 6 * login.challenge.maskedDestination.utf8.count
        + 6 * login.challenge.otpFlowID.utf8.count)
    var writer = JSONWriter(appendingTo: buffer)
    buffer = []
    writer.object { writer in
      writer.member("challenge", login.challenge)
      var text = login.flow.withBytes { Base64URL.encode($0) }
      writer.key("flow")
      writer.string(utf8: text.span)
      wipe(&text)
    }
    return writer.bytes
  }

  /// - Throws: `JSONError` or `JSONMismatch` when it is not what was written, `SealingError.malformed`,
  ///   `.secretMemoryExhausted`.
  static func decode(_ plaintext: Secret) throws -> PendingLogin {
    var bytes = plaintext.withBytes { plaintext in plaintext.indices.map { plaintext[$0] } }
    defer { wipe(&bytes) }
    return try login(of: bytes)
  }

  private static func login(of bytes: [UInt8]) throws -> PendingLogin {
    let root = try JSONDocument(parsing: bytes, limits: limits).root
    let challenge = try OTPChallenge(from: root.required("challenge"))
    let flow = try root.required("flow").withStringBytes { text in
      Result { () throws(SealingError) -> Secret in try Base64URL.decodeSecret(text) }
    }.get()
    return PendingLogin(challenge: challenge, flow: flow)
  }
}
