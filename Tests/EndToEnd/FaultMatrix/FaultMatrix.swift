import Synchronization

/// The table that rows, storms and random kills add up to; it is printed when the last line is there.
final class FaultMatrix: Sendable {
  /// The one that all tests of the matrix write to.
  static let shared = FaultMatrix(FaultRow.all.map(\.name) + Storm.allCases.map(\.rawValue))

  /// One line of the table.
  struct Line: Sendable {
    /// What went wrong.
    let name: String
    /// How many requests to refresh the backend read.
    var requests = 0
    /// How often the token that was sent most was sent while something could be lost by it.
    var risk = 0
    /// What became of each refresh token at the backend.
    var ledger: [String] = []
    /// What callers got.
    var heard: [String] = []
    /// Where the session stands.
    var session = "not known"
  }

  private let lines = Mutex<[String: Line]>([:])
  private let names: [String]

  /// A table with lines of these names, in this order.
  private init(_ names: [String]) { self.names = names }

  /// Adds a line; whoever adds the last one prints the table.
  func add(_ line: Line) {
    let complete = lines.withLock { lines -> [Line]? in
      lines[line.name] = line
      return lines.count == names.count ? names.compactMap { lines[$0] } : nil
    }
    if let complete { print(Self.table(complete)) }
  }

  /// Words, with equal ones counted: `6× A1`.
  static func tally(_ words: [String]) -> [String] {
    Dictionary(grouping: words) { $0 }.map { "\($0.value.count)× \($0.key)" }.sorted()
  }

  private static func table(_ lines: [Line]) -> String {
    let header = [
      "fault", "requests", "risked", "what became of each refresh token", "what callers got", "session",
    ]
    let rows =
      [header]
      + lines.map { line in
        [
          line.name, "\(line.requests)", "\(line.risk)×", line.ledger.joined(separator: "; "),
          line.heard.joined(separator: ", "), line.session,
        ]
      }
    let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let texts = rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return "| " + cells.joined(separator: " | ") + " |"
    }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return ([texts[0], rule] + texts.dropFirst()).joined(separator: "\n")
  }
}
