import BrokerProtocol

extension TerraformHelper {
  /// Terraform and OpenTofu, which know one helper for all hosts.
  static let setup: ToolSetup? = ToolSetup(
    name: "terraform", otherNames: ["tofu", "opentofu"],
    summary: "a token for each host, by credentials_helper of ~/.terraformrc",
    // It knows hosts, and no paths.
    concerns: { $0.isSecureWeb && $0.path.isEmpty },
    steps: { _, setup in
      [
        LinkStep(
          name: programNames[0], directory: setup.home + "/.terraform.d/plugins"),
        BlockStep(
          file: file(setup),
          lines: ["credentials_helper \"authbroker\" {", "  args = []", "}"], conflicts: ["credentials_helper"],
          syntax: .blocks),
      ]
    },
    probe: { target, setup in
      .run(
        program: "\(setup.home)/.terraform.d/plugins/\(programNames[0])",
        arguments: ["get", target.authority])
    },
    unboundHelpers: { UnboundHelper.ofTerraform(file($0)) })

  private static func file(_ setup: SetupContext) -> String {
    setup.file("TF_CLI_CONFIG_FILE", orElse: ".terraformrc")
  }
}
