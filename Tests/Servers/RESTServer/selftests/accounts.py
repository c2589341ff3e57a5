"""Logins with a second factor, backup codes, and everything around an account."""

from .journey import EMAIL, PASSWORD, PHONE, SMS_EMAIL, Journey


class SecondFactor(Journey):
    """The code by SMS."""

    def verify(self, challenge, code):
        return self.client.post("/auth/otp/verify", {"otpFlowId": challenge["otpFlowId"], "code": code})

    def test_the_challenge_masks_the_number(self):
        challenge, code = self.challenge()
        self.assertEqual(challenge["maskedPhone"], "*****0100")
        self.assertEqual(
            (challenge["method"], challenge["otpLength"], len(code), challenge["attemptsRemaining"]), ("sms", 6, 6, 5)
        )
        self.assertNotIn(PHONE, str(challenge))
        self.assertNotIn("tokens", challenge)

    def test_the_minimal_challenge_is_the_seeds(self):
        self.set(challengeDetail="minimal")
        self.assertEqual(set(self.challenge()[0]), {"requires2FA", "otpFlowId", "maskedPhone"})

    def test_the_code_logs_in_once(self):
        challenge, code = self.challenge()
        self.tokens(self.verify(challenge, code))
        self.refused(self.verify(challenge, code), 404, "flow_not_found")

    def test_wrong_codes_cost_attempts_and_end_the_flow(self):
        self.set(otpMaxAttempts=2)
        challenge, code = self.challenge()
        wrong = "000000" if code != "000000" else "111111"
        self.assertEqual(self.refused(self.verify(challenge, wrong), 401, "otp_invalid")["attemptsRemaining"], 1)
        self.refused(self.verify(challenge, wrong), 429, "too_many_attempts")
        self.refused(self.verify(challenge, code), 429, "too_many_attempts")

    def test_a_code_expires(self):
        challenge, code = self.challenge()
        self.server.control("POST", "/clock", {"advanceSeconds": 301})
        self.refused(self.verify(challenge, code), 410, "otp_expired")

    def test_a_new_login_replaces_the_flow(self):
        first, _ = self.challenge()
        second, code = self.challenge()
        self.refused(self.verify(first, code), 404, "flow_not_found")
        self.tokens(self.verify(second, code))

    def test_another_message_comes_not_before_its_time(self):
        challenge, code = self.challenge()
        flow = {"otpFlowId": challenge["otpFlowId"]}
        early = self.client.post("/auth/otp/resend", flow)
        self.assertIn("nextAllowedAt", self.refused(early, 429, "resend_too_soon"))
        self.assertIn(early.headers("Retry-After"), (["30"], ["31"]))
        self.server.control("POST", "/clock", {"advanceSeconds": 31})
        seen = self.client.post("/auth/otp/resend", flow)
        self.assertEqual((seen.status, set(seen.json), seen.json["success"]), (200, {"success", "nextAllowedAt"}, True))
        self.assertEqual(len(self.server.control("GET", "/codes?email=" + SMS_EMAIL)["codes"]), 2)
        self.tokens(self.verify(challenge, self.code()))

    def test_a_backup_code_works_once(self):
        challenge, _ = self.challenge()
        seen = self.client.post(
            "/auth/backup-codes/verify", {"otpFlowId": challenge["otpFlowId"], "backupCode": "code-one"}
        )
        self.tokens(seen)
        self.assertEqual(seen.json["backupCodesRemaining"], 1)
        challenge, _ = self.challenge()
        seen = self.client.post(
            "/auth/backup-codes/verify", {"otpFlowId": challenge["otpFlowId"], "backupCode": "code-one"}
        )
        self.assertEqual(self.refused(seen, 401, "backup_code_invalid")["attemptsRemaining"], 4)

    def test_without_a_flow_the_backup_code_finds_its_account_if_that_is_allowed(self):
        self.assertEqual(self.client.post("/auth/backup-codes/verify", {"backupCode": "code-one"}).status, 400)
        self.set(backupCodesNeedFlow=False)
        self.tokens(self.client.post("/auth/backup-codes/verify", {"backupCode": "code-one"}))
        self.refused(
            self.client.post("/auth/backup-codes/verify", {"backupCode": "code-one"}), 401, "backup_code_invalid"
        )


class Accounts(Journey):
    """The endpoints around an account, and the end of a session."""

    def session(self):
        access, refresh = self.tokens(self.login())
        return self.bearer(access), refresh

    def mail(self, kind, email=EMAIL):
        return self.server.control("GET", f"/mails?email={email}&kind={kind}")["token"]

    def test_wrong_credentials(self):
        self.refused(self.login(password="wrong"), 401, "invalid_credentials")
        self.refused(self.login(email="nobody@example.com"), 401, "invalid_credentials")

    def test_accounts_lock_after_failures(self):
        self.set(lockAfterFailures=2)
        for _ in range(2):
            self.refused(self.login(password="wrong"), 401, "invalid_credentials")
        self.refused(self.login(), 423, "account_locked")

    def test_an_account_can_want_a_captcha(self):
        self.server.control("POST", "/accounts", {"email": EMAIL, "password": PASSWORD, "captcha": True})
        self.refused(self.login(), 403, "captcha_required")

    def test_registering_logs_in(self):
        seen = self.client.post(
            "/auth/register", {"email": "new@example.com", "password": "long-enough", "name": "New"}
        )
        self.assertEqual((seen.status, seen.json["user"]["name"]), (201, "New"))
        self.refused(
            self.client.post("/auth/register", {"email": "NEW@example.com", "password": "long-enough"}),
            409,
            "email_taken",
        )
        fields = self.refused(
            self.client.post("/auth/register", {"email": "b@example.com", "password": "short"}),
            422,
            "validation_failed",
        )
        self.assertEqual(list(fields["fields"]), ["password"])

    def test_registering_a_telephone_number_may_turn_the_second_factor_on(self):
        account = {"email": "new@example.com", "password": "long-enough", "phoneNumber": PHONE}
        self.assertNotIn("requires2FA", self.client.post("/auth/register", account).json)
        self.set(phoneTurnsTwoFactorOn=True)
        seen = self.client.post("/auth/register", {**account, "email": "other@example.com"})
        self.assertTrue(seen.json["requires2FA"])

    def test_registering_may_want_the_address_verified(self):
        self.set(registerNeedsVerification=True)
        seen = self.client.post("/auth/register", {"email": "new@example.com", "password": "long-enough"})
        self.assertEqual(
            (seen.status, seen.json["emailVerificationRequired"], "tokens" in seen.json), (201, True, False)
        )
        self.refused(self.login("new@example.com", "long-enough"), 403, "email_unverified")
        token = {"token": self.mail("verify", "new@example.com")}
        self.assertTrue(self.client.post("/auth/verify-email", token).json["success"])
        self.refused(self.client.post("/auth/verify-email", token), 400, "invalid_mail_token")
        self.tokens(self.login("new@example.com", "long-enough"))

    def test_a_forgotten_password_is_reset_by_mail(self):
        _, refresh = self.session()
        nobody = self.client.post("/auth/forgot-password", {"email": "nobody@example.com"})
        somebody = self.client.post("/auth/forgot-password", {"email": EMAIL})
        self.assertEqual((nobody.status, nobody.body), (somebody.status, somebody.body))
        seen = self.client.post("/auth/reset-password", {"token": self.mail("reset"), "password": "another-password"})
        self.assertTrue(seen.json["success"])
        self.assertEqual(self.refresh(refresh).status, 401)
        self.tokens(self.login(password="another-password"))

    def test_the_profile_is_read_and_changed(self):
        bearer, _ = self.session()
        self.assertEqual(self.client.send("GET", "/auth/me", headers=bearer).json["name"], "Plain Person")
        seen = self.client.send(
            "PATCH", "/auth/profile", {"name": "Renamed", "phoneNumber": "+15550199"}, headers=bearer
        )
        self.assertEqual((seen.json["name"], seen.json["phoneNumber"]), ("Renamed", "+15550199"))
        self.assertEqual(self.client.send("PATCH", "/auth/profile", {"name": 5}, headers=bearer).status, 422)

    def test_changing_the_password_ends_other_sessions(self):
        _, other = self.session()
        bearer, refresh = self.session()
        change = {"oldPassword": PASSWORD, "newPassword": "another-password"}
        self.refused(
            self.client.send("POST", "/auth/change-password", {**change, "oldPassword": "no"}, headers=bearer),
            403,
            "invalid_credentials",
        )
        self.assertTrue(self.client.send("POST", "/auth/change-password", change, headers=bearer).json["success"])
        self.assertEqual((self.refresh(other).status, self.refresh(refresh).status), (401, 200))

    def test_changing_the_password_can_give_new_tokens(self):
        self.set(changePasswordReply="tokens")
        bearer, refresh = self.session()
        seen = self.client.send(
            "POST",
            "/auth/change-password",
            {"oldPassword": PASSWORD, "newPassword": "another-password"},
            headers=bearer,
        )
        _, renewed = self.tokens(seen)
        self.assertEqual((self.refresh(refresh).status, self.refresh(renewed).status), (401, 200))

    def test_deleting_needs_the_password(self):
        bearer, refresh = self.session()
        self.assertEqual(self.client.send("DELETE", "/auth/account", {"password": "no"}, headers=bearer).status, 403)
        self.assertTrue(
            self.client.send("DELETE", "/auth/account", {"password": PASSWORD}, headers=bearer).json["success"]
        )
        self.assertEqual((self.refresh(refresh).status, self.login().status), (401, 401))

    def test_new_backup_codes(self):
        bearer, _ = self.session()
        codes = self.client.send("POST", "/auth/backup-codes", {"password": PASSWORD}, headers=bearer).json[
            "backupCodes"
        ]
        self.assertEqual((len(codes), len(set(codes))), (10, 10))

    def test_new_backup_codes_of_the_control_interface_replace_the_former(self):
        codes = self.server.control("POST", "/backup-codes", {"email": SMS_EMAIL})["backupCodes"]
        former = self.client.post(
            "/auth/backup-codes/verify", {"otpFlowId": self.challenge()[0]["otpFlowId"], "backupCode": "code-one"}
        )
        self.refused(former, 401, "backup_code_invalid")
        seen = self.client.post(
            "/auth/backup-codes/verify", {"otpFlowId": self.challenge()[0]["otpFlowId"], "backupCode": codes[0]}
        )
        self.tokens(seen)
        self.assertEqual(seen.json["backupCodesRemaining"], len(codes) - 1)

    def test_logout_by_body_by_bearer_and_everywhere(self):
        _, refresh = self.session()
        self.assertEqual(self.client.post("/auth/logout", {"refreshToken": refresh}).json, {"success": True})
        self.assertEqual(self.refresh(refresh).status, 401)
        bearer, refresh = self.session()
        self.assertEqual(self.client.send("POST", "/auth/logout", headers=bearer).status, 200)
        self.assertEqual(self.refresh(refresh).status, 401)
        _, other = self.session()
        _, refresh = self.session()
        self.client.post("/auth/logout", {"refreshToken": refresh, "everywhere": True})
        self.assertEqual(self.refresh(other).status, 401)
        self.assertEqual(
            [(entry["by"], entry["outcome"]) for entry in self.server.ledger("logout")],
            [("body", "revoked"), ("bearer", "revoked"), ("body", "revoked")],
        )

    def test_bearer_endpoints_want_a_bearer(self):
        for method, path in (
            ("GET", "/auth/me"),
            ("PATCH", "/auth/profile"),
            ("DELETE", "/auth/account"),
            ("POST", "/auth/change-password"),
            ("POST", "/auth/logout"),
        ):
            with self.subTest(path):
                self.assertEqual(self.client.send(method, path).status, 401)

    def test_unknown_paths_and_methods(self):
        self.refused(self.client.send("GET", "/auth/nothing"), 404, "not_found")
        self.refused(self.client.send("GET", "/auth/login"), 405, "method_not_allowed")
