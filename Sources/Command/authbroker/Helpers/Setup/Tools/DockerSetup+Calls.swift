import JSON

extension DockerHelper {
  /// Programs that read docker's configuration, each looking at an image or a list that a registry has.
  static var calls: [ToolCall] {
    [
      ToolCall(program: "docker", requirement: "docker 20.10 or later") { place in
        ToolInvocation(
          arguments: ["manifest", "inspect", "--insecure", "\(place.authority)/probe:1"],
          environment: ["DOCKER_CONFIG": place.home], files: ["config.json": configuration(place)])
      },
      ToolCall(program: "podman", requirement: "podman") { place in
        ToolInvocation(
          arguments: [
            "--root", "\(place.home)/root", "--runroot", "\(place.home)/run", "--storage-driver", "vfs",
            "--events-backend", "none", "search", "--tls-verify=false", "\(place.authority)/probe",
          ],
          environment: ["REGISTRY_AUTH_FILE": "\(place.home)/config.json"],
          files: ["config.json": configuration(place)])
      },
      ToolCall(program: "skopeo", requirement: "skopeo") { place in
        ToolInvocation(
          arguments: ["inspect", "--tls-verify=false", "docker://\(place.authority)/probe:1"],
          environment: ["REGISTRY_AUTH_FILE": "\(place.home)/config.json"],
          files: ["config.json": configuration(place)])
      },
    ]
  }

  /// docker's file with the helper for the probe.
  private static func configuration(_ place: ProbePlace) -> String {
    "{\"credHelpers\":{\(JSONWriter.quoted(place.authority)):\"authbroker\"}}\n"
  }
}
