package import BrokerProtocol
import SecretMemory

/// How codes are answered, and sent again.
extension Broker {
  /// Answers a challenge with its code.
  package func verifyOTP(_ params: VerifyOTP.Params, _ caller: Caller<LoginResult>) throws(BrokerError) {
    let slot = try slot(ofLogin: params.otpFlowID)
    let code = try Self.code(params.code, .removed, slot.name)
    try admit(.code, nil, on: slot)
    callers.update(caller.id) { $0.wait = .code(login: params.otpFlowID) }
    handle(.codeGiven(CodeGuess(caller.id.number, code)), onLogin: params.otpFlowID)
  }

  /// Answers a challenge with a backup code.
  package func verifyBackupCode(
    _ params: VerifyBackupCode.Params, _ caller: Caller<VerifyBackupCode.Result>
  ) throws(BrokerError) {
    let name = try slot(ofLogin: params.otpFlowID).name
    let (slot, provider) = try slot(for: name, with: \.backupCodes)
    let code = try Self.code(params.backupCode, provider.dashesOfBackupCodes, name)
    try admit(.code, nil, on: slot)
    callers.update(caller.id) { entry in
      entry.wait = .code(login: params.otpFlowID)
      entry.countsBackupCodesOf = name
    }
    handle(.codeGiven(CodeGuess(caller.id.number, code, isBackupCode: true)), onLogin: params.otpFlowID)
  }

  /// A code as providers know it; see ``TypedCode``.
  ///
  /// - Throws: `overloaded` where there is no room for it.
  private static func code(
    _ typed: Secret, _ dashes: TypedCode.Dashes, _ profile: ProfileName
  ) throws(BrokerError) -> Secret {
    do throws(SecretMemoryExhausted) {
      return try TypedCode.normalized(typed, dashes)
    } catch {
      throw BrokerError(.overloaded, BrokerError.secretMemoryMessage, profile: profile)
    }
  }

  /// Sends another code.
  package func resendOTP(_ params: ResendOTP.Params, _ caller: Caller<OTPChallenge>) throws(BrokerError) {
    let slot = try slot(ofLogin: params.otpFlowID)
    _ = try require(\.codeResending, of: slot)
    callers.update(caller.id) { $0.wait = .code(login: params.otpFlowID) }
    handle(.resendWanted(caller: caller.id.number), onLogin: params.otpFlowID)
  }

  /// The profile of a login that waits for a code.
  ///
  /// - Throws: `flowNotFound`.
  private func slot(ofLogin id: String) throws(BrokerError) -> ProfileSlot {
    guard let login = pendingLogins.find(id, at: now.wall)?.login, login.step.challenge != nil,
      let slot = slot(named: login.profile)
    else { throw BrokerError(.flowNotFound) }
    return slot
  }

  /// Asks the provider about a code, off the loop; where the account has no guess left today, the login ends.
  func check(_ guess: CodeGuess, _ login: PendingLogin, on slot: ProfileSlot) {
    do throws(BrokerError) {
      try countGuess(login, on: slot)
    } catch {
      let refusal = ProviderFailure.refused(error.kind, retryAfter: error.retryAfter)
      return handle(.codeRefused(guess: guess.number, refusal), onLogin: login.id)
    }
    let (provider, name, slotID, number) = (slot.provider, slot.name, slot.id, guess.number)
    let sentAt = now
    inBackground {
      do throws(ProviderFailure) {
        let session =
          guess.isBackupCode
          ? try await provider.require(\.backupCodes).verifyBackupCode(flow: login.flow, code: guess.code)
          : try await provider.require(\.challenges).verifyOTP(flow: login.flow, code: guess.code)
        let identified = await Broker.identified(session, login.expectedUser, provider)
        return { broker in
          broker.noteCall(identified.failure, of: name, id: slotID)
          if let slot = broker.slot(named: name, id: slotID) { broker.refundGuess(login, on: slot) }
          broker.take(
            (identified.session, sentAt), from: provider, .codeAccepted(guess: number),
            otherwise: identified.codeEnd(guess: number), login.id, name, slotID)
        }
      } catch {
        return { broker in
          broker.noteCall(error, of: name, id: slotID)
          if error.leavesCodeUnseen, let slot = broker.slot(named: name, id: slotID) {
            broker.refundGuess(login, on: slot)
          }
          broker.handle(.codeRefused(guess: number, error), onLogin: login.id)
        }
      }
    }
  }

  /// Has the provider send another code, off the loop.
  func resend(_ login: PendingLogin, on slot: ProfileSlot) {
    do throws(BrokerError) {
      try admit(.message, login.account, on: slot)
    } catch {
      let refusal = ProviderFailure.refused(.resendTooSoon, retryAfter: error.retryAfter)
      return handle(.resendFailed(refusal), onLogin: login.id)
    }
    let (provider, name, slotID) = (slot.provider, slot.name, slot.id)
    inBackground {
      do throws(ProviderFailure) {
        let challenge = try await provider.require(\.codeResending).resendOTP(flow: login.flow)
        return { broker in
          broker.noteCall(nil, of: name, id: slotID)
          broker.handle(.resent(challenge), onLogin: login.id)
        }
      } catch {
        return { broker in
          broker.noteCall(error, of: name, id: slotID)
          broker.handle(.resendFailed(error), onLogin: login.id)
        }
      }
    }
  }
}
