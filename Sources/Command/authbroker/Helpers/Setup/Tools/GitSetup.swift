import BrokerProtocol

extension GitHelper {
  /// git: its own configuration, per server.
  static let setup: ToolSetup? = ToolSetup(
    name: "git", summary: "a password for each server, by git's own configuration",
    concerns: { $0.isWeb },
    steps: { targets, setup in
      let name = programNames[0]
      let path = setup.path(of: name)
      return [LinkStep(name: name, isLookedUp: false)]
        + targets.map { GitHelperStep(url: $0.url, program: path, usesPath: !$0.path.isEmpty) }
    },
    probe: { target, _ in
      let scheme = target.url.hasPrefix("http://") ? "http" : "https"
      let path = target.path.isEmpty ? "" : "path=\(target.path)/probe.git\n"
      return .run(
        program: "git", arguments: ["credential", "fill"],
        input: "protocol=\(scheme)\nhost=\(target.authority)\n\(path)\n",
        environment: ["GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "/bin/false", "SSH_ASKPASS": "/bin/false"])
    },
    otherHelpers: GitConfiguration.otherHelpers,
    leftovers: { GitHelperStep.installed($0) },
    unboundHelpers: { UnboundHelper.ofGit($0) })
}
