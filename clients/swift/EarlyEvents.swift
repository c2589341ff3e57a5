import BrokerProtocol
import JSON

/// Events of a connection's own subscription that came while an answer was awaited.
///
/// Bounded: past a bound the newest are dropped until the reader has caught up, and an `eventsLost` event says which, as
/// the broker itself does it.
struct EarlyEvents {
  /// As many as the broker keeps for clients that come back.
  static let countLimit = 10_000
  /// As many bytes as the broker queues for a client that does not read.
  static let byteLimit = 4 << 20

  private var messages: [[UInt8]] = []
  private var position = 0
  private var byteCount = 0
  private var lost: (subscription: String, from: UInt64, to: UInt64, time: String)?

  /// Keeps an event, or notes that it is lost.
  ///
  /// - Parameters:
  ///   - message: the whole message.
  ///   - subscription: whose it is.
  ///   - params: its params.
  mutating func put(_ message: [UInt8], _ subscription: String, _ params: JSONNode) {
    let isFull = messages.count - position >= Self.countLimit || byteCount + message.count > Self.byteLimit
    guard lost != nil || isFull else {
      messages.append(message)
      byteCount += message.count
      return
    }
    let sequence = (try? params["sequence"]?.integer()).flatMap { UInt64(exactly: $0) } ?? 0
    let time = (try? params["time"]?.string()) ?? ""
    lost = (
      lost?.subscription ?? subscription, min(lost?.from ?? sequence, sequence), max(lost?.to ?? sequence, sequence),
      lost?.time ?? time
    )
  }

  /// Takes the next message: an event, or behind the last one what was lost.
  mutating func next() -> [UInt8]? {
    guard position < messages.count else {
      messages = []
      position = 0
      defer { lost = nil }
      return lost.map { Self.notice($0) }
    }
    defer { position += 1 }
    byteCount -= messages[position].count
    var message: [UInt8] = []
    swap(&message, &messages[position])
    return message
  }

  private static func notice(_ lost: (subscription: String, from: UInt64, to: UInt64, time: String)) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("jsonrpc", "2.0")
      writer.member("method", "event")
      writer.key("params")
      writer.object { writer in
        writer.member("subscriptionId", lost.subscription)
        writer.member("sequence", Int(clamping: lost.to))
        writer.member("event", "eventsLost")
        writer.member("time", lost.time)
        writer.member("data", EventsLostEvent(from: Int(clamping: lost.from), to: Int(clamping: lost.to)))
      }
    }
    return writer.bytes
  }
}
