import BrokerCore
import BrokerProtocol
import ConfigurationFile

/// A profile's section `requests`: where its token may go with the requests of its clients.
extension RequestRules {
  /// How many rules a profile may have: more than an API has parts.
  private static let mostRules = 100

  /// Reads the section; nil where it is absent, or allows nothing.
  init?(_ profile: inout ConfigurationSection) {
    var section = profile.section("requests")
    guard profile.has("requests") else {
      // So that its keys are known.
      _ = section.sections("allow", atMost: Self.mostRules)
      _ = RequestQueue.Rules(&section)
      return nil
    }
    let rules = (section.sections("allow", atMost: Self.mostRules) ?? []).compactMap { element in
      var element = element
      return RequestRule(&element)
    }
    let queue = RequestQueue.Rules(&section)
    section.finish(aliases: ["rules": "allow", "origins": "allow"])
    self.init(allow: rules, queue: queue)
  }
}

/// The fate of the queued requests of a user who logs out.
private enum FateAtLogout: String, CaseIterable {
  /// They wait for that user's next login.
  case keep
  /// They are forgotten.
  case drop
}

extension RequestQueue.Rules {
  /// Ten thousand is more than a person changes while a server is away.
  private static let entriesSetting = WholeNumberSetting("maxEntries", 1...10_000, standard: 1000)
  /// An hour less than the day for which the usual APIs know a key; some know it for a month.
  private static let lifetimeSetting = DurationSetting("keyLifetimeSeconds", 60...2_592_000, standard: 82_800)
  private static let logoutSetting = ChoiceSetting("onLogout", standard: FateAtLogout.keep)

  /// Reads the section `queue`.
  fileprivate init(_ requests: inout ConfigurationSection) {
    var section = requests.section("queue")
    self.init(
      mostEntries: section.read(Self.entriesSetting), keyLifetime: section.read(Self.lifetimeSetting),
      outliveLogout: section.read(Self.logoutSetting) == .keep)
    section.finish()
  }
}

extension RequestRule {
  /// Reads one rule; nil where it has a mistake, so that nothing more is allowed because of it.
  fileprivate init?(_ entry: inout ConfigurationSection) {
    entry.require("origin", #"write a server such as "https://api.example.com""#)
    let origin = Self.origin(&entry)
    let methods = Self.methods(&entry)
    let paths = Self.paths(&entry)
    entry.finish(aliases: ["url": "origin", "method": "methods", "path": "paths"])
    guard let origin, let methods, !entry.isFaulty("paths") else { return nil }
    self.init(origin, methods: methods, paths: paths)
  }

  private static func origin(_ entry: inout ConfigurationSection) -> TargetAddress.Origin? {
    guard let text = entry.string("origin") else { return nil }
    do throws(TargetAddress.Expected) { return try TargetAddress(ofServer: text).origin } catch {
      entry.report("origin", "must be \(error.expectation)")
      return nil
    }
  }

  private static func methods(_ entry: inout ConfigurationSection) -> Set<APIRequest.Method>? {
    guard let names = entry.strings("methods") else { return entry.isFaulty("methods") ? nil : standardMethods }
    var methods: Set<APIRequest.Method> = []
    for (index, name) in names.enumerated() {
      guard let method = APIRequest.Method(rawValue: name) else {
        let all = APIRequest.Method.allCases.map(\.rawValue)
        let nearest = Spelling.nearest(to: name.uppercased(), among: all)
        entry.report(
          "methods", element: index, "must be one of \(all.joined(separator: ", "))",
          nearest.map { "did you mean \"\($0)\"?" })
        return nil
      }
      methods.insert(method)
    }
    return methods
  }

  private static func paths(_ entry: inout ConfigurationSection) -> [PathPattern]? {
    guard let texts = entry.strings("paths") else { return nil }
    var patterns: [PathPattern] = []
    for (index, text) in texts.enumerated() {
      do throws(TargetAddress.Fault) { patterns.append(try PathPattern(text)) } catch {
        entry.report(
          "paths", element: index,
          "must be a path such as \"/v1/orders/*\" or \"/v1/**\", without a query, \"..\" and encoded slashes")
      }
    }
    return patterns
  }
}
