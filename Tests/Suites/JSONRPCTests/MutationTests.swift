import JSON
import JSONRPC
import TestSupport
import Testing

/// Whatever arrives, it is read or refused: nothing traps, and what is read can be written again.
@Suite(.standardTimeLimit) struct MutationTests {
  private static let seeds = [
    #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"profile":"default","minValiditySeconds":30}}"#,
    #"{"jsonrpc":"2.0","id":"a\"\u00e9\uD834\uDD1E","method":"\u0070ing","params":[1,2.5e-3,-0,null,true,{"a":[]}]}"#,
    #"[{"jsonrpc":"2.0","method":"x"},{"id":null,"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9},[[[]]]]"#,
    #"{"é€😀":"\\\/\b\f\n\r\t","":[[],{},"",0.1e+10,9223372036854775807,-9223372036854775808]}"#,
  ].map { Array($0.utf8) }

  private static let spice: [[UInt8]] =
    [
      #"\u"#, #"\uD800"#, #"\"#, "\"", "{", "}", "[", "]", ",", ":", "1e400", "-", "0", ".", "e", "nul", "\u{0}", "\n",
      "\r",
      #""id":"#, #""jsonrpc":"2.0","#, "Content-Length: 5\r\n\r\n", "99999999999999999999",
    ].map { Array($0.utf8) } + [[0xFF], [0xED, 0xA0, 0x80], [0xC3], [0xF0, 0x9F], [0xEF, 0xBB, 0xBF]]

  private static func mutant(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      case 2: bytes.removeSubrange(place...)
      case 3: bytes.insert(contentsOf: spice[Int.random(in: 0..<spice.count, using: &random)], at: place)
      case 4: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
      default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
    }
    return bytes
  }

  @Test func `twenty thousand damaged messages are read or refused`() throws {
    var random = SeededGenerator(seed: 0x5EED)
    var readable = 0
    for _ in 0..<20000 {
      let bytes = Self.mutant(&random)
      guard let document = try? JSONDocument(parsing: bytes) else { continue }
      readable += 1
      var tape = JSONTape()
      try tape.scan(bytes.span)
      _ = Envelope(in: tape, of: bytes.span)
      let once = document.rewritten()
      let again = try JSONDocument(parsing: once).rewritten()
      #expect(once == again)
    }
    #expect(readable > 500)
  }

  @Test func `damaged streams are cut or broken, and never stand still`() {
    var random = SeededGenerator(seed: 0xF4A3E)
    for _ in 0..<2000 {
      var stream: [UInt8] = []
      let hasHeaders = Bool.random(using: &random)
      for _ in 0..<4 {
        let body = Self.mutant(&random)
        stream += hasHeaders ? Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body : body + [0x0A]
      }
      var reader = FrameReader(messageByteLimit: 120)
      var rest = stream[...]
      var steps = 0
      reading: while true {
        steps += 1
        switch reader.step(Array(rest).span, isFinal: true) {
        case .needsMore, .broken: break reading
        case .message(let range, let consumed):
          #expect(range.count <= 120 && range.upperBound <= consumed && consumed <= rest.count && consumed > 0)
          rest = rest.dropFirst(consumed)
        case .tooLong(let consumed):
          #expect(consumed <= rest.count)
          rest = rest.dropFirst(consumed)
        }
        guard steps < 10000 else {
          Issue.record("The reader does not come to an end.")
          break
        }
      }
    }
  }
}

extension JSONDocument {
  /// The text as this package writes it.
  func rewritten() -> [UInt8] {
    var writer = JSONWriter()
    root.rewrite(to: &writer)
    return writer.bytes
  }
}

extension JSONNode {
  /// Reads the value by its typed readers and writes it again.
  func rewrite(to writer: inout JSONWriter) {
    switch kind {
    case .null: writer.null()
    case .true, .false: writer.bool((try? bool()) ?? false)
    case .integer: writer.integer((try? integer()) ?? 0)
    case .number: writer.number((try? number()) ?? 0)
    case .string, .escapedString: writer.string((try? string()) ?? "?")
    case .array:
      writer.array { writer in for element in (try? elements()) ?? [] { element.rewrite(to: &writer) } }
    case .object:
      writer.object { writer in
        for (name, value) in (try? members()) ?? [] {
          writer.key(name)
          value.rewrite(to: &writer)
        }
      }
    }
  }
}
