extension ToolSetup {
  /// The libraries of Azure: a file with an ID token (workload identity federation).
  static let azure = tokenFile(
    "azure", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_TENANT_ID=TENANT AZURE_CLIENT_ID=CLIENT",
    reasonNotRun: "its libraries send the token by https alone")
}
