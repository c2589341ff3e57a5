;;; tests.el --- Tests of the Emacs package  -*- lexical-binding: t -*-

;;; Commentary:

;; Run by `test': each test has a home and a broker of its own.  The programs
;; are those of the PATH; $CLIENT is the folder of the package, $FAKE_BROKER the
;; program of that name.  One file, long as it is: all tests stand on the
;; helpers at its beginning.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'authbroker)
(require 'authbroker-login)
(require 'authbroker-events)

(defconst tests-password "made-up password 1" "The password of the accounts of these tests.")
(defconst tests-patience 60 "How many seconds a test waits for what must come.")
(defconst tests-slow-codes
  "{profiles: {default: {provider: \"local\"}}, local: {otp: {lifetimeSeconds: 3600, resendCooldownSeconds: 0}}}"
  "A configuration whose codes live for long and whose next code comes at once.")

(defun tests-await (condition)
  "Wait until CONDITION, a function, returns non-nil; return that."
  (let ((deadline (+ (float-time) tests-patience)) value)
    (while (not (setq value (funcall condition)))
      (when (> (float-time) deadline) (ert-fail "What is waited for does not come"))
      (accept-process-output nil 0.02))
    value))

(defun tests-run (&rest command)
  "Run COMMAND; fail unless it ends with 0."
  (with-temp-buffer
    (unless (eql 0 (apply #'call-process (car command) nil t nil (cdr command)))
      (ert-fail (list command (buffer-string))))
    (buffer-string)))

(defvar home nil "The home of the test that runs.")

(defmacro tests-in-sandbox (config &rest body)
  "Run BODY in a home of its own, with CONFIG unless nil; nothing stays behind."
  (declare (indent 1))
  `(let* ((home (make-temp-file "abel" t)) (authbroker-timeout 30)
          (process-environment (copy-sequence process-environment)))
     (dolist (name '("AUTHBROKER_SOCKET" "AUTHBROKER_CONFIG" "XDG_RUNTIME_DIR" "XDG_STATE_HOME")) (setenv name nil))
     (setenv "HOME" home)
     (setenv "AUTHBROKER_STATE" (concat home "/state"))
     (when ,config
       (setenv "AUTHBROKER_CONFIG" (concat home "/config.json"))
       (with-file-modes #o600 (write-region ,config nil (getenv "AUTHBROKER_CONFIG") nil 'silent)))
     (unwind-protect (progn ,@body)
       (authbroker-disconnect)
       (setenv "AUTHBROKER_SOCKET" nil)
       (tests-run "authbroker" "stop")
       (delete-directory home t))))

(defun tests-register (&rest more)
  "Register an account, with MORE parameters."
  (authbroker-call "register" (append (list :email "ada@example.com" :password tests-password) more)))

(defun tests-kill ()
  "Kill the broker."
  (let ((pid (plist-get (authbroker-call "getStatus") :pid)))
    (signal-process pid 'KILL)
    (tests-await (lambda () (not (file-directory-p (format "/proc/%d" pid)))))))

(defun tests-code ()
  "Return the code of the newest message of the embedded provider."
  (let ((file (car (last (directory-files (concat (getenv "AUTHBROKER_STATE") "/local-provider/outbox") t "json\\'")))))
    (with-temp-buffer
      (insert-file-contents file)
      (plist-get (json-parse-buffer :object-type 'plist) :code))))

(defmacro tests-kind (kind &rest body)
  "Fail unless BODY signals an error of KIND; return the error."
  (declare (indent 1))
  `(let ((problem (should-error (progn ,@body) :type 'authbroker-error)))
     (should (equal (authbroker-error-kind problem) ,kind))
     (should (stringp (authbroker-error-message problem)))
     problem))

(defun tests-nowhere (secret)
  "Fail if SECRET is in any buffer."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (save-restriction
        (widen)
        (save-excursion
          (goto-char (point-min))
          (when (search-forward secret nil t) (ert-fail (list "A secret is in the buffer" (buffer-name buffer)))))))))

(ert-deftest tests-token ()
  "A token is handed out, and neither printed nor kept in a buffer."
  (tests-in-sandbox nil
    (tests-kind "loginRequired" (authbroker-access-token))
    (tests-register)
    (let* ((token (authbroker-access-token :min-validity 1)) (text (authbroker-token-reveal token)))
      (should (> (length text) 20))
      (should (equal (authbroker-token-authorization-header token) (concat "Bearer " text)))
      (should (string-match-p "\\`20.*Z\\'" (authbroker-token-expires-at token)))
      (should (equal (authbroker-token-profile token) "default"))
      (should-not (string-match-p (regexp-quote text) (format "%s %S" token token)))
      (let ((fresh (authbroker-access-token :force-refresh t)))
        (should-not (equal (authbroker-token-id fresh) (authbroker-token-id token))))
      (tests-nowhere text)
      (tests-nowhere tests-password))))

(ert-deftest tests-current-profile ()
  "The profile of the variable, else of the file, is meant where none is named."
  (tests-in-sandbox nil
    (make-directory (expand-file-name "chosen/authbroker" home) t)
    (with-temp-file (expand-file-name "chosen/authbroker/profile" home) (insert "of-the-file\n"))
    (let ((process-environment (cons (concat "XDG_CONFIG_HOME=" (expand-file-name "chosen" home))
                                     process-environment)))
      (dolist (variable '("" "of-the-variable"))
        (setenv "AUTHBROKER_PROFILE" variable)
        (should (equal (authbroker--profile nil) (if (string-empty-p variable) "of-the-file" variable)))
        (tests-kind "unknownProfile" (authbroker-access-token))
        (tests-kind "unknownProfile" (authbroker-session))
        (tests-kind "unknownProfile" (authbroker-logout))
        (should (authbroker-session "default"))))))

(ert-deftest tests-healing ()
  "A rejected token is reported once, and the function called once more."
  (tests-in-sandbox nil
    (tests-register)
    (let (seen)
      (cl-flet ((use (rejections)
                  (setq seen nil)
                  (lambda (token)
                    (push (authbroker-token-id token) seen)
                    (if (<= (length seen) rejections) (signal 'authbroker-unauthorized nil) 'done))))
        (should (eq (authbroker-with-access-token (use 1)) 'done))
        (should (= (length (delete-dups seen)) 2))
        (should-error (authbroker-with-access-token (use 2)) :type 'authbroker-unauthorized)
        (should (= (length seen) 2))
        (should (eq (authbroker-with-access-token (use 0) :profile "default") 'done))
        (should (= (length seen) 1))))))

(ert-deftest tests-parallel ()
  "A hundred calls run at the same time."
  (tests-in-sandbox nil
    (tests-register)
    (let ((answers 0) problems)
      ;; The broker takes 64 requests of a connection at a time.
      (dotimes (_ 2)
        (let ((before answers))
          (dotimes (_ 50)
            (authbroker-call-async "getAccessToken" nil (lambda (_result) (cl-incf answers))
                                   (lambda (problem) (push problem problems))))
          (tests-await (lambda () (or problems (= answers (+ before 50)))))))
      (should-not problems)
      (should (= answers 100)))))

(ert-deftest tests-broker-follows ()
  "A call finds the broker that follows one that was killed, or stopped."
  (tests-in-sandbox nil
    (tests-register)
    (let ((before (authbroker-token-id (authbroker-access-token))))
      (tests-kill)
      (should (equal before (authbroker-token-id (authbroker-access-token))))
      (tests-run "authbroker" "stop")
      (should (equal before (authbroker-token-id (authbroker-access-token)))))))

(ert-deftest tests-events-resume ()
  "Events go on behind a broker that was killed; none is missing and none comes twice."
  (tests-in-sandbox nil
    (tests-register)
    (let* (events ids (subscription (authbroker-subscribe (lambda (event) (push event events))
                                                          :events '("tokenRefreshed"))))
      (unwind-protect
          (cl-flet ((refresh () (push (authbroker-token-id (authbroker-access-token :force-refresh t)) ids)))
            (should (equal (plist-get (aref (plist-get (authbroker-subscription-snapshot subscription) :sessions) 0)
                                      :state)
                           "authenticated"))
            (refresh)
            (tests-await (lambda () (= (length events) 1)))
            (tests-kill)
            (refresh)
            (refresh)
            (tests-await (lambda () (>= (length events) 3)))
            (should (equal ids (mapcar (lambda (event) (plist-get (plist-get event :data) :tokenId)) events)))
            (should (apply #'> (mapcar (lambda (event) (plist-get event :sequence)) events))))
        (authbroker-unsubscribe subscription))
      (tests-await (lambda () (eql 0 (plist-get (authbroker-call "getStatus") :subscriptions)))))))

(ert-deftest tests-events-stopped ()
  "A broker that was stopped is waited for and not started; what is no longer kept is told."
  (tests-in-sandbox nil
    (tests-register)
    (let* (events (subscription (authbroker-subscribe (lambda (event) (push event events))
                                                      :events '("tokenRefreshed"))))
      (unwind-protect
          (progn
            (tests-run "authbroker" "stop")
            ;; Until it has looked for a broker, and found none, twice.
            (tests-await (lambda () (>= (authbroker-subscription-pause subscription) 0.4)))
            (should-not (eql 0 (call-process "authbroker" nil nil nil "sockpath" "--no-start")))
            (should-not events)
            ;; Sequences that the next broker does not know.
            (setf (authbroker-subscription-last subscription) (expt 2 40))
            (authbroker-access-token)
            (tests-await (lambda () events))
            (should (equal (plist-get (car events) :event) "resync"))
            (should (equal (plist-get (aref (plist-get (car events) :sessions) 0) :state) "authenticated"))
            (authbroker-access-token :force-refresh t)
            (tests-await (lambda () (cdr events)))
            (should (equal (plist-get (car events) :event) "tokenRefreshed")))
        (authbroker-unsubscribe subscription)))))

(ert-deftest tests-time-and-cancellation ()
  "The end of the time and a cancellation leave a connection that works."
  (tests-in-sandbox nil
    (authbroker-call "ping")
    (tests-kind "deadlineExceeded" (authbroker-call "getAccessToken" '(:waitForLogin t :timeoutSeconds 600) :timeout 0.2))
    (let* (problem (cancel (authbroker-call-async "getAccessToken" '(:waitForLogin t :timeoutSeconds 600) #'ignore
                                                  (lambda (failure) (setq problem failure)))))
      (funcall cancel)
      (tests-await (lambda () problem))
      (should (equal (authbroker-error-kind problem) "cancelled")))
    ;; C-g
    (let ((connection authbroker--current) quit)
      (run-with-timer 0.1 nil (lambda () (signal 'quit nil)))
      (condition-case nil
          (authbroker-call "getAccessToken" '(:waitForLogin t :timeoutSeconds 600) :timeout tests-patience)
        (quit (setq quit t)))
      (should quit)
      (authbroker-call "ping")
      (should (eq connection authbroker--current)))))

(ert-deftest tests-no-broker ()
  "Where there is no broker the error says why."
  (tests-in-sandbox nil
    (let ((authbroker-command '("/nonexistent/authbroker")))
      (tests-kind "noBroker" (authbroker-access-token)))
    (authbroker-disconnect)
    (setenv "AUTHBROKER_SOCKET" (concat home "/none"))
    (let ((problem (tests-kind "noBroker" (authbroker-access-token))))
      (should (string-match-p "no broker listens" (authbroker-error-message problem))))))

(ert-deftest tests-false-broker ()
  "What is no answer of a broker is an error without a secret."
  (dolist (reply '("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tokenId\":\"eyJ-made-up\"}}"
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"No.\"}}"
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}"))
    (tests-in-sandbox nil
      (let ((authbroker-command
             (list "sh" "-c"
                   (format "read -r _; printf 'Content-Length: %d\\r\\n\\r\\n%%s' '%s'; while read -r _; do :; done"
                           (length reply) reply))))
        (let ((problem (tests-kind "unexpectedAnswer" (authbroker-access-token))))
          (should-not (string-match-p "eyJ" (format "%S" problem))))))))

(defconst tests-methods '("getCurrentUser" "checkVault" "lock" "getAccessToken" "login" "logout")
  "Called one after the other; those that change something come last.")

(defun tests-lines (file)
  "Return the lines of FILE, none where there is no such file."
  (and (file-exists-p file)
       (with-temp-buffer (insert-file-contents file) (split-string (buffer-string) "\n" t))))

(defun tests-with-fake-broker (mode body &rest words)
  "Call BODY with the log of a fake broker (../fake-broker) in MODE.
WORDS are further arguments of it.  Return how often each of `tests-methods' was requested."
  (let* ((log (format "%s/log-%s" home mode)) (socket (format "%s/s-%s" home mode)) (said "")
         (fake (make-process :name "fake" :command (append (list (getenv "FAKE_BROKER") socket log mode) words)
                             :connection-type 'pipe
                             :noquery t :filter (lambda (_ text) (setq said (concat said text))))))
    (authbroker-disconnect)
    (setenv "AUTHBROKER_SOCKET" socket)
    (unwind-protect
        (progn
          (tests-await (lambda () (equal said "ready\n")))
          (funcall body log))
      (authbroker-disconnect)
      (setenv "AUTHBROKER_SOCKET" nil)
      (process-send-eof fake)
      (tests-await (lambda () (not (process-live-p fake)))))
    (mapcar (lambda (method) (cl-count method (tests-lines log) :test #'equal)) tests-methods)))

(ert-deftest tests-auth-source ()
  "Tokens as passwords of the servers that are targets."
  (require 'authbroker-auth-source)
  (dolist (case '((("a.example" "https" nil) . "https://a.example") (("a.example" nil nil) . "https://a.example")
                  (("a.example" 443 "ann") . "https://ann@a.example") (("a.example" "8443" nil) . "https://a.example:8443")
                  (("m.example" 587 "ann lee") . "smtp://ann%20lee@m.example") (("m.example" "imaps" nil) . "imaps://m.example")
                  (("m.example" "submission" nil) . "smtp://m.example") (("m.example" "nntp" nil) . nil)
                  (("https://a.example/x" 443 nil) . "https://a.example/x") ((t nil nil) . nil)
                  (("a.example" nil "a@b") . "https://a.example")))
    (should (equal (cons (car case) (apply #'authbroker--auth-source-address (car case))) case)))
  (tests-in-sandbox "{profiles: {default: {provider: \"local\"}}, targets: {\"https://a.example\": \"default\",
    \"smtp://m.example\": {profile: \"default\", username: \"ann\"}, \"https://bob@b.example\": \"default\"}}"
    (tests-register)
    (let* ((auth-sources nil) (auth-source-do-cache t)
           (auth-source-backend-parser-functions auth-source-backend-parser-functions) (said nil)
           (secret (lambda (entry) (funcall (plist-get entry :secret))))
           (search (lambda (&rest spec) (car (apply #'auth-source-search spec)))))
      (authbroker-auth-source-enable)
      (should (equal auth-sources '(authbroker)))
      (let ((entry (funcall search :host "a.example" :port "https" :require '(:secret)))
            (token (authbroker-token-reveal (authbroker-access-token))))
        (should (equal (funcall secret entry) token))
        (should-not (plist-get entry :user))
        ;; No cache keeps it.
        (authbroker-access-token :force-refresh t)
        (should-not (equal (funcall secret (funcall search :host "a.example" :port "https" :require '(:secret))) token))
        (should-not (string-match-p (regexp-quote token) (format "%s" entry))))
      (should (equal (plist-get (funcall search :host "m.example" :port 587) :user) "ann"))
      (should-not (funcall search :host "m.example" :port 587 :user "bob"))
      (should (funcall search :host "b.example" :user "bob"))
      (should-not (funcall search :host "b.example"))
      (should-not (funcall search :host "c.example" :port "https"))
      (should (equal (plist-get (funcall search :host '("c.example" "a.example") :port '("https" "imap")) :host) "a.example"))
      (authbroker-logout)
      (cl-letf (((symbol-function 'message) (lambda (form &rest rest) (push (apply #'format form rest) said))))
        (should-not (funcall search :host "a.example" :port 443)))
      (should (cl-some (lambda (line) (string-match-p "\\`authbroker: .*session" line)) said)))))

(defun tests-cases ()
  "Return the cases that all packages share."
  (with-temp-buffer
    (insert-file-contents (concat (getenv "CLIENT") "/../../Schemas/addresses.json"))
    (json-parse-buffer :object-type 'plist :null-object nil :false-object nil)))

(ert-deftest tests-coverage ()
  "Which prefix covers an address."
  (require 'authbroker-address)
  (seq-doseq (one (plist-get (tests-cases) :coverage))
    (should (equal (list one (authbroker--covers-p (plist-get one :prefix) (plist-get one :address)))
                   (list one (plist-get one :covers))))))

(ert-deftest tests-addresses ()
  "The token of an address."
  (tests-in-sandbox nil
    (seq-do-indexed
     (lambda (one index)
       (ignore-errors (delete-file (concat home "/log-question")))
       (tests-with-fake-broker
        "question"
        (lambda (log)
          (let ((wanted (plist-get one :error)) (url (plist-get one :url)))
            (if wanted (tests-kind wanted (authbroker-access-token :url url))
              (let* ((token (authbroker-access-token :url url)) (target (authbroker-token-target token)))
                (should (equal (list (authbroker-token-reveal token) (authbroker-token-profile token)
                                     (authbroker-token-authorization-header token))
                               (mapcar (lambda (name) (plist-get one name)) '(:token :profile :authorization))))
                (should (equal (authbroker-token-header-name token) (or (plist-get one :header) "Authorization")))
                (dolist (name '(:prefix :username :scheme))
                  (should (equal (plist-get target name) (plist-get (plist-get one :target) name)))))))
          (should (equal (tests-lines log)
                         (mapcar (lambda (exchange) (plist-get exchange :method)) (plist-get one :exchanges)))))
        (concat (getenv "CLIENT") "/../../Schemas/addresses.json") (number-to-string index)))
     (plist-get (tests-cases) :questions))
    (tests-kind "invalidRequest" (authbroker-access-token :url "https://a.example" :profile "work"))))

(ert-deftest tests-flood ()
  "Events without a subscription are not kept and do not outlast a time limit."
  (tests-in-sandbox nil
    (tests-with-fake-broker
     "flooding"
     (lambda (_log)
       (tests-kind "deadlineExceeded" (authbroker-call "getAccessToken" nil :timeout 1))
       (should (< (buffer-size (process-buffer (jsonrpc--process authbroker--current))) 1000000))
       (let ((authbroker-timeout 0.3) problem)
         (authbroker-call-async "getStatus" nil #'ignore (lambda (failure) (setq problem failure)))
         (tests-await (lambda () problem))
         (should (equal (authbroker-error-kind problem) "deadlineExceeded"))
         (tests-kind "deadlineExceeded" (authbroker-subscribe #'ignore)))))))

(defun tests-repetition (mode kind times)
  "Call every method once, at a fake broker in MODE.
Those that change something must fail with KIND, the others succeed after so
many TIMES."
  (should (equal (tests-with-fake-broker
                  mode (lambda (_log)
                         (dolist (method tests-methods)
                           (authbroker-call "ping")
                           (if (member method '("login" "logout")) (tests-kind kind (authbroker-call method))
                             (should (authbroker-call method))))))
                 (list times times times times 1 1))))

(ert-deftest tests-lost-requests ()
  "A request whose connection is lost is repeated once where it changes nothing."
  (tests-in-sandbox nil (tests-repetition "lost" "connectionLost" 2)))

(ert-deftest tests-plain ()
  "What the broker says is fit for a terminal."
  (should (equal (authbroker-error-message
                  (authbroker--refusal '(:message "a\u001bb\u009bc\u202ed\u200be\u2028f é")))
                 "a?b?c?d?e?f é")))

(ert-deftest tests-ending-broker ()
  "A broker that ends is followed by the next; a call under way is not lost."
  (tests-in-sandbox nil
    (tests-repetition "ending" "shuttingDown" 4)
    (delete-file (concat home "/log-ending"))
    (let (slow status)
      (tests-with-fake-broker
       "ending" (lambda (log)
                  (authbroker-call-async "slow" nil (lambda (result) (setq slow result)))
                  (tests-await (lambda () (tests-lines log)))
                  (authbroker-call-async "getStatus" nil (lambda (result) (setq status result)))
                  (tests-await (lambda () (and slow status)))))
      (should (equal (plist-get slow :tokenId) "id1")))
    (tests-with-fake-broker
     "ending" (lambda (_log) (authbroker-unsubscribe (authbroker-subscribe #'ignore))))
    (tests-with-fake-broker
     "staying"
     (lambda (log)
       (tests-kind "shuttingDown" (authbroker-call "getStatus" nil :timeout 1))
       (let (problem)
         (let ((cancel (authbroker-call-async "lock" nil #'ignore (lambda (failure) (setq problem failure)))))
           (tests-await (lambda () (< 1 (length (seq-filter (lambda (line) (equal line "lock")) (tests-lines log))))))
           (funcall cancel))
         (tests-await (lambda () problem))
         (should (equal (authbroker-error-kind problem) "cancelled")))))
    ;; Connections that were retired leave no process.
    (tests-await (lambda () (not (cl-find "authbroker-[0-9]" (mapcar #'process-name (process-list))
                                          :test #'string-match-p))))))

(ert-deftest tests-token-not-replaced ()
  "A token that is not replaced is not tried again; the challenge is reported."
  (tests-in-sandbox nil
    (let ((calls 0) reports)
      (tests-with-fake-broker
       "lasting" (lambda (log)
                   (should-error (authbroker-with-access-token
                                  (lambda (_token)
                                    (cl-incf calls)
                                    (signal 'authbroker-unauthorized '(:status 403 :challenge "Bearer scope=\"a\""))))
                                 :type 'authbroker-unauthorized)
                   (dolist (line '("reportRejected" "403 Bearer scope=\"a\""))
                     (push (cl-count line (tests-lines log) :test #'equal) reports))))
      (should (equal (cons calls reports) '(1 1 1))))))

(ert-deftest tests-what-a-login-must-ask-for ()
  "The error says it."
  (let ((error (authbroker--refusal '(:code 1005 :message "m" :data (:kind "reauthRequired" :scopes ("a") :acrValues ("b")
                                                                     :maxAge 5)))))
    (should (equal (mapcar (lambda (name) (authbroker-error-property error name)) '(:scopes :acr-values :max-age))
                   '(("a") ("b") 5)))))

(ert-deftest tests-locked ()
  "A locked vault says what to do; the proof for lock is given."
  (tests-in-sandbox nil
    (tests-register)
    (authbroker-call "lock")
    (should-not (directory-files (getenv "AUTHBROKER_STATE") nil "proof-"))
    (should (equal (authbroker-error-property (tests-kind "vaultLocked" (authbroker-access-token)) :next-action)
                   "unlock"))
    (authbroker-call "unlock")
    (should (authbroker-token-p (authbroker-access-token)))))

(ert-deftest tests-relay ()
  "The program of another that hands the real broker's questions on gets no proof."
  (tests-in-sandbox nil
    (tests-register)
    (let* ((state (getenv "AUTHBROKER_STATE")) (before (directory-files state)))
      (tests-with-fake-broker
       "relay"
       (lambda (_log)
         (dolist (method '("getAccessToken" "lock" "rekey" "listLocalUsers" "logout" "prove"))
           (let ((problem (tests-kind "accessDenied"
                                      (authbroker-call method (and (equal method "logout") '(:all t))))))
             (unless (member method '("getAccessToken" "prove"))
               (should (string-match-p "nothing was created" (authbroker-error-message problem)))))))
       (concat state "/run/broker.sock"))
      (should (equal (directory-files state) before)))
    (should (authbroker-token-p (authbroker-access-token)))))

(ert-deftest tests-provable ()
  "A proof is given for administrative methods and changes of the account alone."
  (should (authbroker--provable-p "accessDenied" "lock" nil))
  (should (authbroker--provable-p "accessDenied" "listLocalUsers" nil))
  (should (authbroker--provable-p "accessDenied" "logout" '(:all t)))
  (should (authbroker--provable-p "reauthRequired" "login" nil))
  (should-not (authbroker--provable-p "accessDenied" "logout" '(:all :json-false)))
  (should-not (authbroker--provable-p "accessDenied" "getAccessToken" nil))
  (should-not (authbroker--provable-p "reauthRequired" "getAccessToken" nil))
  (should-not (authbroker--provable-p "loginRequired" "lock" nil)))

(defun tests-with-phone ()
  "Register an account whose logins want a code, sign out, return its backup codes."
  (let* ((result (tests-register :phoneNumber "+15550100042")) codes)
    (authbroker-verify-otp (plist-get (plist-get result :challenge) :otpFlowId) (tests-code))
    (setq codes (plist-get (authbroker-call "generateBackupCodes" (list :password tests-password)) :backupCodes))
    (authbroker-logout)
    codes))

(ert-deftest tests-login ()
  "A login asks until the code is right; the minibuffer's functions are asked without echo."
  (tests-in-sandbox tests-slow-codes
    (let* ((backup (aref (tests-with-phone) 0)) questions told wrong
           (answers (list (lambda () (setq wrong (tests-code))
                            (aset wrong 0 (+ ?0 (mod (1+ (- (aref wrong 0) ?0)) 10))) wrong)
                          (lambda () (copy-sequence "r"))
                          (lambda () (tests-code)))))
      (cl-letf (((symbol-function 'read-string) (lambda (question &rest _) (push question questions) "ada@example.com"))
                ((symbol-function 'read-passwd)
                 (lambda (question &rest _)
                   (push question questions)
                   (if (equal question "Password: ") (copy-sequence tests-password) (funcall (pop answers)))))
                ((symbol-function 'message) (lambda (format &rest arguments)
                                              (push (apply #'format format arguments) told))))
        (should (equal (plist-get (authbroker-login) :state) "authenticated"))
        (should-not answers)
        (should (equal (last questions 2) '("Password: " "Your e-mail address: ")))
        (should (string-match-p "\\`Sent a code to .*Code or backup code (r sends another): \\'" (car questions)))
        (should (cl-find "wrong" told :test #'string-match-p))
        (authbroker-logout)
        (setq answers (list (lambda () (copy-sequence backup))) told nil)
        (authbroker-login :email "ada@example.com")
        (should (member "backup codes left: 9" told)))
      (dolist (line (append told questions))
        (should-not (string-match-p (regexp-quote tests-password) line))))))

(ert-deftest tests-login-left ()
  "A login that is left by C-g is cancelled at the broker; a program's prompter is asked."
  (tests-in-sandbox tests-slow-codes
    (tests-with-phone)
    (let (left)
      (condition-case nil
          (authbroker-login :email "ada@example.com" :password (copy-sequence tests-password)
                            :prompter (list :code (lambda (_challenge) (signal 'quit nil))))
        (quit (setq left t)))
      (should left))
    (should (equal (plist-get (authbroker-session) :state) "signedOut"))
    (let ((problem (tests-kind "invalidCredentials"
                     (authbroker-begin-login :email "ada@example.com" :password "wrong password 1"))))
      (should-not (string-match-p "wrong password" (format "%S" problem))))))

(ert-deftest tests-readme ()
  "The examples of the README run."
  (tests-in-sandbox nil
    (tests-register)
    (let (blocks events)
      (with-temp-buffer
        (insert-file-contents (concat (getenv "CLIENT") "/README.md"))
        (while (re-search-forward "^```elisp\n\\(\\(?:.*\n\\)*?\\)```" nil t)
          (push (match-string 1) blocks)))
      (should (= (length blocks) 4))
      (cl-letf (((symbol-function 'my-request) (lambda (header) (list 'requested header)))
                ((symbol-function 'message) (lambda (format &rest arguments)
                                              (push (apply #'format format arguments) events))))
        (let (values)
          (dolist (block (reverse blocks))
            (setq block (string-replace "/usr/local/share/authbroker/clients/emacs" (getenv "CLIENT") block))
            (push (eval (car (read-from-string (concat "(progn " block ")"))) t) values))
          (pcase (reverse values)
            (`(,_install ,header ,requested ,subscription)
             (should (string-prefix-p "Bearer " header))
             (should (equal (car requested) 'requested))
             (should (string-prefix-p "Bearer " (cadr requested)))
             (unwind-protect
                 (progn (authbroker-access-token :force-refresh t)
                        (tests-await (lambda () (cl-find "tokenRefreshed" events :test #'string-match-p))))
               (authbroker-unsubscribe subscription)))
            (_ (ert-fail "The examples do not give what they should"))))))))

(defun tests-benchmark ()
  "Print how long a token takes over a connection that is kept."
  (tests-in-sandbox nil
    (tests-register)
    (authbroker-access-token)
    (message "%.0f us" (* 1000 (/ (car (benchmark-run 1000 (authbroker-access-token))) 1)))))

(provide 'tests)
;;; tests.el ends here
