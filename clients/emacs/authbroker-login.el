;;; authbroker-login.el --- Logging in with AuthBroker  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The dialogue of a login, for people (M-x authbroker-login) and for programs
;; that ask in their own way (`authbroker-prompter').

;;; Code:

(require 'authbroker)

(defcustom authbroker-browse-url nil
  "Whether a login in a browser opens its address with `browse-url'."
  :type 'boolean
  :group 'authbroker)

(defvar authbroker-prompter
  (list :account #'authbroker--ask-account :password #'authbroker--ask-password :code #'authbroker--ask-code
        :show #'authbroker--show-action :tell #'authbroker--tell)
  "What asks the user what a login needs, as a plist of functions.
:account gets \"email\" or \"phoneNumber\" and returns what names the account.
:password gets nothing.  :code gets the challenge and returns the code, a backup
code where :backupCodesAllowed, or \"r\" for another code.  :show gets the user
action.  :tell gets a sentence.")

(defun authbroker--ask-account (field)
  "Ask for the account by FIELD."
  (read-string (if (equal field "phoneNumber") "Your phone number: " "Your e-mail address: ")))

(defun authbroker--ask-password ()
  "Ask for the password, without echo."
  (read-passwd "Password: "))

(defun authbroker--ask-code (challenge)
  "Ask for the code of CHALLENGE, without echo."
  (read-passwd (format "%s%s%s: "
                       (if (equal (plist-get challenge :method) "totp") ""
                         (format "Sent a code to %s.  "
                                 (authbroker--plain (plist-get challenge :maskedDestination))))
                       (if (eq (plist-get challenge :backupCodesAllowed) t) "Code or backup code" "Code")
                       (if (equal (plist-get challenge :method) "totp") "" " (r sends another)"))))

(defun authbroker--show-action (action)
  "Show what ACTION asks the user to do elsewhere."
  (let ((address (plist-get action :verificationUri)) (code (plist-get action :userCode)))
    (authbroker--tell (concat "open " address (and code (concat " and enter the code " code))))
    (when (and authbroker-browse-url (equal (plist-get action :kind) "browser"))
      (browse-url address))))

(defun authbroker--tell (sentence)
  "Show SENTENCE, without characters that a terminal would obey."
  (message "%s" (authbroker--plain sentence)))

(defun authbroker--ask (prompter what &rest arguments)
  "Call the function of PROMPTER for WHAT with ARGUMENTS."
  (apply (or (plist-get prompter what) (plist-get authbroker-prompter what)) arguments))

(cl-defun authbroker-begin-login (&key profile method email phone-number password refresh-token scopes client-context)
  "Begin a login; return the result, which may be a challenge or an action.
PROFILE, METHOD, EMAIL, PHONE-NUMBER, PASSWORD, REFRESH-TOKEN, SCOPES and
CLIENT-CONTEXT are the parameters of the broker's method."
  (authbroker-call "login" (authbroker--params :profile (authbroker--profile profile) :method method :email email
                                               :phoneNumber phone-number :password password
                                               :refreshToken refresh-token :scopes scopes
                                               :clientContext client-context)))

(defun authbroker-verify-otp (flow code)
  "Answer the challenge FLOW with its one-time CODE; return the result."
  (authbroker-call "verifyOtp" (list :otpFlowId flow :code code)))

(defun authbroker-verify-backup-code (flow code)
  "Answer the challenge FLOW with the backup CODE; return the result."
  (authbroker-call "verifyBackupCode" (list :otpFlowId flow :backupCode code)))

(defun authbroker-resend-otp (flow)
  "Have another code sent for the challenge FLOW; return the new challenge."
  (authbroker-call "resendOtp" (list :otpFlowId flow)))

(defun authbroker-session (&optional profile)
  "Return where PROFILE stands, nil for the current one."
  (authbroker-call "getSession" (authbroker--params :profile (authbroker--profile profile))))

;;;###autoload
(cl-defun authbroker-login (&rest credentials &key profile method email phone-number password prompter
                                  &allow-other-keys)
  "Log in, asking for what is missing; return the session.
CREDENTIALS are those of `authbroker-begin-login': PROFILE, METHOD, EMAIL,
PHONE-NUMBER, PASSWORD.  PROMPTER: as `authbroker-prompter', which it wins over.
\\[keyboard-quit] cancels the login, at the broker too."
  (interactive)
  (let* ((missing (unless (or password (plist-get credentials :refresh-token)
                              (and method (not (equal method "password"))))
                    (authbroker--missing profile method (or email phone-number) prompter)))
         (given (cl-loop for (name value) on credentials by #'cddr
                         unless (eq name :prompter) append (list name value)))
         (result (unwind-protect (apply #'authbroker-begin-login (append missing given))
                   (when-let ((asked (plist-get missing :password))) (clear-string asked)))))
    (while (not (equal (plist-get result :status) "authenticated"))
      (setq result (authbroker--go-on result prompter)))
    (when (called-interactively-p 'any)
      (authbroker--tell (format "logged in to %s" (plist-get (plist-get result :session) :profile))))
    (plist-get result :session)))

(defun authbroker--missing (profile method account prompter)
  "Ask PROMPTER for what a login to PROFILE by METHOD needs beside ACCOUNT.
Return it as a plist; a way to log in that needs nothing is preferred.  Where
there is no way at all, the broker says what to do instead."
  (let* ((login (plist-get (authbroker-session profile) :login))
         (forms (append login nil))
         (free (cl-find-if (lambda (form) (zerop (length (plist-get form :fields)))) forms))
         (password (cl-find "password" forms :test #'equal :key (lambda (form) (plist-get form :method)))))
    (if (and (or free (equal login [])) (not method) (not account))
        (and free (list :method (plist-get free :method)))
      (let ((field (if (member "phoneNumber" (append (plist-get password :fields) nil)) "phoneNumber" "email")))
        (append (unless account
                  (list (if (equal field "email") :email :phone-number) (authbroker--ask prompter :account field)))
                (list :password (authbroker--ask prompter :password)))))))

(defun authbroker--go-on (result prompter)
  "Do the next step of a login that came to RESULT, asking PROMPTER.
Return the next result.  Any other way out of it cancels the login."
  (let ((challenge (plist-get result :challenge)) (action (plist-get result :action)) (done nil))
    (unless (or challenge action)
      (authbroker--raise
       (authbroker--refusal '( :code 1029 :message "the e-mail address must be verified first"
                               :data (:kind "emailUnverified" :nextAction "contactProvider")))))
    (unwind-protect
        (prog1 (if challenge (authbroker--answer challenge prompter)
                 (authbroker--ask prompter :show action)
                 (authbroker--await (plist-get action :loginFlowId)))
          (setq done t))
      (unless done
        (ignore-errors
          (authbroker-call "cancelLogin" (if challenge (list :otpFlowId (plist-get challenge :otpFlowId))
                                           (list :loginFlowId (plist-get action :loginFlowId)))
                           :timeout 5))))))

(defun authbroker--await (flow)
  "Wait until the user has done what the login FLOW asks; return the result."
  (let (result)
    (while (not result)
      (condition-case problem
          (setq result (authbroker-call "awaitLogin" (list :loginFlowId flow :timeoutSeconds 20) :timeout 30))
        (authbroker-error
         (unless (and (equal (authbroker-error-kind problem) "deadlineExceeded")
                      (not (authbroker-error-property problem :unanswered)))
           (authbroker--raise problem)))))
    result))

(defun authbroker--answer (challenge prompter)
  "Ask PROMPTER for the code of CHALLENGE until one is right; return the result."
  (let (result)
    (while (not result)
      (let* ((flow (plist-get challenge :otpFlowId))
             (typed (string-trim (authbroker--ask prompter :code challenge))))
        (condition-case problem
            (cond ((member typed '("r" "resend")) (setq challenge (authbroker-resend-otp flow)))
                  ((string-empty-p typed) (signal 'quit nil))
                  ((and (eq (plist-get challenge :backupCodesAllowed) t)
                        (authbroker--backup-code-p typed (plist-get challenge :otpLength)))
                   (setq result (authbroker-verify-backup-code flow typed)))
                  (t (setq result (authbroker-verify-otp flow typed))))
          (authbroker-error
           (unless (or (member (authbroker-error-kind problem) '("otpInvalid" "backupCodeInvalid"))
                       ;; Another code cannot be sent now; the last one stays good.
                       (and (member typed '("r" "resend"))
                            (or (equal (authbroker-error-kind problem) "unsupportedByProvider")
                                (and (authbroker-error-property problem :retryable)
                                     (authbroker-error-property problem :code)))))
             (authbroker--raise problem))
           (authbroker--ask prompter :tell (authbroker-error-message problem))))
        (clear-string typed)))
    (when-let ((left (plist-get result :backupCodesRemaining)))
      (authbroker--ask prompter :tell (format "backup codes left: %d" left)))
    result))

(defun authbroker--backup-code-p (typed length)
  "Whether TYPED is a backup code beside one-time codes of LENGTH digits."
  (or (string-match-p "[[:alpha:]]" typed)
      (>= (cl-count-if (lambda (character) (<= ?0 character ?9)) typed) (+ length 2))))

;;;###autoload
(cl-defun authbroker-logout (&key profile everywhere all)
  "Sign out of PROFILE; return a list of plists (:profile :serverRevoked).
EVERYWHERE: also end the account's other sessions at the provider.  ALL: every
profile."
  (interactive)
  (prog1 (append (plist-get (authbroker-call "logout" (authbroker--params :profile (if all profile (authbroker--profile profile))
                                                                          :everywhere everywhere :all all))
                            :results)
                 nil)
    (when (called-interactively-p 'any) (authbroker--tell "signed out"))))

(provide 'authbroker-login)
;;; authbroker-login.el ends here
