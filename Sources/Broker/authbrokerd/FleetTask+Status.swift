import BrokerCore
import BrokerProtocol
import Configuration
import Fleet
import JSON
import LinuxSystem
import Logging
import StateDirectory

/// The contents of a fleet.
extension FleetTask {
  /// Shows every record, and why it is not usable here, for a key that opens them.
  func status() async throws(StartFailure) -> String {
    let bindings = try bindings()
    let overview: FleetOverview
    do throws(SharedRecordFailure) {
      let key = try await key()
      overview = try FleetOverview(
        try await record.read(), fleet: section.fleet, under: key, bindings: bindings)
    } catch { throw failure(error) }
    let shared = configuration.sharedProfiles.map(\.description)
    let now = WallClock.timestamp
    guard arguments.wantsJSON else { return text(overview, bindings, shared, now) }
    return Self.line { writer in
      writer.member("fleet", section.fleet)
      writer.member("profiles", shared)
      writer.key("records")
      writer.array { writer in
        for record in overview.records { write(record, now, to: &writer) }
      }
    }
  }

  /// The bindings of the profiles that are shared on this machine.
  private func bindings() throws(StartFailure) -> [ProfileName: ProviderBinding] {
    var shared = configuration
    shared.profiles.removeAll { !$0.isShared }
    let catalog = ProviderCatalog(stateDirectory: paths.state, environment: environment, log: .silent)
    let settings = try catalog.settings(for: shared)
    return Dictionary(settings.map { ($0.name, $0.provider.binding) }) { first, _ in first }
  }

  private func text(
    _ overview: FleetOverview, _ bindings: [ProfileName: ProviderBinding], _ shared: [String], _ now: Timestamp
  ) -> String {
    let here = shared.isEmpty ? "no profile here is shared" : "shared here: \(shared.joined(separator: ", "))"
    var lines = ["the fleet \(section.fleet) is ready; \(here)"]
    for record in overview.records {
      var parts = [sentence(on: record, ProfileName(record.name).flatMap { bindings[$0] })]
      if let lease = record.lease {
        parts.append("a refresh is under way, until \(Self.clock(now + lease)) at the latest")
      } else if record.hasLostReply {
        parts.append("a refresh was begun, and what became of it is not known")
      }
      lines.append("  \(PlainText.line(record.name.utf8)): \(parts.joined(separator: "; "))")
    }
    if overview.records.isEmpty { lines.append("  no sessions yet") }
    return lines.joined(separator: "\n") + "\n"
  }

  private func sentence(on record: FleetOverview.Record, _ own: ProviderBinding?) -> String {
    switch record.use {
    case .usable: return "logged in"
    case .signedOut: return "signed out; log in on any member"
    case .ended: return "its session has ended; log in on any member"
    case .absent: return "no login yet; log in on any member"
    case .damaged:
      return "not usable: what is there was not written under the key of the fleet; a login takes its place"
    case .notShared: return "not shared here"
    case .otherBinding(let other):
      let words = own.map { " and is \(Self.words($0)) here" } ?? ""
      return "not usable here: it is \(Self.words(other)) in the fleet\(words)"
    }
  }

  private static func words(_ binding: ProviderBinding) -> String {
    let parts = [binding.type, binding.issuer, binding.clientID.isEmpty ? "" : "as \(binding.clientID)"]
    return PlainText.line(parts.filter { !$0.isEmpty }.joined(separator: " ").utf8)
  }

  private static func clock(_ time: Timestamp) -> String {
    guard let date = LocalDate(milliseconds: time.milliseconds) else { return time.description }
    return [date.hour, date.minute, date.second].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  private func write(_ record: FleetOverview.Record, _ now: Timestamp, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("profile", record.name)
      writer.member(ifPresent: "version", record.version.map(Int.init))
      writer.member("usable", record.use == .usable)
      writer.member(ifPresent: "reason", record.use.word)
      if case .otherBinding(let other) = record.use {
        writer.key("binding")
        writer.object { writer in
          writer.member("type", other.type)
          writer.member("address", other.issuer)
          writer.member("clientId", other.clientID)
        }
      }
      writer.member(ifPresent: "refreshUntil", record.lease.map { now + $0 })
      if record.hasLostReply { writer.member("refreshOutcomeUnknown", true) }
    }
  }
}

extension FleetOverview.Use {
  /// The stable word for why a record is not usable here; nil where it is.
  fileprivate var word: String? {
    switch self {
    case .usable: nil
    case .signedOut: "signedOut"
    case .ended: "ended"
    case .absent: "absent"
    case .otherBinding: "otherBinding"
    case .damaged: "damaged"
    case .notShared: "notShared"
    }
  }
}
