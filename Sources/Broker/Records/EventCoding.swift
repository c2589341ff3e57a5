package import BrokerProtocol
import JSON

/// An event as it is before sealing: one JSON object with the members that subscribers see.
package enum EventCoding {
  /// The limits of reading: names in an event may be as long as a provider's reply; the database refuses a longer
  /// record as well, so nothing is ever written that cannot be read.
  private static let limits = JSONLimits(depth: 16, byteCount: 4 << 20)

  /// The object.
  package static func encode(_ event: BrokerEvent) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("sequence", Int(clamping: event.sequence))
      writer.member("event", event.payload.name.rawValue)
      writer.member(ifPresent: "profile", event.profile)
      writer.member("time", event.time)
      writer.key("data")
      event.payload.encode(to: &writer)
    }
    return writer.bytes
  }

  /// The event; nil for one that this version does not know.
  ///
  /// - Throws: `JSONError` or `JSONMismatch` when it is not what was written.
  package static func decode(_ bytes: [UInt8]) throws -> BrokerEvent? {
    try BrokerEvent.read(from: JSONDocument(parsing: bytes, limits: limits).root)
  }
}
