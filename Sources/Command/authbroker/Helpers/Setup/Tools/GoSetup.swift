import BrokerProtocol

extension GoHelper {
  /// The go command.
  static let setup: ToolSetup? = ToolSetup(
    name: "go", summary: "a header for each module proxy, by GOAUTH (Go 1.24)",
    concerns: { $0.isSecureWeb },
    steps: { _, setup in [NoteStep(text: "go env -w GOAUTH=\"\(setup.program) helper go\"")] },
    probe: { target, setup in .run(program: setup.program, arguments: ["helper", "go", target.url]) },
    unboundHelpers: { UnboundHelper.ofGo($0) },
    requirement: "Go 1.24")
}
