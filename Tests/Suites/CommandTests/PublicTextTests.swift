import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// What a report for others shows of sentences and of the log: what is known to be harmless.
@Suite(.standardTimeLimit) struct PublicTextTests {
  private static let text: PublicText = {
    var text = PublicText(["USER": "ann", "HOME": "/home/ann", "SUDO_USER": "root"])
    for name in ["work", "sso.example.com", "https://sso.example.com", "0.3.0-dev+abc123"] { text.show(name) }
    text.hide("Ada Lovelace")
    return text
  }()

  @Test(arguments: [
    ("the vault is open; its user's key has 32 bytes (100%)", "the vault is open; its user's key has 32 bytes (100%)"),
    (
      "version 0.3.0-dev+abc123 at https://sso.example.com answers, 12:30",
      "version 0.3.0-dev+abc123 at https://sso.example.com answers, 12:30"
    ),
    ("/home/ann/.local/state is there", "(removed) is there"),
    ("mail to ann@example.com failed", "mail to (removed) failed"),
    ("logged in as Ann and LOVELACE", "logged in as (removed) and (removed)"),
    (#"unknown key "hunter2 and more"; see it"#, "unknown key (removed) see it"),
    ("the program 'pass show mark' ended", "the program (removed) ended"),
    ("the word `mark`, here", "the word (removed) here"),
    (#"an open "quote to the end"#, "an open (removed)"), ("call 4912345678 or 123456", "call (removed) or (removed)"),
    ("eyJhbGciOi.eyJz.dGVz, at", "(removed), at"), ("https://user:pw@sso.example.com/x", "(removed)"),
    ("other.example.com is away", "(removed) is away"), ("orders:read was granted", "(removed) was granted"),
    ("line\none", "line one"), ("", ""),
  ])
  func `a sentence keeps plain words, numbers and known names`(_ sentence: String, _ shown: String) {
    #expect(Self.text.sentence(sentence) == shown)
  }

  @Test(arguments: [
    (
      "2026-01-01T00:00:00Z info: a call failed profile=work kind=timeout host=sso.example.com status=503 path=\"/a b\"",
      "2026-01-01T00:00:00Z info: a call failed profile=work kind=timeout host=sso.example.com status=503 path=(removed)"
    ),
    (
      "2026-01-01T00:00:00Z warning: x profile=ada kind=mark status=1234567890123 secret=1 user=\"a \\\" b\" count=2",
      "2026-01-01T00:00:00Z warning: x profile=(removed) kind=(removed) status=(removed) secret=(removed) user=(removed) count=2"
    ),
    ("2026-01-01T00:00:00Z info: key mark1234 was read", "2026-01-01T00:00:00Z info: key (removed) was read"),
    (
      "2026-01-01T00:00:00Z info: a call failed what=x behind it",
      "2026-01-01T00:00:00Z info: a call failed what=(removed)"
    ),
    ("what a program has said of a password", "(a line that is not the broker's own)"),
    ("2026-01-01T00:00:00Z hello: there", "(a line that is not the broker's own)"),
  ])
  func `a line of the log keeps its message and the fields of this program`(_ line: String, _ shown: String) {
    #expect(BundleLog(text: Self.text).lines(line + "\n") == [shown])
  }

  @Test func `the last lines are kept, and a log that is not there is told`() {
    let lines = (0..<1000).map { "2026-01-01T00:00:00Z info: started count=\($0)\n" }
    let shown = BundleLog(text: Self.text).lines(lines.joined())
    #expect(shown.count == BundleLog.lineCount && shown.last?.hasSuffix("count=999") == true)
    #expect(BundleLog(text: Self.text).lines("").count == 1)
  }

  @Test func `names of files and sums are what tar reads`() {
    var archive = TarArchive(madeAt: 1_767_225_600)
    archive.add("a/b.txt", Array("hello\n".utf8))
    archive.add("a/empty", [])
    let bytes = archive.bytes
    #expect(bytes.count == 512 * 2 + 512 + 1024)
    #expect(bytes[257..<265].elementsEqual(Array("ustar".utf8) + [0] + Array("00".utf8)))
    var header = Array(bytes[..<512])
    let sum = String(decoding: header[148..<154], as: UTF8.self)
    header.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
    #expect(Int(sum, radix: 8) == header.reduce(0) { $0 + Int($1) })
  }
}
