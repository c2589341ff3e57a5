import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// HMAC-SHA-1 with the examples of RFC 2202, section 3.
@Suite(.standardTimeLimit) struct HMACSHA1Tests {
  struct Vector: Sendable {
    let key: [UInt8]
    let message: [UInt8]
    let code: String
  }

  private static func code(_ message: [UInt8], key: [UInt8]) throws -> [UInt8] {
    HMACSHA1.code(of: message.span, key: try Secret(copying: key.span))
  }

  private static let vectors = [
    Vector(
      key: .init(repeating: 0x0B, count: 20), message: Array("Hi There".utf8),
      code: "b617318655057264e28bc0b6fb378c8ef146be00"),
    Vector(
      key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
      code: "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    Vector(
      key: .init(repeating: 0xAA, count: 20), message: .init(repeating: 0xDD, count: 50),
      code: "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
    Vector(
      key: Array(1...25), message: .init(repeating: 0xCD, count: 50), code: "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
    Vector(
      key: .init(repeating: 0x0C, count: 20), message: Array("Test With Truncation".utf8),
      code: "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
    Vector(
      key: .init(repeating: 0xAA, count: 80),
      message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      code: "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
    Vector(
      key: .init(repeating: 0xAA, count: 80),
      message: Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8),
      code: "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"),
  ]

  @Test(arguments: vectors) func `codes are those of the standard's examples`(_ vector: Vector) throws {
    #expect(try Self.code(vector.message, key: vector.key) == bytes(vector.code))
  }

  @Test func `a key as long as a block is taken as it is`() throws {
    // What Python's hmac makes of the same.
    #expect(
      try Self.code(Array("m".utf8), key: [UInt8](repeating: 0x61, count: 64))
        == bytes("7a073a0cc4b46cd1f581a3a5e5ff66871daca857"))
  }
}
