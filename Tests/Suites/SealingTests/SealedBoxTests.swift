import SecretMemory
import TestSupport
import Testing

@testable import Sealing

@Suite(.standardTimeLimit) struct SealedBoxTests {
  init() throws { try Sealing.initialize() }

  private let plaintext: [UInt8] = Array("obviously-fake-token".utf8)

  private func context(row: Int64 = 7) -> AssociatedData {
    var context = AssociatedData()
    context.append("sessions")
    context.append(row)
    return context
  }

  @Test func `the cipher gives the published answer`() {
    // draft-irtf-cfrg-xchacha-03, appendix A.3.1
    let sunscreen = Array(
      ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        + "sunscreen would be it.").utf8)
    let expected = bytes(
      """
      bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216
      cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13
      b52ec0875924c1c7987947deafd8780acf49
      """)
    var sealed = [UInt8](repeating: 0, count: sunscreen.count + 16)
    var output = sealed.mutableSpan
    XChaCha20Poly1305.encrypt(
      sunscreen.span, associatedData: bytes("50515253c0c1c2c3c4c5c6c7").span,
      nonce: bytes("404142434445464748494a4b4c4d4e4f5051525354555657").span, key: Array(0x80...0x9f).span, into: &output
    )
    #expect(sealed == expected)
  }

  @Test(arguments: [0, 1, 20, 5_000, 1 << 20])
  func `what is sealed opens`(count: Int) throws {
    let original = RandomBytes.array(count: count)
    let key = try SealingKey.random()
    let box = SealedBox.seal(original.span, context: context(), key: key)
    #expect(box.count == count + SealedBox.overheadByteCount)
    #expect(try SealedBox.open(box.span, context: context(), key: key) == Secret(copying: original.span))
  }

  @Test func `a box has the documented layout`() throws {
    let key = try SealingKey(copying: Array(0x80...0x9f).span)
    let nonce = [UInt8](1...24)
    let box = SealedBox.seal(plaintext.span, context: context(), key: key, nonce: nonce)
    #expect(box.prefix(2) == [1, 1])
    #expect(box[2..<18].elementsEqual(key.id.bytes))
    #expect(box[18..<42].elementsEqual(nonce))
    #expect(try SealedBox.keyID(of: box.span) == key.id)
    #expect(SealedBox.overheadByteCount == 58)
  }

  /// Boxes that were computed once by another implementation of RFC 7693, RFC 8439 and draft-irtf-cfrg-xchacha-03.
  ///
  /// They rest in people's vaults: a later version reads them as this one does.
  private static let knownBoxes: [(fields: Bool, plaintext: String, box: String)] = [
    (
      true, "obviously-fake-token",
      """
      01016fc20cbc3597173e53983352040135b40102030405060708090a0b0c0d0e0f101112131415161718
      a0fd76a11fe346844de2410cc23411f75284cfd938a1244fc49f3970e255d6c69c61a93b
      """
    ),
    (
      false, "",
      """
      01016fc20cbc3597173e53983352040135b40102030405060708090a0b0c0d0e0f101112131415161718
      e25c88be3ca1b4b03c393b79c96e8232
      """
    ),
  ]

  @Test(arguments: knownBoxes.indices) func `a box of the first version is written and read for ever`(index: Int) throws
  {
    let known = Self.knownBoxes[index]
    let context = known.fields ? Self.knownContext : AssociatedData()
    let key = try SealingKey(copying: Array(0x80...0x9f).span)
    let plaintext = Array(known.plaintext.utf8)
    #expect(SealedBox.seal(plaintext.span, context: context, key: key, nonce: Array(1...24)) == bytes(known.box))
    let opened = try SealedBox.open(bytes: bytes(known.box), context: context, key: key)
    #expect(try opened == Secret(copying: plaintext.span))
  }

  private static var knownContext: AssociatedData {
    var context = AssociatedData()
    context.append("sessions")
    context.append(7)
    return context
  }

  @Test func `no box opens after one bit of it is flipped`() throws {
    let key = try SealingKey.random()
    let box = SealedBox.seal(plaintext.span, context: context(), key: key)
    for index in box.indices {
      for bit in 0..<8 {
        var forged = box
        forged[index] ^= 1 << UInt8(bit)
        let expected: SealingError = index < 2 ? .unsupportedFormat : index < 18 ? .wrongKey : .notAuthentic
        #expect(throws: expected) { try SealedBox.open(bytes: forged, context: context(), key: key) }
      }
    }
  }

  @Test func `no part of a box opens`() throws {
    let key = try SealingKey.random()
    let box = SealedBox.seal(plaintext.span, context: context(), key: key)
    for count in box.indices {
      let expected: SealingError = count < SealedBox.overheadByteCount ? .malformed : .notAuthentic
      #expect(throws: expected) { try SealedBox.open(bytes: Array(box.prefix(count)), context: context(), key: key) }
    }
  }

  @Test func `a box opens only in its own place and under its own key`() throws {
    let key = try SealingKey.random()
    let box = SealedBox.seal(plaintext.span, context: context(), key: key)
    #expect(throws: SealingError.notAuthentic) { try SealedBox.open(box.span, context: context(row: 8), key: key) }
    #expect(throws: SealingError.notAuthentic) { try SealedBox.open(box.span, context: AssociatedData(), key: key) }
    #expect(throws: SealingError.wrongKey) { try SealedBox.open(box.span, context: context(), key: .random()) }
  }

  @Test func `the same plaintext is never sealed to the same box`() throws {
    let key = try SealingKey.random()
    let boxes = (0..<100).map { _ in SealedBox.seal(plaintext.span, context: context(), key: key) }
    #expect(Set(boxes).count == 100)
  }

  @Test func `associated data has one encoding per list of fields`() {
    var two = AssociatedData()
    two.append("ab")
    two.append("c")
    #expect(two.bytes == Array("AB1".utf8) + [0, 0, 0, 2] + Array("ab".utf8) + [0, 0, 0, 1] + Array("c".utf8))
    var other = AssociatedData()
    other.append("a")
    other.append("bc")
    #expect(two != other)
    var number = AssociatedData()
    number.append(-2)
    #expect(number.bytes.suffix(12) == [0, 0, 0, 8, 255, 255, 255, 255, 255, 255, 255, 254])
  }

  @Test func `a key has 32 bytes and prints nothing of them`() throws {
    #expect(throws: SealingError.malformed) { try SealingKey(bytes: Array(0...30)) }
    #expect(throws: SealingError.malformed) { try SealingKey(Secret(utf8: "")) }
    var dumped = ""
    dump(try SealingKey(bytes: [UInt8](repeating: UInt8(ascii: "q"), count: 32)), to: &dumped)
    #expect(dumped.contains("<redacted>") && !dumped.contains("qqqq"))
  }
}
