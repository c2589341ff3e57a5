package import JSON

/// The present number of every limit.
package struct Limits: Sendable, Equatable {
  private var values: [Int]

  /// The limits of the JSON scanner, kept ready for the hot path.
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
    var json = JSONLimits(depth: values[Limit.nesting.rawValue], byteCount: values[Limit.messageBytes.rawValue])
    json.members = values[Limit.members.rawValue]
    json.elements = values[Limit.elements.rawValue]
    json.values = values[Limit.values.rawValue]
    json.stringBytes = values[Limit.stringBytes.rawValue]
    json.numberBytes = values[Limit.numberBytes.rawValue]
    return (json, values[Limit.idBytes.rawValue])
  }
}
