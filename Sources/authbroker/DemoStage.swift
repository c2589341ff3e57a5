import BrokerProtocol
import JSON

/// What a person sees of the demo: numbered steps, what was sent, what came back.
struct DemoStage {
  /// How words are set off.
  let style: Style
  private var steps = 0

  /// An empty stage.
  init(style: Style) { self.style = style }

  /// Begins a step.
  mutating func step(_ heading: String) {
    steps += 1
    Output.line((steps == 1 ? "" : "\n") + style.bold("\(steps). \(heading)"))
  }

  /// Shows a request.
  func sent(_ method: String, _ params: some JSONEncodable) {
    Output.line("   " + style.dim("→") + " \(method) \(Self.text(of: params))")
  }

  /// Shows a result.
  func received(_ result: some JSONEncodable) {
    Output.line("   " + style.dim("←") + " " + style.good("result") + " \(Self.text(of: result))")
  }

  /// Shows an error.
  func received(_ error: BrokerError) {
    Output.line(
      "   " + style.dim("←") + " " + style.warning("error") + " \(error.kind.rawValue) (\(error.kind.code)): "
        + error.message)
  }

  /// Shows an event that the other client was told.
  func told(_ event: BrokerEvent, _ text: [UInt8]) {
    Output.line("   " + style.dim("⇐ other client:") + " " + EventLine.text(of: event, text, style))
  }

  /// Says something.
  func note(_ text: String) {
    Output.line("     " + style.dim(text))
  }

  /// The JSON of a value, with what is secret left out.
  private static func text(of value: some JSONEncodable) -> String {
    var writer = JSONWriter()
    value.encode(to: &writer)
    guard let root = try? JSONDocument(parsing: writer.bytes).root, let members = try? root.members() else { return "" }
    let secrets = ["password", "code", "accessToken"]
    var elided = JSONWriter()
    elided.object { writer in
      for (name, value) in members {
        writer.key(name)
        if secrets.contains(name) { writer.string("…") } else { writer.raw(value.text) }
      }
    }
    return String(decoding: elided.bytes, as: UTF8.self)
  }
}
