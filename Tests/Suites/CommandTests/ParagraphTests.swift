import TestSupport
import Testing

@testable import authbroker

/// Text for people in lines that fit a terminal.
@Suite(.standardTimeLimit) struct ParagraphTests {
  private static let text = "the provider cannot be reached; the access token is valid until 12:32"

  @Test func `without a terminal no line is broken`() {
    let whole = Paragraph(lead: "work: ", columns: nil).lines(Self.text + "\nnext")
    #expect(whole == ["work: " + Self.text, "next"])
  }

  @Test(arguments: [20, 31, 50, 80])
  func `no line is wider than the terminal, and no word is lost`(_ columns: Int) {
    let lines = Paragraph(lead: "work: ", columns: columns).lines(Self.text)
    #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
    #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }, "\(lines)")
    let words = lines.flatMap { $0.split(separator: " ") }.joined(separator: " ")
    #expect(words == "work: " + Self.text)
  }

  @Test func `a command and a long word are never broken`() {
    let command = "  authbroker --state /a/long/path/of/a/directory login --profile work"
    #expect(
      Paragraph(columns: 30).lines("log in with:\n" + command) == ["log in with:", command])
    let address = "https://sso.example.com/realms/acme/protocol"
    #expect(
      Paragraph(columns: 30).lines("open this address: \(address) now") == [
        "open this address:", "  " + address, "  now",
      ])
    #expect(Paragraph(lead: "at: ", columns: 20).lines(address) == ["at: " + address])
  }

  @Test func `text below a label stays below its first line`() {
    let lines = Paragraph(lead: "tokens   ", indent: 9, columns: 30).lines("rest encrypted in a file of the user")
    #expect(lines == ["tokens   rest encrypted in a", "         file of the user"])
  }
}
