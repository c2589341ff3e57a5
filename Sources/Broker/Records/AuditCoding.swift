import BrokerCore
package import BrokerProtocol
import JSON
package import Sealing
package import SecretMemory
import TextCoding

/// An entry of the audit as it is before sealing: its link in the chain, and one JSON object with the members that
/// `readAudit` shows.
package enum AuditCoding {
  /// The limits of reading: an entry holds no list without a bound.
  private static let limits = JSONLimits(depth: 8, byteCount: 1 << 20)

  /// The bytes that are sealed.
  ///
  /// - Parameters:
  ///   - entry: with its number.
  ///   - previous: the link of the entry before it.
  ///   - chain: makes the link.
  /// - Returns: the bytes, and the link.
  package static func encode(
    _ entry: AuditEntry, after previous: AuditLink, _ chain: AuditChain
  ) -> (bytes: [UInt8], link: AuditLink) {
    var writer = JSONWriter()
    entry.encode(to: &writer)
    let link = chain.link(writer.bytes, after: previous)
    return (link.bytes + writer.bytes, link)
  }

  /// Takes apart what was sealed; nil where it is too short to be an entry.
  package static func split(_ bytes: [UInt8]) -> (link: AuditLink, text: [UInt8])? {
    guard bytes.count > AuditLink.byteCount else { return nil }
    let link = AuditLink(bytes: Array(bytes.prefix(AuditLink.byteCount)))
    return (link, Array(bytes.dropFirst(AuditLink.byteCount)))
  }

  /// The entry; nil for one that is not what was written.
  package static func decode(_ text: [UInt8]) -> AuditEntry? {
    guard let document = try? JSONDocument(parsing: text, limits: limits) else { return nil }
    return try? AuditEntry(from: document.root)
  }
}

/// A link of the chain: it stands for an entry and all before it.
package struct AuditLink: Hashable, Sendable {
  /// How many bytes it has.
  package static let byteCount = 32
  /// The link before the first entry.
  package static let start = AuditLink(bytes: [UInt8](repeating: 0, count: byteCount))

  /// The bytes.
  package let bytes: [UInt8]

  /// A link of ``byteCount`` bytes.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The link of a head's text; nil where that is none.
  package static func head(_ text: String) -> (number: Int64, link: AuditLink)? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int64(parts[0]), number > 0,
      let bytes = Base64.decodeURLForm(Array(parts[1].utf8).span), bytes.count == byteCount
    else { return nil }
    return (number, AuditLink(bytes: bytes))
  }

  /// The text of the head that an entry of this link is.
  package func head(_ number: Int64) -> String {
    "\(number).\(String(decoding: Base64.encode(bytes.span, as: .url), as: UTF8.self))"
  }
}

/// Makes the links: BLAKE2b (RFC 7693) with a key of the vault, so that only its owner can make one.
///
/// The key stays the same for the life of the vault, whatever it is sealed with: a head that was told before a change of
/// keys can be verified after it.
package struct AuditChain: Sendable {
  private static let label = Array("AuthBroker audit 1".utf8)
  private let hash: KeyedHash

  /// The chain of a vault, by its key of token names.
  ///
  /// - Throws: `SealingError.secretMemoryExhausted`.
  package init(from fingerprintKey: Secret) throws(SealingError) {
    hash = try KeyedHash(key: KeyedHash(key: fingerprintKey).secretDigest(of: Self.label.span))
  }

  /// The link of an entry, by its text and the link before it.
  package func link(_ text: [UInt8], after previous: AuditLink) -> AuditLink {
    let message = previous.bytes + text
    return AuditLink(bytes: hash.digest(of: message.span, count: AuditLink.byteCount))
  }
}
