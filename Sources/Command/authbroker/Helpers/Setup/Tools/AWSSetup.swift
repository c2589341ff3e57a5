import BrokerProtocol
import LinuxSystem
import TextCoding

extension AWSHelper {
  /// The profile of AWS's configuration that is written.
  static let profileOption = Option.value(
    "--aws-profile", "NAME", "aws: the profile of ~/.aws/config to write; else AWS_PROFILE, else authbroker")
  /// The options of `helper install aws`.
  static let setupOptions = AWSRole.options + [accessOption, profileOption]

  private static let variable = "AWS_WEB_IDENTITY_TOKEN_FILE"
  private static let process = "credential_process = "

  /// AWS's tools: keys by a profile with a `credential_process`, or a file with an ID token (AssumeRoleWithWebIdentity).
  static let setup: ToolSetup? = ToolSetup(
    name: "aws", summary: "keys of a role, by credential_process of a profile in ~/.aws/config",
    needsTargets: false,
    concerns: { _ in false },
    steps: { targets, setup in
      guard let role = AWSRole.name(setup.arguments, EnvironmentVariables(setup.environment)),
        let target = targets.first
      else {
        return BlockStep.installed(in: file(setup)) + [note(setup)]
      }
      return [block(role, of: target.profile, setup)]
    },
    probe: { _, setup in
      let isFile = setup.environment[variable] != nil
      guard !isFile, let command = (try? BlockStep.blocks(in: file(setup)))?.compactMap(command).first else {
        return .file(variable: variable)
      }
      return .keys(command: command)
    },
    leftovers: { BlockStep.installed(in: file($0)) }, requirement: "awscli 2.13 or 1.29")

  private static func file(_ setup: SetupContext) -> String { setup.file("AWS_CONFIG_FILE", orElse: ".aws/config") }

  /// The command that AWS's tools run for a profile that is written; nil for anything else.
  private static func command(_ step: BlockStep) -> String? {
    let line = step.lines.first { $0.hasPrefix(process) }
    return line.map { String($0.dropFirst(process.count)) }
  }

  /// A profile; its tools run the command as a shell does, and pass no other environment than their own.
  private static func block(_ role: String, of profile: ProfileName, _ setup: SetupContext) -> BlockStep {
    let chosen = setup.arguments[profileOption.name] ?? setup.environment["AWS_PROFILE"]
    let name = chosen.flatMap { $0.isEmpty ? nil : $0 } ?? "authbroker"
    let isPlain = !name.isEmpty && name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || "@+:/".utf8.contains($0) }
    let title = isPlain ? name : "'\(name)'"
    let options = [AWSRole.sessionOption, AWSRole.durationOption, AWSRole.endpointOption, accessOption].map { $0.name }
    let words =
      [setup.program, "helper", "aws", "--role-arn", role, "--profile", profile.description]
      + setup.arguments.words(of: options)
    let section = name == "default" ? "[default]" : "[profile \(title)]"
    return BlockStep(
      file: file(setup), label: name, lines: [section, process + words.map { $0.shellQuoted }.joined(separator: " ")],
      conflicts: name == "default" ? ["[default]", "[profiledefault]"] : ["[profile\(name.filter { $0 != " " })]"],
      syntax: .ini)
  }

  /// Both ways, for those who have not named a role.
  private static func note(_ setup: SetupContext) -> NoteStep {
    let path = "\"$XDG_RUNTIME_DIR/aws-token\""
    return NoteStep(
      text: """
        to write a profile of AWS's configuration (the profile of the broker needs allowIdToken: true):
          authbroker helper install aws --role-arn arn:aws:iam::ACCOUNT:role/ROLE --aws-profile NAME
        or, for libraries that make the exchange themselves, for as long as it is needed:
          \(setup.program) file --id \(path) &
        and in the environment of its programs:
          export \(variable)=\(path) AWS_ROLE_ARN=arn:aws:iam::ACCOUNT:role/ROLE AWS_ROLE_SESSION_NAME=authbroker
        """)
  }
}
