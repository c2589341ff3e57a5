import TestSupport
import Testing

@testable import SecretMemory

@Suite(.standardTimeLimit) struct SecretTests {
  private static let marker: [UInt8] = Array("obviously-fake-secret".utf8)

  private func bytes(of secret: Secret) -> [UInt8] {
    secret.withBytes { span in span.indices.map { span[$0] } }
  }

  @Test(arguments: [0, 1, 63, 64, 65, 127, 128, 4_095, 4_096, 4_097, 100_000, 1 << 20])
  func `a secret of any length gives back what was put in`(count: Int) throws {
    let original = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
    let secret = try Secret(copying: original.span, in: SecretArena(capacity: count))
    #expect(secret.byteCount == count)
    #expect(bytes(of: secret) == original)
  }

  @Test func `the empty secret has no bytes`() throws {
    #expect(Secret.empty.byteCount == 0)
    #expect(bytes(of: .empty) == [])
    #expect(Secret.empty.revealedString() == "")
    #expect(try Secret.empty == Secret(copying: [UInt8]().span))
    #expect(try Secret.empty != Secret(copying: Self.marker.span))
  }

  @Test func `moving an array into a secret zeroes the array`() throws {
    var original = Self.marker
    let secret = try Secret(wiping: &original)
    #expect(original == [UInt8](repeating: 0, count: Self.marker.count))
    #expect(bytes(of: secret) == Self.marker)
  }

  @Test func `wiping zeroes in place and keeps the count`() {
    var array: [UInt8] = [1, 2, 3]
    wipe(&array)
    #expect(array == [0, 0, 0])
    var empty: [UInt8] = []
    wipe(&empty)
    #expect(empty.isEmpty)
  }

  @Test func `a closure writes a secret in place`() throws {
    let secret = try Secret(byteCount: 3) { target in
      #expect(target[0] == 0 && target[1] == 0 && target[2] == 0)
      target[1] = 9
    }
    #expect(bytes(of: secret) == [0, 9, 0])
  }

  private struct Refusal: Error, Equatable {}

  @Test func `a closure that fails is reported and what it wrote is wiped`() throws {
    let before = try Secret(copying: Self.marker.span)
    #expect {
      _ = try Secret(byteCount: 8) { (target: inout MutableSpan<UInt8>) throws(Refusal) in
        target[0] = 0xff
        throw Refusal()
      }
    } throws: { error in
      guard case .body(Refusal())? = error as? SecretInitializationFailure<Refusal> else { return false }
      return true
    }
    #expect(bytes(of: before) == Self.marker)
  }

  @Test func `UTF-8 goes in and comes out, and other bytes are not repaired`() throws {
    #expect(try Secret(utf8: "påss\u{0}wörd 🔑").revealedString() == "påss\u{0}wörd 🔑")
    #expect(try Secret(utf8: "").revealedString() == "")
    let invalid: [UInt8] = [0xff, 0xfe]
    #expect(try Secret(copying: invalid.span).revealedString() == nil)
  }

  @Test func `secrets are equal when their bytes are`() throws {
    let secret = try Secret(copying: Self.marker.span)
    #expect(try secret == Secret(copying: Self.marker.span))
    for index in Self.marker.indices {
      var other = Self.marker
      other[index] ^= 0x80
      #expect(try secret != Secret(copying: other.span))
    }
    let shorter = Array(Self.marker.dropLast())
    #expect(try secret != Secret(copying: shorter.span))
    #expect(try Secret(utf8: "") == Secret(utf8: ""))
  }

  private struct Login {
    let account = "somebody"
    let password: Secret
  }

  @Test func `however a secret is printed it says redacted`() throws {
    let secret = try Secret(copying: Self.marker.span)
    #expect(secret.description == "<redacted>")
    #expect("\(secret)" == "<redacted>")
    #expect(String(describing: secret) == "<redacted>")
    #expect(String(reflecting: secret) == "<redacted>")
    #expect(Mirror(reflecting: secret).children.isEmpty)
    let login = Login(password: secret)
    var dumped = ""
    dump(secret, to: &dumped)
    dump(login, to: &dumped)
    print(login, [secret], Optional.some(secret) as Any, to: &dumped)
    debugPrint(login, ["password": secret], to: &dumped)
    #expect(dumped.contains("<redacted>"))
    #expect(!dumped.contains("fake") && !dumped.contains("byteCount") && !dumped.contains("offset"))
    let hexadecimal = Self.marker.map { String($0, radix: 16) }.joined()
    let decimal = Self.marker.map { String($0) }.joined(separator: ", ")
    #expect(!dumped.contains(hexadecimal) && !dumped.contains(decimal))
  }
}
