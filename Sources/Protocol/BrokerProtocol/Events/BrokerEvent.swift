public import JSON

/// Something that happened, as subscribers are told.
public struct BrokerEvent: Sendable, Equatable {
  /// The event's place in the order of the state directory's events.
  public var sequence: UInt64
  /// The profile; nil for events of no profile.
  public var profile: ProfileName?
  /// When it happened.
  public var time: Timestamp
  /// The payload.
  public var payload: EventPayload

  public init(sequence: UInt64, profile: ProfileName?, time: Timestamp, payload: EventPayload) {
    self.sequence = sequence
    self.profile = profile
    self.time = time
    self.payload = payload
  }

  /// The bytes before the subscription's name in every notification.
  private static let beginning = Array(#"{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":""#.utf8)

  /// The whole notification that carries the event to one subscription.
  ///
  /// `details` is what ``details()`` gave: a thousand subscribers share one rendering. Names of subscriptions are letters
  /// and digits, so they are written as they are.
  public func notification(for subscriptionID: String, _ details: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.beginning.count + subscriptionID.utf8.count + details.count + 2)
    bytes += Self.beginning
    bytes += subscriptionID.utf8
    bytes += Array("\",".utf8)
    bytes += details
    return bytes
  }

  /// The end of every notification of the event: all that does not depend on the subscription.
  public func details() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("sequence")
      writer.integer(Int64(clamping: sequence))
      writer.member("event", payload.name.rawValue)
      writer.member(ifPresent: "profile", profile)
      writer.member("time", time)
      writer.key("data")
      payload.encode(to: &writer)
    }
    return Array(writer.bytes.dropFirst()) + [UInt8(ascii: "}")]
  }

  /// Reads the `params` of a notification; nil for an event that this version does not know.
  ///
  /// - Throws: ``JSONMismatch`` where a known event lacks a member.
  public static func read(from node: JSONNode) throws(JSONMismatch) -> BrokerEvent? {
    guard let name = EventName(rawValue: try node.required("event").string()) else { return nil }
    return BrokerEvent(
      sequence: UInt64(clamping: try node.required("sequence").integer()),
      profile: try node.optional("profile", ProfileName.init(from:)),
      time: try Timestamp(from: try node.required("time")),
      payload: try EventPayload(name: name, from: try node.required("data")))
  }
}
