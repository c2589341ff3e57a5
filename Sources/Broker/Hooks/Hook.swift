package import BrokerProtocol

/// A program of the owner's that is run for events.
package struct Hook: Sendable, Equatable {
  /// The most hooks of a configuration: each may have a program running, and a thread that waits for it.
  package static let most = 16
  /// The names that are filled in where an argument has them as `${profile}` and `${event}`.
  package static let placeholders: Set = ["profile", "event"]

  /// The names of the events.
  package var events: Set<EventName>
  /// The program (its name, or its absolute path) and its arguments.
  package var command: [String]
  /// How long a run may take before it is ended.
  package var timeLimit: Duration

  /// A hook.
  package init(events: Set<EventName>, command: [String], timeLimit: Duration) {
    self.events = events
    self.command = command
    self.timeLimit = timeLimit
  }

  /// The events that a hook can be run for: that some were lost is told to single subscribers alone.
  package static let eventNames = EventName.allCases.filter { $0 != .eventsLost }

  /// The program and its arguments for an event; an event of no profile leaves that empty.
  func command(for event: BrokerEvent) -> [String] {
    Self.filled(command, event.profile, event.payload.name)
  }

  /// A command with the values of its placeholders.
  static func filled(_ command: [String], _ profile: ProfileName?, _ event: EventName) -> [String] {
    let values = ["profile": profile?.description ?? "", "event": event.rawValue]
    return command.map { filled($0, values) }
  }

  /// A text with the values of its placeholders; they are not looked into themselves.
  private static func filled(_ text: String, _ values: [String: String]) -> String {
    var rest = Substring(text)
    var result = ""
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[dollar...]
      let found = values.first { rest.hasPrefix("${\($0.key)}") }
      result += found?.value ?? "$"
      rest = rest.dropFirst(found.map { $0.key.count + 3 } ?? 1)
    }
    return result + rest
  }

  /// The line for the program's standard input: a notification's `params` without the name of a subscription.
  static func line(_ event: BrokerEvent) -> [UInt8] {
    // The details end with the brace of the notification itself.
    [UInt8(ascii: "{")] + event.details().dropLast() + [UInt8(ascii: "\n")]
  }
}
