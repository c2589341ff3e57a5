import BrokerProtocol
import JSON
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct KeySourceNameTests {
  @Test(arguments: [
    (KeySourceName.file, "file"), (.passphrase, "passphrase"), (.credential, "credential"), (.command, "command"),
  ])
  func `a key source is a word`(_ source: KeySourceName, _ word: String) throws {
    var writer = JSONWriter()
    source.encode(to: &writer)
    #expect(writer.bytes == Array("\"\(word)\"".utf8))
    #expect(try KeySourceName(from: JSONDocument(parsing: writer.bytes).root) == source)
  }

  @Test(arguments: [#""File""#, #""""#, #""keyring""#, "1", "null"]) func `other words are refused`(_ json: String) {
    #expect(throws: JSONMismatch.self) { try KeySourceName(from: JSONDocument(parsing: Array(json.utf8)).root) }
  }
}
