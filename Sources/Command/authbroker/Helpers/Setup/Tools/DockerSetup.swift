import BrokerProtocol
import JSON

extension DockerHelper {
  /// docker; podman, skopeo and buildah read the same file where they have no own one.
  static let setup: ToolSetup? = ToolSetup(
    name: "docker", otherNames: ["podman", "skopeo"],
    summary: "a password for each registry, by credHelpers of docker's config.json",
    concerns: { $0.isWeb && $0.scheme != .bearer && registry(of: $0) != nil },
    steps: { targets, setup in
      let steps: [any SetupStep] = [LinkStep(name: programNames[0])]
      var hosts: [String] = []
      for host in targets.compactMap(registry(of:)) where !hosts.contains(host) { hosts.append(host) }
      return steps
        + hosts.map {
          JSONMemberStep(file: file(setup), group: group, name: $0, value: value)
        }
    },
    probe: { target, _ in
      registry(of: target).map { .run(program: programNames[0], arguments: ["get"], input: $0) }
    },
    leftovers: { JSONMemberStep.installed(in: file($0), group: group, value: value) },
    requirement: "docker 20.10")

  private static let group = "credHelpers"
  /// The end of the helper's name, by which docker knows it.
  private static let value = "authbroker"

  private static func file(_ setup: SetupContext) -> String {
    setup.file("DOCKER_CONFIG", orElse: ".docker") + "/config.json"
  }

  /// The name of a registry in docker's configuration; nil for a part of a server: docker tells its helper no path.
  private static func registry(of target: Target) -> String? {
    guard let name = DockerServer(listing: target.url)?.text else { return nil }
    return name.includes("://") || !name.contains("/") ? name : nil
  }
}
