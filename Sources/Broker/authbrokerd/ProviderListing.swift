import Configuration
import JSON
import ProviderKit

/// `--list-providers`: the providers that a profile can name, and what a person who sets one up is asked.
enum ProviderListing {
  /// One line of JSON: `providers`, an array of objects with type, title and questions.
  static var text: String {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("providers")
      writer.array { writer in
        for type in ProviderType.all { write(type, &writer) }
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self) + "\n"
  }

  private static func write(_ type: ProviderType, _ writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("type", type.name)
      writer.member("title", type.title)
      writer.member(ifPresent: "address", type.registration?.address)
      writer.member(ifPresent: "steps", type.registration?.steps)
      writer.key("questions")
      writer.array { writer in
        for question in type.questions {
          writer.object { writer in
            writer.member("key", question.key)
            writer.member("text", question.text)
            writer.member("isRequired", question.isRequired)
            writer.member("isSecret", question.isSecret)
            writer.member("isAsked", question.isAsked)
            writer.member(ifPresent: "reason", question.reason)
            writer.member(ifPresent: "usual", question.usual)
            writer.member(ifPresent: "value", question.value)
          }
        }
      }
    }
  }
}
