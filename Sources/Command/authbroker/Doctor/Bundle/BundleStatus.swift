import BrokerProtocol
import JSON

/// The broker's status without what is its owner's: of each answer, the members that are listed here.
struct BundleStatus {
  /// The members of `getStatus` that are shown, and those of the objects in it; its sessions are another list.
  private static let members: Set = [
    "version", "startedAt", "configurationReadAt", "uptimeSeconds", "vault", "locked", "keySource", "schemaVersion",
    "initialized", "noticesRollback", "mayBeOlder", "connections", "subscriptions", "counters", "limits", "name",
    "scope", "value", "used", "refused", "delivery", "channel", "sent", "failed", "underWay", "lastFailureAt",
    "authorities", "source", "readable", "parkedSessions", "profile", "provider", "until", "addresses", "address",
  ]
  /// The members of a session that are shown.
  private static let sessionMembers: Set = [
    "profile", "provider", "state", "scopes", "accessTokenExpiresAt", "refreshTokenPresent", "refreshTokenExpiresAt",
    "authTime", "lastRefreshAt", "lastValidatedAt", "idleExpiresAt", "loginRequiredReason", "storeDegraded",
    "providerClockSkewSeconds",
  ]
  /// An object whose names are those of counters.
  private static let counters = "counters"

  /// Shows the words of strings.
  let text: PublicText

  /// The status as lines of JSON.
  func status(_ status: GetStatus.Result) -> String { shown(status, Self.members) }

  /// The sessions as lines of JSON.
  func sessions(_ sessions: [Session]) -> String { shown(ListSessions.Result(sessions: sessions), Self.sessionMembers) }

  private func shown(_ answer: some JSONEncodable, _ names: Set<String>) -> String {
    var whole = JSONWriter()
    answer.encode(to: &whole)
    var writer = JSONWriter()
    guard let root = try? JSONDocument(parsing: whole.bytes).root else { return "" }
    write(root, of: "sessions", names.union(["sessions"]), &writer)
    return (try? JSONDocument(parsing: writer.bytes)).map { IndentedJSON.text($0.root) } ?? ""
  }

  private func write(_ node: JSONNode, of name: String, _ names: Set<String>, _ writer: inout JSONWriter) {
    switch node.kind {
    case .object:
      writer.object { writer in
        for member in (try? node.members()) ?? [] where name == Self.counters || names.contains(member.name) {
          writer.key(member.name)
          write(member.value, of: member.name, names, &writer)
        }
      }
    case .array:
      writer.array { writer in
        for element in (try? node.elements()) ?? [] { write(element, of: name, names, &writer) }
      }
    case .string, .escapedString:
      let value = (try? node.string()) ?? ""
      let isShown = Timestamp(value) != nil || text.isWord(value)
      writer.string(
        name == "address" ? PublicText.server(value) ?? PublicText.removed : isShown ? value : PublicText.removed)
    default: writer.raw(node.text)
    }
  }
}
