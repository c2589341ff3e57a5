import BrokerCore
import BrokerProtocol
import ConfigurationFile
import JSON
import JSONRPC
import LocalProvider
import TestSupport
import Testing

@testable import Configuration

@Suite(.standardTimeLimit) struct BrokerConfigurationTests {
  private func parse(
    _ text: String, environment: [String: String] = [:]
  ) throws(ConfigurationError) -> BrokerConfiguration {
    try BrokerConfiguration.parse(Array(text.utf8), file: "config.json", environment: environment)
  }

  @Test func `without a file there is one profile on the embedded provider`() throws {
    let standard = BrokerConfiguration.standard
    #expect(standard.profiles.map(\.name) == [.default])
    #expect(standard.profiles.first?.provider == .local)
    var rules = SessionRules()
    rules.warnBeforeEnd = .seconds(86400)
    #expect(standard.profiles.first?.rules == rules)
    #expect(standard.logLevel == .info)
    #expect(standard.linger == .seconds(300))
    #expect(standard.limits.json.byteCount == 1 << 20 && standard.limits.json.members == 256)
    #expect(standard.limits.idBytes == Envelope.idByteLimit)
    #expect(standard.local.issuer == "authbroker-local" && standard.local.audience == "authbroker")
    #expect(standard.local.audiences.isEmpty)
    #expect(standard.local.accessTokenLifetime == .seconds(900))
    #expect(standard.local.otp.length == 6)
    #expect(standard.local.messageLimits.perHour == 10 && standard.local.messageLimits.perDay == 30)
    #expect(standard.local.emailVerification == .off)
    #expect(try parse("{}") == standard)
    #expect(try parse("{profiles: {default: {provider: 'local'}}}") == standard)
    #expect(try parse("{vault:{},limits:{},local:{otp:{},delivery:{}}} // c") == standard)
  }

  @Test func `profiles that say the same are the same but for their names`() throws {
    let same = "{provider:'rest',baseUrl:'https://${HOST}/api',refreshSkewSeconds:60}"
    let other = same.replacing("60", with: "90")
    let text = "{profiles:{a:\(same),b:\(other),c:\(same),d: { // as a\n \(same.dropFirst())}}"
    let profiles = try parse(text, environment: ["HOST": "api.example.com"]).profiles
    #expect(profiles.map(\.name.description) == ["a", "b", "c", "d"])
    #expect(profiles.map(\.rules.expiry.skew) == [60, 90, 60, 60].map { .seconds($0) })
    for index in [2, 3] {
      var copy = profiles[0]
      copy.name = profiles[index].name
      #expect(copy == profiles[index] && profiles[index] != profiles[1])
    }
  }

  @Test func `a constant that version 0.2 had no key for has none`() throws {
    #expect(Limit.outdated.isDisjoint(with: Limit.configurable))
    // The last version with a key for each limit: 50 of them.
    #expect(Limit.outdated.count + Limit.configurable.count == 50)
    func limits(_ known: Set<Limit>) throws -> Limits {
      let document = Array("{ limits: { maxMembers: 20 } }".utf8)
      return try ConfigurationDocument.read(document, file: "c", environment: [:], keys: KnownKeys()) { root in
        var (section, outdated) = (root.section("limits"), [String]())
        return Limits(&section, outdated: &outdated, known: known)
      }
    }
    #expect(try limits(Limit.outdated)[.members] == 20)
    let error = #expect(throws: ConfigurationError.self) { try limits(Limit.outdated.subtracting([.members])) }
    #expect(error?.description.contains("unknown key \"maxMembers\" in limits") == true)
  }

  @Test(arguments: Limit.rows.filter { Limit.outdated.union(Limit.configurable).contains($0.limit) })
  func `a limit that version 0.2 had a key for is checked, obeyed and told of`(_ row: Limit.Row) throws {
    let (most, isOutdated) = (row.range.upperBound, !Limit.configurable.contains(row.limit))
    let configuration = try parse("{ limits: { \(row.name): \(most) } }")
    #expect(configuration.limits[row.limit] == most * (row.isTime ? 1000 : 1))
    #expect(configuration.outdatedKeys == (isOutdated ? ["limits.\(row.name)"] : []))
    #expect(throws: ConfigurationError.self) { try parse("{ limits: { \(row.name): \(most + 1) } }") }
    #expect(BrokerConfiguration.knownKeys["limits"].contains(row.name) != isOutdated)
  }

  @Test func `everything that is said is taken`() throws {
    let text = """
      {
        "$schema": "config.schema.json",
        logLevel: "debug", vault: { keySource: "file" }, lingerSeconds: 0.5,
        limits: { maxMessageBytes: 2048, maxNesting: 8, maxBatchEntries: 1, maxRequestsInFlight: 2,
                  maxSubscriptionsPerConnection: 3, maxConnections: 4, maxIdBytes: 64, maxOutputBufferBytes: 0x10000,
                  stalledOutputSeconds: 1.25 },
        profiles: { work: { provider: "local", refreshSkewSeconds: 60, backgroundRefresh: false,
                            rotation: "never", revocation: "grant", rotationGraceSeconds: 30, idleTimeoutSeconds: 3600,
                            keepAliveSeconds: 86400, warnBeforeEndSeconds: 3600, allowIdToken: true },
                    "a.b-c_1": { provider: "local" } },
        local: { issuer: "https://id.example.com", audience: "urn:own", audiences: ["urn:a", "a b"],
                 accessTokenLifetimeSeconds: 2, refreshTokenLifetimeSeconds: 5,
                 otp: { length: 8, lifetimeSeconds: 60, maxAttempts: 3, resendCooldownSeconds: 0 },
                 delivery: { channel: "outbox" }, emailVerification: "required",
                 maxMessagesPerHour: 3, maxMessagesPerDay: 4 },
      }
      """
    let configuration = try parse(text)
    #expect(configuration.logLevel == .debug)
    #expect(configuration.linger == .milliseconds(500))
    #expect(configuration.limits.json.depth == 8 && configuration.limits.json.byteCount == 2048)
    #expect(configuration.limits[.batchEntries] == 1 && configuration.limits[.requestsInFlight] == 2)
    #expect(configuration.limits[.subscriptions] == 3 && configuration.limits[.connections] == 4)
    #expect(configuration.limits.idBytes == 64 && configuration.limits[.outputBytes] == 65536)
    #expect(configuration.limits.duration(.stalledOutput) == .milliseconds(1250))
    #expect(configuration.profiles.map(\.name.description) == ["work", "a.b-c_1"])
    let work = try #require(ProfileName("work").flatMap { configuration[$0] })
    #expect(work.provider.type == "local")
    #expect(
      work.rules
        == SessionRules(
          expiry: ExpiryPolicy(skew: .seconds(60), refreshesInBackground: false), rotation: .never,
          rotationGrace: .seconds(30), idleTimeout: .seconds(3600), keepAlive: .seconds(86_400), revocation: .grant,
          warnBeforeEnd: .seconds(3600)))
    #expect(configuration.profiles.last?.rules.keepAlive == SessionRules.standardKeepAlive)
    #expect(configuration.profiles.last?.rules.warnBeforeEnd == .seconds(86_400))
    #expect(work.allowIDToken && configuration.profiles.map(\.allowIDToken) == [true, false])
    #expect(configuration[.default] == nil)
    #expect(configuration.local.issuer == "https://id.example.com" && configuration.local.audience == "urn:own")
    #expect(configuration.local.audiences == ["urn:a", "a b"])
    #expect(configuration.local.accessTokenLifetime == .seconds(2))
    #expect(configuration.local.refreshTokenLifetime == .seconds(5))
    #expect(configuration.local.refreshTokenIdleLifetime == .seconds(5))
    #expect(configuration.local.otp.length == 8 && configuration.local.otp.lifetime == .seconds(60))
    #expect(configuration.local.otp.maxAttempts == 3 && configuration.local.otp.resendCooldown == .zero)
    #expect(configuration.local.messageLimits.perHour == 3 && configuration.local.messageLimits.perDay == 4)
    #expect(configuration.local.emailVerification == .required)
  }

  @Test(arguments: [
    ("{local:{otp:{\nlength: 11}}}", "2:9: local.otp.length: must be a whole number from 4 to 10, not 11"),
    (
      "{local:{audiences:['a','b','a']}}",
      "1:28: local.audiences[2]: names an audience twice; remove one of them"
    ),
    (
      "{local:{audiences:['']}}",
      "1:20: local.audiences[0]: must have 1 to 2048 bytes without control characters"
    ),
    ("{local:{audience:'a b'}}", "1:18: local.audience: must have 1 to 256 visible ASCII characters, without blanks"),
    (
      "{local:{emailVerification:'always'}}",
      #"1:27: local.emailVerification: must be one of "off", "required", not "always""#
    ),
    ("{local:{otp:{length:6.5}}}", "1:21: local.otp.length: must be a whole number from 4 to 10, not 6.5"),
    ("{local:{otp:{length:null}}}", "1:21: local.otp.length: must be a whole number from 4 to 10, not null"),
    ("{\n\nlingerSeconds:-1}", "3:15: lingerSeconds: must be a number of seconds from 0 to 86400, not -1"),
    ("{logLevel:1}", #"1:11: logLevel: must be one of "error", "warning", "info", "debug", not a number"#),
    (
      "{vault:{keySource:'keyring'}}",
      #"1:19: vault.keySource: must be one of "file", "passphrase", "credential", "command", not "keyring""#
    ),
    (
      "{local:{delivery:{channel:'pigeon'}}}",
      #"1:27: local.delivery.channel: must be one of "outbox", "command", "smtp", "sms", not "pigeon""#
    ),
    ("{profiles:[]}", "1:11: profiles: must be an object, not a list"),
    ("{profiles:{a:1}}", "1:14: profiles.a: must be an object, not a number"),
    ("{vault:{\n'keysource':\n'file'}}", #"2:1: unknown key "keysource" in vault; did you mean "keySource"?"#),
    ("{local:{otp:{length:6,\nlength:6}}}", #"2:1: duplicate key "length" in local.otp; remove one of them"#),
    ("{logLevel:'info',\n\n'log\\u004cevel':'info'}", #"3:1: duplicate key "log\u004cevel"; remove one of them"#),
    ("1", "1:1: the configuration must be an object, not a number"),
    ("{\n  a: 1\n  b: 2\n}", "3:3: expected a comma before this"),
    (
      "{a:[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]}",
      "1:19: a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: arrays and objects are nested too deep"
    ),
    ("{a:1e999}", "1:4: a: a number is out of range"),
    (
      "{logLevel:'${LEVEL'}",
      "1:11: logLevel: ${ must begin the name of an environment variable and a }; write $${ for the characters"
    ),
    (
      "{logLevel:'${}'}",
      "1:11: logLevel: ${ must begin the name of an environment variable and a }; write $${ for the characters"
    ),
    (
      "{logLevel:'${9}'}",
      "1:11: logLevel: ${ must begin the name of an environment variable and a }; write $${ for the characters"
    ),
    ("{\nlogLevel:'${GONE}'}", "2:10: logLevel: the environment variable GONE is not set"),
  ])
  func `what is wrong is said with its place and key`(_ text: String, _ line: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse(text) }
    #expect(error?.description == "config.json:\(line)")
  }

  @Test func `an error has all of its place`() {
    let error = #expect(throws: ConfigurationError.self) { try parse("{\n  local: { otp: { lenght: 6 } } }") }
    #expect(error?.file == "config.json" && error?.mistakes.count == 1)
    #expect(error?.mistakes.first?.position.line == 2 && error?.mistakes.first?.position.column == 19)
    #expect(error?.mistakes.first?.path == "local.otp.lenght")
  }

  @Test func `invalid UTF-8 and too long a file are refused`() {
    let invalid = #expect(throws: ConfigurationError.self) {
      try BrokerConfiguration.parse(Array("{'".utf8) + [0xFF] + Array("':1}".utf8), file: "c", environment: [:])
    }
    #expect(invalid?.mistakes.first?.message == "a string is not valid UTF-8")
    let long = Array("{}".utf8) + Array(repeating: 0x20, count: ConfigurationDocument.byteLimit)
    let error = #expect(throws: ConfigurationError.self) {
      try BrokerConfiguration.parse(long, file: "c", environment: [:])
    }
    #expect(error?.mistakes.first?.message == "the file has more than 1048576 bytes")
  }

  @Test(arguments: [
    ("${LEVEL}", true), ("${_l2}", true), ("de${BU}g", true), ("${DE}${BU}g", true), ("${EMPTY}debug", true),
    ("$debug", false), ("$${LEVEL}", false), ("${NESTED}", false), ("debug$", false),
  ])
  func `environment variables are put in once`(_ text: String, _ isDebug: Bool) {
    let environment = [
      "LEVEL": "debug", "_l2": "debug", "BU": "bu", "DE": "de", "EMPTY": "", "NESTED": "${LEVEL}",
    ]
    let level = try? parse("{logLevel:'\(text)'}", environment: environment).logLevel
    #expect(level == (isDebug ? .debug : nil))
  }

  @Test func `no message shows what a variable holds`() {
    let error = #expect(throws: ConfigurationError.self) {
      try parse("{profiles:{a:{provider:'${X}'}}, vault:{keySource:'file'}}", environment: ["X": "canary"])
    }
    #expect(error?.description.contains("canary") == false)
  }
}
