package import BrokerProtocol
import SecretMemory

/// How codes are answered, and sent again.
extension Broker {
  /// Answers a challenge with its code.
  package func verifyOTP(_ params: VerifyOTP.Params, _ reply: @escaping Reply<LoginResult>) {
    let reply = unlessLocked(reply)
    do throws(BrokerError) {
      try requireUnlocked()
      _ = try slot(ofLogin: params.otpFlowID)
      let caller = nameCodeCaller(.guess(reply))
      handle(.codeGiven(CodeGuess(caller, params.code)), onLogin: params.otpFlowID)
    } catch {
      reply(.failure(error))
    }
  }

  /// Answers a challenge with a backup code.
  package func verifyBackupCode(
    _ params: VerifyBackupCode.Params, _ reply: @escaping Reply<VerifyBackupCode.Result>
  ) {
    let reply = unlessLocked(reply)
    do throws(BrokerError) {
      try requireUnlocked()
      let name = try slot(ofLogin: params.otpFlowID).name
      _ = try slot(for: name, able: .verifyBackupCode)
      let counted: Reply<LoginResult> = { [weak self] result in
        let remaining = self?.assumeIsolated { $0.slot(named: name)?.backupCodesRemaining }
        reply(result.map { VerifyBackupCode.Result(login: $0, backupCodesRemaining: remaining ?? nil) })
      }
      let caller = nameCodeCaller(.guess(counted))
      handle(.codeGiven(CodeGuess(caller, params.backupCode, isBackupCode: true)), onLogin: params.otpFlowID)
    } catch {
      reply(.failure(error))
    }
  }

  /// Sends another code.
  package func resendOTP(_ params: ResendOTP.Params, _ reply: @escaping Reply<OTPChallenge>) {
    let reply = unlessLocked(reply)
    do throws(BrokerError) {
      try requireUnlocked()
      let slot = try slot(ofLogin: params.otpFlowID)
      guard slot.provider.abilities.contains(.resendOtp) else {
        throw BrokerError(.unsupportedByProvider, profile: slot.name)
      }
      handle(.resendWanted(caller: nameCodeCaller(.resend(reply))), onLogin: params.otpFlowID)
    } catch {
      reply(.failure(error))
    }
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

  private func nameCodeCaller(_ caller: CodeCaller) -> UInt64 {
    codeCallerCount += 1
    codeCallers[codeCallerCount] = caller
    return codeCallerCount
  }

  /// Tells callers why not.
  func refuse(_ callers: [UInt64], _ error: BrokerError) {
    for caller in callers {
      switch codeCallers.removeValue(forKey: caller) {
      case .guess(let reply): reply(.failure(error))
      case .resend(let reply): reply(.failure(error))
      case nil: break
      }
    }
  }

  /// Takes the replies of callers whose code was right.
  func takeGuessReplies(_ callers: [UInt64]) -> [Reply<LoginResult>] {
    callers.compactMap { caller in
      guard case .guess(let reply)? = codeCallers.removeValue(forKey: caller) else { return nil }
      return reply
    }
  }

  /// Answers whoever wanted another code.
  func answerResend(_ caller: UInt64, _ login: PendingLogin) {
    guard case .resend(let reply)? = codeCallers.removeValue(forKey: caller), let challenge = login.step.challenge
    else { return }
    reply(.success(challenge))
  }

  /// Asks the provider about a code, off the loop.
  func check(_ guess: CodeGuess, _ login: PendingLogin, on slot: ProfileSlot) {
    let (provider, name, slotID, number) = (slot.provider, slot.name, slot.id, guess.number)
    let sentAt = now
    inBackground {
      do throws(ProviderFailure) {
        let session =
          guess.isBackupCode
          ? try await provider.verifyBackupCode(flow: login.flow, code: guess.code)
          : try await provider.verifyOTP(flow: login.flow, code: guess.code)
        let identified = await Broker.identified(session, login.expectedUser, provider)
        return { broker in
          broker.noteCall(nil, of: name, id: slotID)
          broker.take(
            (identified, sentAt), from: provider, .codeAccepted(guess: number),
            otherwise: .codeRefused(guess: number, .refused(.accessDenied)), login.id, name, slotID)
        }
      } catch {
        return { broker in
          broker.noteCall(error, of: name, id: slotID)
          broker.handle(.codeRefused(guess: number, error), onLogin: login.id)
        }
      }
    }
  }

  /// Has the provider send another code, off the loop.
  func resend(_ login: PendingLogin, on slot: ProfileSlot) {
    let (provider, name, slotID) = (slot.provider, slot.name, slot.id)
    inBackground {
      do throws(ProviderFailure) {
        let challenge = try await provider.resendOTP(flow: login.flow)
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
