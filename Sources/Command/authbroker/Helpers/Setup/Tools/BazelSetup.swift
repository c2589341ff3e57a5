import BrokerProtocol
import JSON

extension BazelHelper {
  /// Bazel: an option for each host in the user's .bazelrc.
  static let setup: ToolSetup? = ToolSetup(
    name: "bazel", summary: "headers for each host, by lines of ~/.bazelrc",
    concerns: { $0.isWeb },
    steps: { targets, setup in
      let name = programNames[0]
      var hosts: [String] = []
      for target in targets where !hosts.contains(target.host) { hosts.append(target.host) }
      let lines = hosts.map { "common --credential_helper=\($0)=\(setup.path(of: name))" }
      let options = hosts.flatMap { ["--credential_helper=\($0)=", "--credential_helper \($0)="] }
      let block: [any SetupStep] =
        lines.isEmpty ? [] : [BlockStep(file: file(setup), lines: lines, conflictingOptions: options)]
      return [LinkStep(name: name, isLookedUp: false)] + block
    },
    probe: { target, setup in
      var writer = JSONWriter()
      writer.object { $0.member("uri", target.url) }
      return .run(
        program: setup.path(of: programNames[0]), arguments: ["get"],
        input: String(decoding: writer.bytes, as: UTF8.self))
    },
    leftovers: { BlockStep.installed(in: file($0)) })

  private static func file(_ setup: SetupContext) -> String { setup.home + "/.bazelrc" }
}
