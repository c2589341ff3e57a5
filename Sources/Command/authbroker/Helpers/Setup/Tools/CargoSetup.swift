import BrokerProtocol
import JSON

extension CargoHelper {
  /// cargo: a credential provider for every registry; those that are no target are told that there is nothing.
  static let setup: ToolSetup? = ToolSetup(
    name: "cargo", summary: "a token for each registry, by a credential provider in cargo's config.toml",
    concerns: { $0.isWeb },
    steps: { _, setup in
      let name = programNames[0]
      return [
        LinkStep(name: name, isLookedUp: false),
        // Later entries are asked first.
        BlockStep(
          file: file(setup),
          lines: ["[registry]", "global-credential-providers = [\"cargo:token\", \"\(setup.path(of: name))\"]"],
          conflicts: ["registry.", "registry=", "[registry]global-credential-providers"],
          syntax: .toml, goesIntoTable: true),
      ]
    },
    probe: { target, setup in
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("v", 1)
        writer.key("registry")
        writer.object { $0.member("index-url", "sparse+\(target.address)/") }
        writer.member("kind", "get")
        writer.member("operation", "read")
        writer.key("args")
        writer.array { _ in }
      }
      return .run(
        program: setup.path(of: programNames[0]), arguments: ["--cargo-plugin"],
        input: String(decoding: writer.bytes, as: UTF8.self) + "\n")
    },
    leftovers: { BlockStep.installed(in: file($0)) },
    unboundHelpers: { UnboundHelper.ofCargo(file($0)) },
    requirement: "cargo 1.74")

  private static func file(_ setup: SetupContext) -> String {
    setup.file("CARGO_HOME", orElse: ".cargo") + "/config.toml"
  }
}
