package import JSONRPC

/// The present number of every limit.
package struct Limits: Sendable, Equatable {
  private var values: [Int]

  /// What the scanner of messages keeps to; made from the numbers, so that the hot path does not look them up.
  package private(set) var json: JSONLimits
  /// ``Limit/idBytes``, which is asked for with every message.
  package private(set) var idBytes: Int

  /// The defaults.
  package init() {
    values = Limit.rows.map(\.standard)
    (json, idBytes) = Self.derived(from: values)
  }

  /// The number of a limit: in its unit, of a time in milliseconds.
  package subscript(limit: Limit) -> Int {
    get { values[limit.rawValue] }
    set {
      values[limit.rawValue] = newValue
      (json, idBytes) = Self.derived(from: values)
    }
  }

  /// The time that a limit in seconds allows.
  package func duration(_ limit: Limit) -> Duration { .milliseconds(self[limit]) }

  private static func derived(from values: [Int]) -> (JSONLimits, Int) {
    let json = JSONLimits(depth: values[Limit.nesting.rawValue], byteCount: values[Limit.messageBytes.rawValue])
    return (json, values[Limit.idBytes.rawValue])
  }
}
