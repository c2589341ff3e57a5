import JSON
import TestSupport
import Testing

/// The manual page authbroker(5): it describes every key of the schema.
@Suite(.standardTimeLimit) struct ManualTests {
  private let schema: JSONNode
  /// What the page says of a key, by the path of the key.
  private let entries: [String: String]

  init() throws {
    schema = try SchemaFile.document("config.schema.json").root
    var entries: [String: String] = [:]
    var (section, key) = ("", "")
    for line in String(decoding: try Repository.bytes("Sources/Command/authbroker/authbroker.5"), as: UTF8.self).split(
      separator: "\n")
    {
      if line.hasPrefix(".Sh ") { (section, key) = ("", "") }
      if line.hasPrefix(".Ss ") { (section, key) = (line == ".Ss Top level" ? "" : String(line.dropFirst(4)), "") }
      if line.hasPrefix(".It Cm ") {
        key = (section.isEmpty ? "" : section + ".") + line.dropFirst(7)
      } else if !key.isEmpty, line != ".El" {
        entries[key, default: ""] += line + "\n"
      }
    }
    self.entries = entries
  }

  /// A schema behind its reference.
  private func resolved(_ node: JSONNode) throws -> JSONNode {
    guard let reference = node["$ref"] else { return node }
    var target = schema
    for step in try reference.string().split(separator: "/").dropFirst() { target = try target.required(String(step)) }
    return target
  }

  /// The paths of all keys below a schema: any name is `NAME`, and an operation of a backend is `OPERATION`.
  private func keys(below path: String, _ node: JSONNode) throws -> [String] {
    let node = try resolved(node)
    var all: [String] = []
    let members = try node["properties"]?.members() ?? []
    for (name, value) in members {
      let isOperation = path.hasSuffix("mapping.endpoints")
      let key = (path.isEmpty ? "" : path + ".") + name
      all.append(key)
      if path.hasSuffix(".OPERATION"), name == "fields" { continue }
      all += try keys(below: isOperation ? path + ".OPERATION" : key, value)
      if let entry = try resolved(value)["additionalProperties"], entry["properties"] != nil {
        all += try keys(below: key + ".NAME", entry)
      }
      if let element = try resolved(value)["items"], element["properties"] != nil {
        all += try keys(below: key + "[]", element)
      }
    }
    return all
  }

  @Test func `every key of the schema is described`() throws {
    let keys = Set(try keys(below: "", schema))
    #expect(keys.count > 150 && keys.contains("profiles.NAME.mapping.endpoints.OPERATION.path"))
    for key in keys.sorted() {
      let entry = entries[key] ?? ""
      #expect(entry.utf8.count > 5, "\(key) is not described; run: .ci/manual")
    }
  }

  @Test func `nothing else is described as a key`() throws {
    let keys = Set(try keys(below: "", schema) + ["file", "env", "command"])
    #expect(entries.keys.filter { !keys.contains($0) }.isEmpty)
  }

  @Test func `defaults and fields are those of the schema`() throws {
    #expect(entries["limits.maxMessageBytes"]?.contains("By default 1048576.") ?? false)
    #expect(entries["lingerSeconds"]?.contains("A number from 0 to 86400.") ?? false)
    let profile = try schema.required("properties").required("profiles").required("additionalProperties")
    let mapping = try profile.required("properties").required("mapping").required("properties")
    for (name, operation) in try mapping.required("endpoints").required("properties").members() {
      let entry = entries["profiles.NAME.mapping.endpoints." + name] ?? ""
      let properties = try operation.required("properties")
      for (field, _) in try properties.required("fields")["properties"]?.members() ?? [] {
        #expect(entry.contains(field), "\(name) has the field \(field)")
      }
      #expect(entry.contains(try properties.required("path").required("default").string()))
    }
  }
}
