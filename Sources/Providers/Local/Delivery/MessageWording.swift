package import ConfigurationFile

/// The owner's own wording of messages, in place of the built-in one.
package struct MessageWording: Sendable, Equatable {
  /// The owner's words for one kind of message; nil stands for the built-in ones.
  struct Own: Sendable, Equatable {
    /// One line.
    var subject: String?
    /// The text.
    var template: MessageTemplate?
  }

  /// A line of 78 characters with `Subject: ` (RFC 5322, section 2.1.1), and twice as much in other letters.
  private static let largestSubjectByteCount = 138

  /// By the kind of message.
  var own: [MessageContent.Kind: Own] = [:]

  /// The built-in words.
  package init() {}

  /// Reads the section, with an object for each kind of message that has other words.
  package init(_ section: inout ConfigurationSection) {
    for kind in MessageContent.Kind.allCases {
      var words = section.section(kind.rawValue)
      let read = Own(subject: Self.subject(&words), template: Self.template(&words, kind))
      words.finish()
      if read != Own() { own[kind] = read }
    }
    section.finish()
  }

  private static func subject(_ section: inout ConfigurationSection) -> String? {
    guard let text = section.string("subject") else { return nil }
    guard text.utf8.count <= largestSubjectByteCount, !text.contains("\n"),
      (try? MessageTemplate(text, value: nil)) != nil
    else {
      section.report(
        "subject", "must be one line of at most \(largestSubjectByteCount) bytes, without control characters and braces"
      )
      return nil
    }
    return text
  }

  private static func template(_ section: inout ConfigurationSection, _ kind: MessageContent.Kind) -> MessageTemplate? {
    guard let text = section.string("text") else { return nil }
    do throws(MessageTemplate.Mistake) { return try MessageTemplate(text, value: kind.value) } catch {
      section.report("text", explained(error, kind.value))
      return nil
    }
  }

  private static func explained(_ mistake: MessageTemplate.Mistake, _ value: MessageTemplate.Field?) -> String {
    switch mistake {
    case .text:
      return "must have 1 to \(MessageTemplate.largestByteCount) bytes, and no control characters but line ends"
    case .field:
      let fields = value.map { "{\($0.rawValue)}, {lifetime} and {minutes} alone" } ?? "nothing"
      return "may have \(fields) in braces"
    case .value: return "must have {\(value?.rawValue ?? "")} once"
    }
  }
}
