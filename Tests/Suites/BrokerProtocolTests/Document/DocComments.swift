import BrokerProtocol
import LinuxSystem
import TestSupport

/// The comments of the protocol's sources, as the description of the protocol repeats them.
enum DocComments {
  /// What is said of a type.
  struct Comment {
    /// Its paragraphs.
    var paragraphs: [String] = []
    /// What is said of its properties.
    var properties: [String: String] = [:]
    /// What the types of its properties are called.
    var types: [String: String] = [:]
    /// Which property is which member on the wire.
    var members: [String: String] = [:]
    /// The properties whose members stand among its own.
    var flattened: [String] = []

    /// The first paragraph.
    var summary: String? { paragraphs.first }

    /// What is said of a member, by its name on the wire.
    func ofMember(_ name: String) -> String? {
      if let property = members[name] { return properties[property] }
      return flattened.lazy.compactMap { types[$0].flatMap { all[$0] }?.ofMember(name) }.first
    }
  }

  /// What is said of a type.
  static func of(_ type: Any.Type) -> Comment? {
    all[String(reflecting: type).split(separator: ".").dropFirst().joined(separator: ".")]
  }

  private static let all: [String: Comment] = {
    var reader = Reader()
    for folder in ["Errors", "Methods", "Values"].map({ "Sources/Protocol/BrokerProtocol/\($0)" }) {
      for name in (try? TemporaryDirectory.names(in: "\(Repository.root)/\(folder)")) ?? [] {
        reader.read(String(decoding: (try? Repository.bytes("\(folder)/\(name)")) ?? [], as: UTF8.self))
      }
    }
    return reader.types
  }()

  /// Reads sources that are formatted as all are here: what ends a declaration is indented as its beginning.
  private struct Reader {
    var types: [String: Comment] = [:]
    private var path: [(name: String, indentation: Int)] = []
    private var comment: [String] = [""]

    mutating func read(_ text: String) {
      path = []
      for line in text.replacing(/\(\n */, with: "(").split(separator: "\n", omittingEmptySubsequences: false) {
        read(String(line.drop { $0 == " " }), indentation: line.prefix { $0 == " " }.count)
      }
    }

    private mutating func read(_ line: String, indentation: Int) {
      if line.hasPrefix("///") { return note(line.dropFirst(3).drop { $0 == " " }) }
      defer { comment = [""] }
      if line == "}", path.last?.indentation == indentation { path.removeLast() }
      if let match = line.firstMatch(of: /^(?:[a-z]+ )?(struct|enum|extension) ([\w.]+).*{$/) {
        path.append((String(match.2), indentation))
        if match.1 != "extension" { types[name, default: Comment()].paragraphs = comment.filter { !$0.isEmpty } }
      } else if let match = line.firstMatch(of: /^(?:public |package |private )*var (\w+)(?:: ([\w.]+))?/) {
        let text = comment.joined(separator: " ")
        types[name, default: Comment()].properties[String(match.1)] = text.isEmpty ? nil : text
        types[name, default: Comment()].types[String(match.1)] = match.2.map(String.init)
      } else if let match = line.firstMatch(of: /coder\.\w+\("(\w+)", &(\w+)/) {
        types[name, default: Comment()].members[String(match.1)] = String(match.2)
      } else if let match = line.firstMatch(of: /try (\w+)\.code\(&coder\)/) {
        types[name, default: Comment()].flattened.append(String(match.1))
      }
    }

    private var name: String { path.map(\.name).joined(separator: ".") }

    /// A line of a comment: empty ones separate paragraphs, and names of Swift become those of the wire.
    private mutating func note(_ line: Substring) {
      guard !line.isEmpty else { return comment.append("") }
      let plain = line.replacing("`", with: "").replacing(/\bnil\b/, with: "absent")
      comment[comment.count - 1] += (comment[comment.count - 1].isEmpty ? "" : " ") + plain
    }
  }
}
