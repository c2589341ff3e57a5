import TestSupport
import Testing

@testable import LocalProvider

/// SHA-1 as RFC 3174 has it.
@Suite(.standardTimeLimit) struct SHA1Tests {
  private static func digest(_ message: [UInt8]) -> [UInt8] { SHA1.digest(of: message.span) }

  @Test(arguments: [
    ("abc", 1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    ("a", 1_000_000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ("01234567", 80, "dea356a2cddd90c7a7ecedc5ebb563934f460452"),
    ("", 1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
  ])
  func `digests are those of the standard's examples`(_ text: String, _ count: Int, _ digest: String) {
    #expect(Self.digest(Array(String(repeating: text, count: count).utf8)) == bytes(digest))
  }

  /// The expected value is what Python's hashlib makes of the same.
  @Test func `a message of any length is padded rightly`() {
    let digests = (0..<200).flatMap { Self.digest([UInt8](repeating: UInt8(ascii: "a"), count: $0)) }
    #expect(Self.digest(digests) == bytes("8a18f04bac7c86cfcffa6a93e5cb21ae0159deac"))
  }
}
