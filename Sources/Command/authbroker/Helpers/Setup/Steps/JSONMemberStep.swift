import JSON

/// A string in an object of a JSON file, such as `credHelpers` of docker; every other byte of the file is kept.
final class JSONMemberStep: SetupStep {
  /// The file.
  let file: String
  /// The member of the file's object that holds the object.
  let group: String
  /// The member of that.
  let name: String
  /// The value of the member.
  let value: String

  /// A member.
  init(file: String, group: String, name: String, value: String) {
    self.file = file
    self.group = group
    self.name = name
    self.value = value
  }

  var title: String { "\(group) for \(name) in \(file.shellQuoted)" }

  var text: String {
    "in \(file.shellQuoted):\n  { \(JSONWriter.quoted(group)): { \(JSONWriter.quoted(name)): \(JSONWriter.quoted(value)) } }"
  }

  /// The members of a group that say something; one step that says so where the file cannot be read.
  static func installed(in file: String, group: String, value: String) -> [any SetupStep] {
    let bytes: [UInt8]
    do throws(CommandFailure) {
      guard let read = try ToolFile(path: file).read() else { return [] }
      bytes = read
    } catch { return [UnreadableStep(error)] }
    guard let root = try? JSONDocument(parsing: bytes).root, root.kind == .object,
      let members = try? root[group]?.members()
    else { return [] }
    return members.filter { (try? $0.value.string()) == value }
      .map { JSONMemberStep(file: file, group: group, name: $0.name, value: value) }.steps
  }

  func state(_ setup: SetupContext) -> SetupState {
    guard let root = try? content()?.root else { return .missing }
    guard let member = root[group]?[name] else { return .missing }
    guard let text = try? member.string() else { return .blocked("\(file.shellQuoted) has something else there") }
    guard text == value else {
      return .blocked("\(file.shellQuoted) names \(text.shellQuoted) for \(name.shellQuoted)")
    }
    return .installed
  }

  func install(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try ToolFile(path: file).exclusively(makingDirectory: true) { () throws(CommandFailure) in try add(setup) }
  }

  func remove(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    try ToolFile(path: file).exclusively(makingDirectory: false) { () throws(CommandFailure) in try takeOut(setup) }
  }

  private func add(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    switch state(setup) {
    case .installed: return false
    case .blocked(let why): throw CommandFailure(.failure, why)
    case .missing, .manual: break
    }
    guard let content = try content() else {
      try ToolFile(path: file).write(Array("{\n\t\(JSONWriter.quoted(group)): \(newGroup(inNewFile: true))\n}\n".utf8))
      return true
    }
    let edited: [UInt8]?
    if let object = content.root[group] {
      edited = Self.inserting(
        "\(JSONWriter.quoted(name)): \(JSONWriter.quoted(value))", into: object, of: content.bytes)
    } else {
      let member = "\(JSONWriter.quoted(group)): \(newGroup(inNewFile: false))"
      edited = Self.inserting(member, into: content.root, of: content.bytes)
    }
    try write(edited) { $0[group]?[name].flatMap { try? $0.string() } == value }
    return true
  }

  private func takeOut(_ setup: SetupContext) throws(CommandFailure) -> Bool {
    // A file that cannot be read is told of: what is in it is not known.
    guard try ToolFile(path: file).read() != nil else { return false }
    guard state(setup) == .installed, let content = try content(), let object = content.root[group],
      let count = try? object.members().count
    else { return false }
    let isWholeFile = content.bytes == Array("{\n\t\(JSONWriter.quoted(group)): \(newGroup(inNewFile: true))\n}\n".utf8)
    if isWholeFile {
      try ToolFile(path: file).remove()
      return true
    }
    // An object that was made by a step is known by its blanks, which the tool itself may have changed to its own.
    let isMade = [true, false].contains { object.text.elementsEqual(newGroup(inNewFile: $0).utf8) }
    let edited =
      count == 1 && isMade
      ? Self.removing(object, of: content.bytes)
      : object[name].flatMap { Self.removing($0, of: content.bytes) }
    try write(edited) { $0[group]?[name] == nil }
    return true
  }

  /// The object that is made where there is none.
  private func newGroup(inNewFile isNew: Bool) -> String {
    let (open, close) = isNew ? ("{\n\t\t", "\n\t}") : ("{ ", " }")
    return open + "\(JSONWriter.quoted(name)): \(JSONWriter.quoted(value))" + close
  }

  /// Writes the edited file, once it is sure that it has the member.
  private func write(_ edited: [UInt8]?, _ isRight: (JSONNode) -> Bool) throws(CommandFailure) {
    guard let edited, let root = try? JSONDocument(parsing: edited).root, isRight(root) else { throw unreadable }
    try ToolFile(path: file).write(edited)
  }

  /// A file and its object, whose nodes tell where they stand in the bytes.
  private struct Content {
    let bytes: [UInt8]
    let root: JSONNode
  }

  private func content() throws(CommandFailure) -> Content? {
    guard let bytes = try ToolFile(path: file).read() else { return nil }
    guard let root = try? JSONDocument(parsing: bytes).root, root.kind == .object,
      root[group].map({ $0.kind == .object }) ?? true
    else { throw unreadable }
    return Content(bytes: bytes, root: root)
  }

  private var unreadable: CommandFailure {
    CommandFailure(.failure, "\(file.shellQuoted) is not a JSON object that an entry can be added to")
  }

  /// The file's bytes with a member more, first in an object, with the white space that the object has.
  private static func inserting(_ member: String, into object: JSONNode, of whole: [UInt8]) -> [UInt8] {
    let start = object.text.startIndex + 1
    let blanks = whole[start...].prefix(while: isBlank)
    let isEmpty = whole[start + blanks.count] == UInt8(ascii: "}")
    let addition = isEmpty ? Array(member.utf8) : Array(blanks) + Array(member.utf8) + [UInt8(ascii: ",")]
    return Array(whole[..<start]) + addition + Array(whole[start...])
  }

  /// The file's bytes without a member, its comma and the white space before it.
  private static func removing(_ value: JSONNode, of whole: [UInt8]) -> [UInt8]? {
    // Back over the colon and the name, which is ours or a plain word: without an escape.
    guard let nameEnd = whole[..<value.text.startIndex].lastIndex(of: UInt8(ascii: "\"")),
      let nameStart = whole[..<nameEnd].lastIndex(of: UInt8(ascii: "\""))
    else { return nil }
    var start = nameStart
    while start > 0, isBlank(whole[start - 1]) { start -= 1 }
    var end = value.text.endIndex
    let blanks = whole[end...].prefix(while: isBlank).count
    if whole[end + blanks] == UInt8(ascii: ",") {
      end += blanks + 1
    } else if start > 0, whole[start - 1] == UInt8(ascii: ",") {
      start -= 1
    }
    return Array(whole[..<start]) + Array(whole[end...])
  }

  private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
