package import BrokerCore
import BrokerProtocol
import JSON
import Sealing
package import SecretMemory

/// The coding of tokens to revoke before they are sealed: one JSON object, the tokens as in a session's record.
package enum RevocationCoding {
  /// The object; the caller wipes it.
  package static func encode(_ revocation: PendingRevocation) -> [UInt8] {
    var buffer: [UInt8] = []
    // Room for everything at once: a buffer that grows leaves its earlier bytes behind.
    let user = revocation.userID ?? ""
    buffer.reserveCapacity(TokenCoding.capacity(for: revocation.tokens) + 6 * user.utf8.count)
    var writer = JSONWriter(appendingTo: buffer)
    buffer = []
    writer.object { writer in
      writer.member("everywhere", revocation.everywhere)
      writer.member(ifPresent: "userId", revocation.userID)
      writer.member("startedAt", Int(revocation.startedAt.milliseconds))
      TokenCoding.write(revocation.tokens, to: &writer)
    }
    return writer.bytes
  }

  /// - Throws: `JSONError` or `JSONMismatch` when it is not what was written, `SealingError.malformed`,
  ///   `.secretMemoryExhausted`.
  package static func decode(
    _ plaintext: Secret, _ id: PendingRevocation.ID, _ binding: ProviderBinding
  ) throws -> PendingRevocation {
    var bytes = plaintext.withBytes { plaintext in plaintext.indices.map { plaintext[$0] } }
    defer { wipe(&bytes) }
    return try revocation(of: bytes, id, binding)
  }

  private static func revocation(
    of bytes: [UInt8], _ id: PendingRevocation.ID, _ binding: ProviderBinding
  ) throws -> PendingRevocation {
    let root = try JSONDocument(parsing: bytes, limits: TokenCoding.limits).root
    return PendingRevocation(
      id: id, binding: binding, tokens: try TokenCoding.tokens(of: root),
      userID: try root.optional("userId", String.init(from:)), everywhere: try root.required("everywhere").bool(),
      startedAt: Timestamp(milliseconds: try root.required("startedAt").integer()))
  }
}
