import SecretMemory
import TestSupport
import Testing

@testable import Sealing

/// Secrets that rest: outside of the arena, encrypted, and the same when they are read.
@Suite(.standardTimeLimit) struct RestingSecretTests {
  init() throws { try Sealing.initialize() }

  private static func bytes(of secret: Secret) -> [UInt8] {
    secret.withBytes { span in span.indices.map { span[$0] } }
  }

  @Test(arguments: [1, 63, 64, 900, 16_384, 65_536])
  func `a secret that rests leaves the arena and reads as before`(count: Int) throws {
    let original = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
    let secret = try Secret(copying: original.span)
    let resting = secret.resting()
    #expect(!resting.isInArena && resting.byteCount == count)
    #expect(Self.bytes(of: resting) == original && resting == secret)
    // It rests already.
    #expect(!resting.resting().isInArena)
  }

  @Test func `what has no bytes, or too many, stays where it is`() throws {
    #expect(Secret.empty.resting().byteCount == 0)
    let long = try Secret(byteCount: Secret.longestResting + 1) { _ in }
    #expect(long.resting().isInArena)
  }

  @Test func `more secrets rest than the arena has room for`() throws {
    let count = 2 * SecretArena.defaultCapacity / 1024
    let resting = try (0..<count).map { number in
      try Secret(copying: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1024).span).resting()
    }
    #expect(resting.allSatisfy { !$0.isInArena })
    #expect(resting.indices.allSatisfy { Self.bytes(of: resting[$0]).last == UInt8(truncatingIfNeeded: $0) })
  }

  /// What secrets rest in, with nothing behind it.
  private final class Source: RestingSource {
    func open(into output: inout MutableSpan<UInt8>) -> Bool {
      for index in output.indices { output[index] = UInt8(truncatingIfNeeded: index) }
      return true
    }
  }

  @Test func `what a secret rests in is freed with the last handle`() throws {
    weak var watched: Source?
    do {
      let source = Source()
      watched = source
      let secret = try #require(Secret(resting: source, byteCount: 8))
      let handles = Array(repeating: secret, count: 3)
      #expect(handles.allSatisfy { Self.bytes(of: $0) == Array(0..<8) })
      #expect(watched != nil)
    }
    #expect(watched == nil)
  }

  @Test func `a box that was changed does not open, and none is like another`() throws {
    let shield = try RestingShield()
    let plaintext: [UInt8] = Array("obviously-fake-token".utf8)
    var box = shield.close(plaintext.span)
    #expect(box != shield.close(plaintext.span))
    #expect(!box.indices.contains { box[$0...].starts(with: plaintext) })
    var opened = [UInt8](repeating: 0, count: plaintext.count)
    var output = opened.mutableSpan
    #expect(shield.open(box.span, into: &output))
    #expect(opened == plaintext)
    box[box.count - 1] ^= 1
    var target = opened.mutableSpan
    #expect(!shield.open(box.span, into: &target))
  }
}
