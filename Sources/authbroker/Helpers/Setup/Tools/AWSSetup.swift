extension ToolSetup {
  /// The libraries and commands of AWS: a file with an ID token (AssumeRoleWithWebIdentity).
  static let aws = tokenFile(
    "aws", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN=arn:aws:iam::ACCOUNT:role/ROLE AWS_ROLE_SESSION_NAME=authbroker"
  )
}
