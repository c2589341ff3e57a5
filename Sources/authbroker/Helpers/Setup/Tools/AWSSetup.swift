extension ToolSetup {
  /// The libraries and commands of AWS: a file with an ID token (AssumeRoleWithWebIdentity).
  static let aws = tokenFile(
    "aws", "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN=arn:aws:iam::ACCOUNT:role/ROLE AWS_ROLE_SESSION_NAME=authbroker",
    calls: [awsCall])

  /// The first thing that the command does is to exchange the file's token, whatever it is asked for.
  private static var awsCall: ToolCall {
    ToolCall(program: "aws", requirement: "awscli 2.13 or later (or 1.29)") { place in
      let variable = "AWS_WEB_IDENTITY_TOKEN_FILE"
      return ToolWords(
        arguments: ["sts", "get-caller-identity"],
        environment: [
          variable: place.setup.environment[variable] ?? "", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/probe",
          "AWS_ROLE_SESSION_NAME": "authbroker-doctor", "AWS_ENDPOINT_URL_STS": "http://\(place.authority)",
          "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1", "AWS_EC2_METADATA_DISABLED": "true",
        ])
    }
  }
}
