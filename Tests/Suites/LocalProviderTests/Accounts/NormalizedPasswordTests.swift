import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// The one form of a password that several keyboards spell differently.
@Suite(.standardTimeLimit) struct NormalizedPasswordTests {
  private static func normalized(_ typed: String) throws -> [UInt8]? {
    try NormalizedPassword.make(Secret(utf8: typed))?.withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }

  @Test(arguments: [
    ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("\u{F900}", "\u{8C48}"),
    ("a\u{307}\u{323}", "\u{1EA1}\u{307}"), ("\u{1E9B}\u{323}", "\u{1E9B}\u{323}"),
    ("\u{1D160}", "\u{1D158}\u{1D165}\u{1D16E}"),
    ("long enough for the heap: cafe\u{301}", "long enough for the heap: caf\u{E9}"),
  ])
  func `letters that are canonically equivalent become the same bytes`(_ typed: String, _ composed: String) throws {
    #expect(try Self.normalized(typed) == Array(composed.utf8))
  }

  @Test(arguments: ["", "correct horse", "\u{0}\t \u{A0}", "Caf\u{E9}", "日本語のパスワード", "\u{FB01}\u{2460}", "👩‍👩‍👧‍👦"])
  func `what is composed already stays, compatibility characters included`(_ typed: String) throws {
    #expect(try Self.normalized(typed) == Array(typed.utf8))
  }

  @Test(arguments: [[0xFF], [0xC3], [0x61, 0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
  func `bytes that are no text have no form`(_ bytes: [UInt8]) throws {
    #expect(try NormalizedPassword.make(Secret(copying: bytes.span)) == nil)
  }
}
