import BrokerCore
import BrokerProtocol
import Configuration
import ConfigurationFile
import JSON
import LocalProvider
import OIDCProvider
import TestSupport
import Testing

/// `Schemas/config.schema.json` and the decoder, held equal by asking the decoder about everything that the schema says.
@Suite(.standardTimeLimit) struct ConfigurationSchemaTests {
  /// A place in the configuration and what the schema says of it; `*` stands for any profile's name.
  struct Property {
    let path: [String]
    let schema: JSONNode
    var name: String { path.joined(separator: ".") }
    /// The one type of the values; nil where there are several, or none is given.
    var type: String? { schema["type"].flatMap { try? $0.string() } }
  }

  private let properties: [Property]
  private let sections: [Property]

  init() throws {
    let root = try SchemaFile.document("config.schema.json").root
    var leaves: [Property] = []
    var sections = [Property(path: [], schema: root)]
    var index = 0
    while index < sections.count {
      let section = sections[index]
      index += 1
      for (key, schema) in try section.schema["properties"]?.members() ?? [] {
        let property = Property(path: section.path + [key], schema: schema)
        // What can be of several types, or is described elsewhere, has tests of its own (RESTMappingSchemaTests).
        guard property.type != nil || schema["enum"] != nil else { continue }
        if property.type == "object" { sections.append(property) } else { leaves.append(property) }
      }
      if let entry = section.schema["additionalProperties"], section.path == ["profiles"] {
        sections.append(Property(path: section.path + ["*"], schema: entry))
      }
    }
    self.properties = leaves
    self.sections = sections
  }

  /// A configuration that says one thing, or with nil only what it must say to have the place for it.
  private func text(_ path: [String], _ json: String?) -> String {
    var text = json.map { "{\"\(path[path.count - 1])\":\($0)}" } ?? "{}"
    if path.count == 2, path[0] == "profiles" { text = "{\"default\":\(json ?? #"{"provider":"local"}"#)}" }
    // A profile must say who logs it in, and what that needs; every setting is one of some provider.
    let provider = Self.provider(with: path.dropFirst(2).first ?? "")
    if path.count == 3, path[0] == "profiles" {
      switch path[2] {
      case "provider": text = json.flatMap { Self.providers[$0] }.map { $0 + "}" } ?? text
      default: text = json == nil ? provider + "}" : provider + (provider == "{" ? "" : ",") + text.dropFirst()
      }
    }
    for (depth, key) in path.dropLast().enumerated().reversed() {
      if depth == 2, path[0] == "profiles" {
        text = provider + ",\"\(key)\":\(text)}"
      } else if depth != 1 || path[0] != "profiles" || path.count > 2 {
        text = "{\"\(key == "*" ? "default" : key)\":\(text)}"
      }
    }
    return text
  }

  /// What a provider must be told besides its name, and the client's id if it speaks OpenID Connect.
  private static let needs = [
    "rest": #","baseUrl":"https://api.example.com""#, "oidc": #","issuer":"https://op.example.com""#,
    "keycloak": #","baseUrl":"https://op.example.com","realm":"acme""#, "auth0": #","domain":"acme.auth0.com""#,
    "mcp": #","resource":"https://mcp.example.com/x""#, "firebase": #","apiKey":{"env":"KEY"}"#,
    "static": #","secret":{"env":"KEY"}"#,
  ]

  /// The least that each provider must be told.
  private static let providers = Dictionary(
    uniqueKeysWithValues: ProviderType.all.map { type in
      let client = OIDCPreset.all.contains { $0.name == type.name && $0.needsClient } ? #","clientId":"c""# : ""
      return ("\"\(type.name)\"", #"{"provider":"\#(type.name)"\#(client)\#(needs[type.name] ?? "")"#)
    })

  /// The beginning of a profile that can have a setting, without the setting itself.
  private static func provider(with setting: String) -> String {
    switch setting {
    case "baseUrl": #"{"provider":"rest""#
    case "issuer": #"{"provider":"oidc","clientId":"c""#
    case "realm": #"{"provider":"keycloak","clientId":"c","baseUrl":"https://op.example.com""#
    case "domain": #"{"provider":"auth0","clientId":"c""#
    case "apiKey": #"{"provider":"firebase""#
    case "secret": #"{"provider":"static""#
    case "header", "scheme": providers[#""static""#] ?? "{"
    case "clientMetadataUrl": #"{"provider":"mcp","resource":"https://mcp.example.com/x""#
    case "tenant": providers[#""microsoft""#] ?? "{"
    case "discovery": (providers[#""oidc""#] ?? "{") + #","endpoints":{"token":"https://op.example.com/token"}"#
    case "privateKeyId", "privateKeyAlgorithm", "assertionAudience":
      (providers[#""oidc""#] ?? "{") + #","privateKey":{"env":"KEY"}"#
    case "subjectTokenType", "actorTokenType", "requestedTokenType":
      (providers[#""oidc""#] ?? "{")
        + #","grant":"exchange","subjectToken":{"command":["t"]},"actorToken":{"command":["t"]}"#
    case "assertionType": (providers[#""oidc""#] ?? "{") + #","clientAssertion":{"command":["token"]}"#
    case "clientAuth", "scopes", "audience", "resource", "redirectUri", "methods", "endpoints", "errors", "grant",
      "par", "dpop",
      "authorizationParameters", "tokenParameters", "deviceParameters":
      providers[#""oidc""#] ?? "{"
    default: providers[#""rest""#] ?? "{"
    }
  }

  /// The error of a configuration that says one thing; nil where it is accepted.
  private func error(_ path: [String], _ json: String) -> ConfigurationError? {
    do {
      _ = try configuration(path, json)
      return nil
    } catch { return error }
  }

  /// The setting of the first mistake, for an element its list; nil where the configuration is accepted.
  private func mistaken(_ path: [String], _ json: String) -> String? {
    error(path, json)?.mistakes.first.map { String($0.path.prefix { $0 != "[" }) }
  }

  /// The configuration that says one thing.
  private func configuration(_ path: [String], _ json: String?) throws(ConfigurationError) -> BrokerConfiguration {
    let text = path.isEmpty ? json ?? "{}" : text(path, json)
    return try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["HOME": "/home/ann"])
  }

  @Test func `the schema has the sections and settings of this version`() {
    let names = [
      "", "vault", "limits", "network", "profiles", "targets", "sockets", "access", "local", "profiles.*",
      "access.confirm", "local.otp",
      "local.delivery", "profiles.*.errors", "profiles.*.authorizationParameters", "profiles.*.tokenParameters",
      "profiles.*.deviceParameters", "profiles.*.endpoints", "profiles.*.tls", "profiles.*.mapping",
      "profiles.*.requests",
      "profiles.*.mapping.endpoints",
      "profiles.*.mapping.reply", "profiles.*.mapping.errors", "profiles.*.requests.queue",
      "profiles.*.mapping.errors.kinds",
    ]
    #expect(sections.map(\.name) == names)
  }

  @Test func `the section of limits says what the table says`() throws {
    let schema = properties.filter { $0.path.first == "limits" }
    let rows = Limit.rows.filter { Limit.configurable.contains($0.limit) }
    #expect(schema.map(\.name) == rows.map { "limits.\($0.name)" })
    for (property, row) in zip(schema, rows) {
      #expect(property.type == (row.isTime ? "number" : "integer"), "\(row.name)")
      #expect(try property.schema.required("minimum").integer() == row.range.lowerBound, "\(row.name)")
      #expect(try property.schema.required("maximum").integer() == row.range.upperBound, "\(row.name)")
      let standard = Double(row.standard) / (row.isTime ? 1000 : 1)
      #expect(try property.schema.required("default").number() == standard, "\(row.name)")
    }
  }

  @Test func `numbers have the same kinds and ranges`() throws {
    for property in properties {
      guard let type = property.type, ["integer", "number"].contains(type) else { continue }
      let low = try property.schema.required("minimum").integer()
      let high = try property.schema.required("maximum").integer()
      for value in ["\(low)", "\(high)"] { #expect(error(property.path, value) == nil, "\(property.name)") }
      for value in ["\(low - 1)", "\(high + 1)", "\(high).001", "\"\(low)\"", "true", "null", "[]", "{}"] {
        let key = mistaken(property.path, value)
        #expect(key == property.name.replacingStar(), "\(property.name): \(value)")
      }
      #expect((error(property.path, "\(low).5") == nil) == (type == "number"), "\(property.name)")
      #expect(property.name.hasSuffix("Seconds") == (type == "number"))
    }
  }

  /// Whether a word needs another setting beside it, which has a test of its own.
  private static func needsMore(_ name: String, _ word: String) -> Bool {
    switch name {
    case "vault.keySource": word == "command"
    case "local.delivery.channel": word != "outbox"
    case "profiles.*.grant": true
    case "profiles.*.mapping.clientAuth", "profiles.*.clientAuth": word != "none"
    default: false
    }
  }

  @Test func `words are the same`() throws {
    for property in properties {
      guard let words = property.schema["enum"] else { continue }
      for word in try words.elements() where try !Self.needsMore(property.name, word.string()) {
        #expect(error(property.path, String(decoding: word.text, as: UTF8.self)) == nil, "\(property.name)")
      }
      for value in [#""other""#, #""""#, "1", "true", "null", "[]", "{}"] {
        #expect(mistaken(property.path, value) == property.name.replacingStar(), "\(property.name): \(value)")
      }
    }
    let levels = try sections[0].schema["properties"]?["logLevel"]?["enum"]?.elements().map { try $0.string() }
    #expect(levels == BrokerConfiguration.LogLevel.allCases.map(\.rawValue))
    let sources = try properties.first { $0.name == "vault.keySource" }?.schema["enum"]?.elements().map {
      try $0.string()
    }
    #expect(sources == KeySourceName.allCases.map(\.rawValue))
    let channels = try properties.first { $0.name == "local.delivery.channel" }?.schema["enum"]?.elements()
    #expect(try channels?.map { try $0.string() } == DeliveryConfiguration.Channel.allCases.map(\.rawValue))
    let providers = try properties.first { $0.name == "profiles.*.provider" }?.schema["enum"]?.elements()
    #expect(try providers?.map { try $0.string() } == ProviderType.all.map(\.name))
  }

  @Test func `switches and texts are the same`() throws {
    for property in properties {
      switch property.type {
      case "boolean":
        for value in ["true", "false"] { #expect(error(property.path, value) == nil) }
        for value in ["0", "\"true\"", "null"] {
          #expect(mistaken(property.path, value) == property.name.replacingStar())
        }
      case "string":
        let accepted = try property.schema["examples"]?.elements().map { try $0.string() } ?? ["x"]
        for text in accepted { #expect(error(property.path, "\"\(text)\"") == nil, "\(property.name)") }
        // Only where the schema has a rule, there are texts that break it; that of any word lets most of these be.
        let isFree = property.schema["pattern"] == nil
        let words = ["audience", "privateKeyId", "assertionAudience"]
        let isWord = words.contains(property.path.last ?? "") || property.name == "local.issuer"
        let broken = property.path.last == "scheme" ? ["./x", "/"] : isWord ? [""] : ["", "./x", "/"]
        for text in broken {
          #expect((error(property.path, "\"\(text)\"") == nil) == isFree)
        }
        for value in ["0", "true", "null", "[]", "{}"] {
          #expect(mistaken(property.path, value) == property.name.replacingStar())
        }
      case "array":
        for value in try property.schema.required("examples").elements() {
          #expect(error(property.path, String(decoding: value.text, as: UTF8.self)) == nil, "\(property.name)")
        }
        for value in ["[]", "[0]", "[null]", #"["x",0]"#, #""x""#, "0", "null", "{}"] {
          #expect(mistaken(property.path, value) == property.name.replacingStar(), "\(property.name): \(value)")
        }
      case "integer", "number": break
      default: #expect(property.schema["enum"] != nil, "\(property.name)")
      }
    }
  }

  @Test func `what is not said is the schema's default`() throws {
    for property in properties {
      guard let standard = property.schema["default"] else { continue }
      let said = try configuration(property.path, String(decoding: standard.text, as: UTF8.self))
      #expect(try said == configuration(property.path, nil), "\(property.name)")
    }
    let withoutDefault = properties.filter { $0.schema["default"] == nil }.map(\.name)
    let names = [
      "$schema", "hooks", "vault.keyFile", "vault.command", "network.caFile", "local.audiences",
      "profiles.*.provider", "profiles.*.baseUrl",
      "profiles.*.issuer", "profiles.*.realm", "profiles.*.domain", "profiles.*.clientAuth",
      "profiles.*.privateKeyId", "profiles.*.privateKeyAlgorithm", "profiles.*.assertionAudience", "profiles.*.grant",
      "profiles.*.subjectTokenType", "profiles.*.actorTokenType", "profiles.*.requestedTokenType", "profiles.*.scopes",
      "profiles.*.audience", "profiles.*.resource", "profiles.*.clientMetadataUrl", "profiles.*.methods",
      "profiles.*.revocation", "access.confirm.command", "profiles.*.tls.pins",
      "profiles.*.tls.caFile",
    ]
    #expect(withoutDefault == names)
  }

  @Test func `every section knows the same keys`() throws {
    for section in sections {
      #expect(mistaken(section.path, "1") == section.name.replacingStar())
      guard section.schema["properties"] != nil else { continue }
      #expect(section.schema["additionalProperties"]?.kind == .false, "\(section.name)")
      // A profile has the keys of its provider; all providers together have those of the schema.
      let isProfile = section.path.last == "*"
      for text in isProfile ? Self.providers.values.map({ $0 + #","?":1}"# }) : [#"{"?":1}"#] {
        #expect(mistaken(section.path, text)?.hasSuffix("?") == true, "\(section.name)")
      }
      let known = BrokerConfiguration.knownKeys[section.path.map { $0 == "*" ? "NAME" : $0 }.joined(separator: ".")]
      let keys = try section.schema.required("properties").members().map(\.name)
      #expect(Set(known) == Set(keys) && known.count == keys.count, "\(section.name)")
    }
    #expect(mistaken(["profiles", "*"], "{}") == "profiles.default.provider")
  }

  @Test func `every setting says what it is for`() throws {
    for property in properties + sections { #expect(try !property.schema.required("description").string().isEmpty) }
  }
}

extension String {
  /// The key as errors write it in these tests.
  fileprivate func replacingStar() -> String {
    split(separator: ".").map { $0 == "*" ? "default" : String($0) }.joined(separator: ".")
  }
}
