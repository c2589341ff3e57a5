import BrokerProtocol
import Configuration
import JSONRPC
import TestSupport
import Testing

/// `Schemas/config.schema.json` and the decoder, held equal by asking the decoder about everything that the schema says.
struct ConfigurationSchemaTests {
  /// A place in the configuration and what the schema says of it; `*` stands for any profile's name.
  struct Property {
    let path: [String]
    let schema: JSONNode
    var name: String { path.joined(separator: ".") }
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
        if try schema["type"]?.string() == "object" { sections.append(property) } else { leaves.append(property) }
      }
      if let entry = section.schema["additionalProperties"], entry.kind == .object {
        sections.append(Property(path: section.path + ["*"], schema: entry))
      }
    }
    self.properties = leaves
    self.sections = sections
  }

  /// The error of a configuration that says one thing; nil where it is accepted.
  private func error(_ path: [String], _ json: String) -> ConfigurationError? {
    var text = json
    for (depth, key) in path.enumerated().reversed() {
      let isProfile = depth == 2 && path[0] == "profiles" && key != "provider"
      text = "{\(isProfile ? #""provider":"local","# : "")\"\(key == "*" ? "any" : key)\":\(text)}"
    }
    do {
      _ = try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: ["HOME": "/home/ann"])
      return nil
    } catch { return error }
  }

  /// The configuration that says one thing.
  private func configuration(_ path: [String], _ json: String) throws -> BrokerConfiguration {
    var text = json
    for (depth, key) in path.enumerated().reversed() {
      let isProfile = depth == 2 && path[0] == "profiles" && key != "provider"
      text = "{\(isProfile ? #""provider":"local","# : "")\"\(key == "*" ? "default" : key)\":\(text)}"
    }
    return try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: [:])
  }

  @Test func `the schema has the sections and settings of this version`() {
    #expect(
      sections.map(\.name) == ["", "vault", "limits", "profiles", "local", "profiles.*", "local.otp", "local.delivery"])
    #expect(properties.count == 27)
  }

  @Test func `numbers have the same kinds and ranges`() throws {
    for property in properties {
      guard let type = try property.schema["type"]?.string(), ["integer", "number"].contains(type) else { continue }
      let low = try property.schema.required("minimum").integer()
      let high = try property.schema.required("maximum").integer()
      for value in ["\(low)", "\(high)"] { #expect(error(property.path, value) == nil, "\(property.name)") }
      for value in ["\(low - 1)", "\(high + 1)", "\(high).001", "\"\(low)\"", "true", "null", "[]", "{}"] {
        let key = error(property.path, value)?.key
        #expect(key == property.name.replacingStar(), "\(property.name): \(value)")
      }
      #expect((error(property.path, "\(low).5") == nil) == (type == "number"), "\(property.name)")
      #expect(property.name.hasSuffix("Seconds") == (type == "number"))
    }
  }

  @Test func `words are the same`() throws {
    for property in properties {
      guard let words = property.schema["enum"] else { continue }
      for word in try words.elements() where try property.name != "vault.keySource" || word.string() != "command" {
        #expect(error(property.path, String(decoding: word.text, as: UTF8.self)) == nil, "\(property.name)")
      }
      for value in [#""other""#, #""""#, "1", "true", "null", "[]", "{}"] {
        #expect(error(property.path, value)?.key == property.name.replacingStar(), "\(property.name): \(value)")
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
    #expect(try providers?.map { try $0.string() } == ProfileConfiguration.providerTypes)
  }

  @Test func `switches and texts are the same`() throws {
    for property in properties {
      switch try property.schema["type"]?.string() {
      case "boolean":
        for value in ["true", "false"] { #expect(error(property.path, value) == nil) }
        for value in ["0", "\"true\"", "null"] {
          #expect(error(property.path, value)?.key == property.name.replacingStar())
        }
      case "string":
        let accepted = try property.schema["examples"]?.elements().map { try $0.string() } ?? ["x"]
        for text in accepted { #expect(error(property.path, "\"\(text)\"") == nil, "\(property.name)") }
        // Only where the schema has a rule, there are texts that break it.
        let isFree = property.schema["pattern"] == nil
        for text in ["", "./x", "/"] { #expect((error(property.path, "\"\(text)\"") == nil) == isFree) }
        for value in ["0", "true", "null", "[]", "{}"] {
          #expect(error(property.path, value)?.key == property.name.replacingStar())
        }
      case "array":
        for value in try property.schema.required("examples").elements() {
          #expect(error(property.path, String(decoding: value.text, as: UTF8.self)) == nil, "\(property.name)")
        }
        for value in ["[]", "[0]", "[null]", #"["x",0]"#, #""x""#, "0", "null", "{}"] {
          #expect(error(property.path, value)?.key == property.name.replacingStar(), "\(property.name): \(value)")
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
      #expect(said == .standard, "\(property.name)")
    }
    let withoutDefault = properties.filter { $0.schema["default"] == nil }.map(\.name)
    #expect(withoutDefault == ["$schema", "vault.keyFile", "vault.command", "profiles.*.provider"])
  }

  @Test func `every section knows the same keys`() throws {
    for section in sections {
      #expect(
        error(section.path, "1")?.key == (section.path.isEmpty ? "the configuration" : section.name.replacingStar()))
      guard section.schema["properties"] != nil else { continue }
      #expect(section.schema["additionalProperties"]?.kind == .false, "\(section.name)")
      let isProfile = section.path.last == "*"
      let unknown = error(section.path, isProfile ? #"{"provider":"local","?":1}"# : #"{"?":1}"#)
      let keys = try section.schema.required("properties").members().map(\.name)
      #expect(Set(unknown?.knownKeys ?? []) == Set(keys), "\(section.name)")
      #expect(unknown?.knownKeys.count == keys.count, "\(section.name)")
    }
    #expect(error(["profiles", "*"], "{}")?.key == "profiles.any.provider")
  }

  @Test func `every setting says what it is for`() throws {
    for property in properties + sections { #expect(try !property.schema.required("description").string().isEmpty) }
  }
}

extension String {
  /// The key as errors write it in these tests.
  fileprivate func replacingStar() -> String {
    split(separator: ".").map { $0 == "*" ? "any" : String($0) }.joined(separator: ".")
  }
}
