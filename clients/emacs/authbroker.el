;;; authbroker.el --- Access tokens from AuthBroker  -*- lexical-binding: t -*-

;; Author: The AuthBroker authors
;; Version: 0.2.1-snapshot
;; Package-Requires: ((emacs "28.1"))
;; Keywords: comm, tools
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; AuthBroker is a daemon that keeps login sessions for the programs of a
;; user and hands out fresh access tokens.  This library asks it for them:
;;
;;   (authbroker-token-authorization-header (authbroker-access-token))
;;   (authbroker-with-access-token #'my-request)
;;   (authbroker-subscribe (lambda (event) (message "%s" event)))
;;
;; M-x authbroker-login logs in and M-x authbroker-logout signs out.
;;
;; It runs `authbroker serve --stdio', which finds the broker of this user or
;; starts it, and speaks JSON-RPC with it (jsonrpc.el).  JSON objects are
;; plists, arrays vectors, false is `:json-false' and null nil.
;;
;; No error, message or buffer shows a token, a password or a code.
;;
;; This file is what each program loads: errors, connections, calls and tokens.
;; Logins and events are in files of their own, loaded when they are used.

;;; Code:

(require 'authbroker-profile)
(require 'cl-lib)
(require 'authbroker-errors)
(require 'authbroker-repeat)
(require 'eieio)
(require 'jsonrpc)

(defgroup authbroker nil
  "Access tokens from AuthBroker."
  :group 'comm
  :prefix "authbroker-")

(defcustom authbroker-command (list (or (getenv "AUTHBROKER_COMMAND") "authbroker"))
  "The program that finds or starts the broker, and its first arguments.
By default what AUTHBROKER_COMMAND names, else the one on the PATH.
For another state directory add \"--state\" and its path."
  :type '(repeat string))

(defcustom authbroker-timeout 60
  "How many seconds a call may take, unless the call itself says so."
  :type 'number)

;;;; Connections

(defclass authbroker--connection (jsonrpc-process-connection)
  ((last-id :initform nil :accessor authbroker--last-id
            :documentation "The id of the request that was sent last.")
   (answered :initform nil :accessor authbroker--answered
             :documentation "Whether the broker has said anything.")
   (pending :initform 0 :accessor authbroker--pending
            :documentation "How many calls are under way.")
   (retired :initform nil :accessor authbroker--retired
            :documentation "Whether it takes no more calls, because the broker is about to end.")
   (proving :initform 0 :accessor authbroker--proving
            :documentation "How many calls the program makes for it, which proves what the broker asks for."))
  :documentation "A connection to the broker.")

(cl-defmethod jsonrpc-connection-send :before ((connection authbroker--connection) &key id &allow-other-keys)
  "Note the ID of a request on CONNECTION, by which it can be cancelled."
  (when id (setf (authbroker--last-id connection) id)))

(defvar authbroker--current nil "The connection of this Emacs, nil before the first call.")

(defvar authbroker--count 0 "How many connections were made, for the names of their buffers.")

(defun authbroker--open (&optional no-start on-notification on-end)
  "Return a new connection.
NO-START: do not start a broker.  ON-NOTIFICATION is called with a method and
params, ON-END with no argument when the connection has ended."
  (let* ((name (format "authbroker-%d" (cl-incf authbroker--count)))
         (default-directory "/")
         (process-environment (cons "NO_COLOR=1" process-environment))
         (command (append authbroker-command '("serve" "--stdio") (and no-start '("--no-start")))))
    (unless (executable-find (car command))
      (authbroker--raise
       (authbroker--problem
        "noBroker" (format "there is no program %s; install AuthBroker, or set `authbroker-command'" (car command)))))
    (authbroker--bound
     (apply #'make-instance 'authbroker--connection
            :name name
            :process (lambda () (authbroker--start name command))
            :notification-dispatcher (lambda (_connection method params)
                                       (when on-notification (funcall on-notification method params)))
            :on-shutdown (lambda (_connection) (when on-end (funcall on-end)))
            ;; Messages hold tokens and passwords: none is kept in a buffer.
            (if (slot-exists-p 'jsonrpc-connection '-events-buffer-config)
                '(:events-buffer-config (:size 0 :format full))
              '(:events-buffer-scrollback-size 0))))))

(defconst authbroker--longest-message (* 16 1024 1024)
  "The most that is kept of one message: four times what the broker queues.")

(defun authbroker--bound (connection)
  "Bound what is kept of a message that does not end on CONNECTION; return it."
  (let* ((process (jsonrpc--process connection)) (filter (process-filter process)))
    (set-process-filter
     process (lambda (process text)
               (if (> (+ (length text) (buffer-size (process-buffer process))) authbroker--longest-message)
                   (delete-process process)
                 (funcall filter process text))))
    connection))

(defun authbroker--start (name command)
  "Start COMMAND as the process NAME."
  (let* ((errors (get-buffer-create (format "*%s stderr*" name)))
         ;; Answers are short and waited for: none is held back for more to come.
         (process-adaptive-read-buffering nil)
         (process (make-process :name name :command command :connection-type 'pipe :coding 'utf-8-emacs-unix
                                :noquery t :stderr errors)))
    (when-let ((reader (get-buffer-process errors))) (set-process-query-on-exit-flag reader nil))
    process))

(defun authbroker--close (connection)
  "End CONNECTION and remove its buffers."
  (let ((process (jsonrpc--process connection))
        (errors (jsonrpc-stderr-buffer connection)))
    (set-process-sentinel process #'ignore)
    (delete-process process)
    (dolist (buffer (list (process-buffer process) errors
                          (get-buffer (format "*%s events*" (jsonrpc-name connection)))))
      (when (buffer-live-p buffer)
        (when-let ((reader (get-buffer-process buffer))) (delete-process reader))
        (with-current-buffer buffer (setq-local kill-buffer-query-functions nil))
        (kill-buffer buffer)))))

(defun authbroker--retire (connection)
  "Retire CONNECTION: it takes no call, and ends with the last one under way."
  (setf (authbroker--retired connection) t)
  (when (eq connection authbroker--current) (setq authbroker--current nil))
  (authbroker--close-if-over connection))

(defun authbroker--close-if-over (connection)
  "End CONNECTION if it is retired and no call is under way on it."
  (when (and (authbroker--retired connection) (<= (authbroker--pending connection) 0))
    ;; Later: this may be its own process filter.
    (run-with-timer 0 nil #'authbroker--close connection)))

(defun authbroker--lost (connection)
  "Return the error of a call on CONNECTION, which has ended."
  (let ((said (when-let ((buffer (jsonrpc-stderr-buffer connection)))
                (and (buffer-live-p buffer) (authbroker--said buffer)))))
    (if (authbroker--answered connection)
        (authbroker--problem "connectionLost" "the broker closed the connection before it answered" t)
      (authbroker--problem "noBroker" (or said "the broker ended without a word; see: authbroker doctor") t))))

(defun authbroker--said (buffer)
  "Return what the program complained about in BUFFER; nil if it said nothing."
  ;; Its last words may still be on their way, behind the news of its end.
  (when-let ((reader (get-buffer-process buffer)))
    (with-timeout (1 nil)
      (while (process-live-p reader) (accept-process-output reader 0.05))))
  (with-current-buffer buffer
    (goto-char (point-min))
    (when (re-search-forward "^authbroker: \\(.+\\)" nil t) (match-string 1))))

(defun authbroker-disconnect ()
  "End the connection to the broker; the next call opens another one."
  (interactive)
  (when authbroker--current
    (authbroker--close authbroker--current)
    (setq authbroker--current nil)))

(defun authbroker--living ()
  "Return a living connection."
  (unless (and authbroker--current (jsonrpc-running-p authbroker--current))
    (authbroker-disconnect)
    (setq authbroker--current (authbroker--open)))
  authbroker--current)

;;;; Calls

(defun authbroker--send (connection method params success failure)
  "Call METHOD with PARAMS on CONNECTION.
SUCCESS gets the result, FAILURE an error.
Where the broker wants proof of access to its state directory, give it.
Return a function that tells the broker to cancel the request."
  (let* ((id nil)
         (settle (lambda (function value)
                   (cl-decf (authbroker--pending connection))
                   (funcall function value)
                   (authbroker--close-if-over connection)))
         (succeed (lambda (result)
                    (setf (authbroker--answered connection) t)
                    (funcall settle success result)))
         (fail (lambda (problem) (funcall settle failure problem))))
    (cl-incf (authbroker--pending connection))
    (condition-case problem
        (jsonrpc-async-request
         connection (intern (concat ":" method)) params :timeout nil
         :success-fn succeed
         :error-fn (lambda (object) (authbroker--judge connection object method params succeed fail)))
      (error
       ;; A program that has ended already takes no request.
       (when (jsonrpc-running-p connection) (signal (car problem) (cdr problem)))
       (funcall fail (authbroker--lost connection))))
    (setq id (authbroker--last-id connection))
    (lambda () (when (jsonrpc-running-p connection) (jsonrpc-notify connection :$/cancelRequest (list :id id))))))

(defun authbroker--judge (connection object method params success failure)
  "Give FAILURE the error for OBJECT, which came on CONNECTION.
Where it wants a proof, have the program call METHOD with PARAMS; SUCCESS gets
the result then."
  (let ((data (plist-get object :data)))
    (if (eql (plist-get object :code) -1) (funcall failure (authbroker--lost connection))
      (setf (authbroker--answered connection) t)
      (if (and (plist-get data :proof) (authbroker--provable-p (plist-get data :kind) method params))
          (authbroker--prove connection method params success failure)
        (funcall failure (authbroker--refusal object))))))

(defun authbroker--provable-p (kind method params)
  "Whether a refusal of KIND is answered with a proof.
METHOD and PARAMS are those of the call.  Never for a token: whatever answers
on a socket learns from such a call only what it has been told."
  (pcase kind
    ("reauthRequired" (member method '("login" "register" "updateProfile" "generateBackupCodes" "completeLogin")))
    ("accessDenied"
     (or (member method '("rekey" "lock" "reloadConfig" "stopBroker" "checkVault" "tryProvider" "continueTrial"))
         (and (equal method "logout") (eq (plist-get params :all) t))
         (string-match-p "Local" method)))))

(defun authbroker--prove (connection method params success failure)
  "Call METHOD by the program, which proves access to the state directory.
It does so only to the owner of the directory that it has found itself; Emacs
cannot ask the kernel who listens on a socket.  CONNECTION, PARAMS, SUCCESS and
FAILURE are those of the call."
  (let* ((default-directory "/")
         (process-environment (cons "NO_COLOR=1" process-environment))
         (output (generate-new-buffer " *authbroker call*" t))
         (errors (make-pipe-process :name "authbroker call stderr" :filter #'ignore :noquery t :buffer nil
                                    :sentinel #'ignore))
         (process
          (make-process
           :name "authbroker call" :command (append authbroker-command (list "call" "--json" method "-"))
           :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t :buffer output :stderr errors
           :sentinel (lambda (process _event)
                       (unless (process-live-p process)
                         (let ((outcome (authbroker--outcome output)))
                           (kill-buffer output)
                           (delete-process errors)
                           (setf (authbroker--proving connection) (1- (authbroker--proving connection)))
                           (funcall (if (car outcome) success failure) (cdr outcome))))))))
    (setf (authbroker--proving connection) (1+ (authbroker--proving connection)))
    (process-send-string process (if params (jsonrpc--json-encode params) "{}"))
    (process-send-eof process)))

(defun authbroker--outcome (output)
  "Return (t . RESULT) or (nil . ERROR) of a call that has written OUTPUT."
  (let ((answer (with-current-buffer output
                  (goto-char (point-min))
                  (condition-case nil
                      (list (json-parse-buffer :object-type 'plist :null-object nil :false-object :json-false))
                    (error nil)))))
    (cond ((null answer)
           (cons nil (authbroker--problem "unexpectedAnswer" "the program has not said what became of the call")))
          ((plist-get (car answer) :error) (cons nil (authbroker--refusal (plist-get (car answer) :error))))
          (t (cons t (car answer))))))

(defun authbroker--ended-p (problem)
  "Whether PROBLEM means that this broker answers no more requests."
  (member (authbroker-error-kind problem) '("connectionLost" "shuttingDown")))

(cl-defun authbroker-call (method &optional params &key timeout)
  "Call METHOD, a string, with PARAMS, a plist, and return the result.
TIMEOUT: how many seconds to wait; `authbroker-timeout' where nil.
Signal `authbroker-error'.  The end of the time cancels the request, and
so does \\[keyboard-quit]."
  (let* ((deadline (+ (float-time) (or timeout authbroker-timeout)))
         (tries (authbroker--make-tries :method method :deadline deadline))
         (result nil) (pause 0))
    (while pause
      (sleep-for pause)
      (condition-case problem
          (setq result (authbroker--call-once method params deadline) pause nil)
        (authbroker-error
         (setq pause (or (authbroker--pause-after tries problem) (authbroker--raise problem))))))
    result))

(defun authbroker--call-once (method params deadline)
  "Call METHOD with PARAMS and wait for the result, until DEADLINE at most."
  (let* ((connection (authbroker--living))
         (outcome nil)
         ;; Not `jsonrpc-request': it leaves the input loop of Emacs 28 by a throw, which loses what stands behind the
         ;; answer.
         (cancel (authbroker--send connection method params
                                   (lambda (result) (unless outcome (setq outcome (list 'result result))))
                                   (lambda (problem) (unless outcome (setq outcome (list 'problem problem))))))
         (done nil))
    (unwind-protect
        (progn
          (while (and (not outcome) (< (float-time) deadline))
            (unless (jsonrpc-running-p connection)
              (setq outcome (list 'problem (authbroker--lost connection))))
            (unless outcome
              (accept-process-output
               (and (zerop (authbroker--proving connection)) (jsonrpc--process connection))
               ;; The end of another process is no output that would end the waiting.
               (max 0.001 (min (if (zerop (authbroker--proving connection)) 1 0.02) (- deadline (float-time)))))))
          (when outcome (setq done t)))
      (unless done
        (setq outcome (or outcome '(gone)))
        (funcall cancel)))
    (pcase outcome
      (`(result ,result) result)
      (`(problem ,problem)
       (when (authbroker--ended-p problem) (authbroker--retire connection))
       (authbroker--raise problem))
      (_ (authbroker--raise (authbroker--timed-out))))))

(defun authbroker-call-async (method params success &optional failure)
  "Call METHOD with PARAMS; return at once.
SUCCESS gets the result, FAILURE an error as `condition-case' binds it, after
`authbroker-timeout' seconds at the latest.  Return
a function that cancels the request; FAILURE then gets the kind \"cancelled\"."
  (let* ((is-open t)
         (timer nil)
         (finish (lambda (function value)
                   (when is-open
                     (setq is-open nil)
                     (when timer (cancel-timer timer))
                     (funcall function value))))
         (fail (lambda (problem) (funcall finish (or failure #'ignore) problem)))
         (call (list method params (lambda (result) (funcall finish success result)) fail #'ignore))
         (limit (max authbroker-timeout (+ 5 (or (plist-get params :timeoutSeconds) 0))))
         (tries (authbroker--make-tries :method method :deadline (+ (float-time) limit))))
    (setq timer (run-with-timer limit nil
                                (lambda ()
                                  (funcall fail (authbroker--timed-out))
                                  (funcall (nth 4 call)))))
    (condition-case problem (authbroker--try call tries)
      (error (cancel-timer timer) (authbroker--raise problem)))
    (lambda () (funcall (nth 4 call)))))

(defun authbroker--try (call again)
  "Send CALL, a list of method, params, success, failure and what cancels it.
Where the broker has ended, send it once more; AGAIN is asked about another."
  (pcase-let ((`(,method ,params ,success ,failure) (seq-take call 4)) (connection (authbroker--living)))
    (setf (nth 4 call)
          (authbroker--send
           connection method params success
           (lambda (problem)
             (when (authbroker--ended-p problem) (authbroker--retire connection))
             (let ((pause (authbroker--pause-after again problem)))
               (if (not pause) (funcall failure problem)
                 ;; Later in any case: this may be the sentinel of a process that has ended.
                 (let ((timer (run-with-timer pause nil #'authbroker--try-again call again)))
                   (setf (nth 4 call)
                         (lambda ()
                           (cancel-timer timer)
                           (funcall failure (authbroker--problem "cancelled" "the request was cancelled"))))))))))))

(defun authbroker--try-again (call again)
  "Send CALL, whose broker has ended, once more; AGAIN is asked about another."
  (condition-case problem (authbroker--try call again)
    (authbroker-error (funcall (nth 3 call) problem))))

;;;; Tokens

(cl-defstruct (authbroker-token (:constructor authbroker--make-token) (:copier nil))
  "An access token; printing it does not show the token itself."
  (type nil :documentation "Bearer, or the scheme of a static profile.")
  (field nil :documentation "The header of a static profile; nil for others.")
  (expires-at nil :documentation "RFC 3339; nil where the provider does not say.")
  (scopes nil :documentation "A vector of strings.")
  (profile nil :documentation "The profile whose token it is.")
  (id nil :documentation "Its name in events and reports.")
  (offline nil :documentation "Whether the provider could not be reached for a refresh.")
  (target nil :documentation "A plist of :prefix, :username and :scheme where an address was named."))

(defvar authbroker--values (make-hash-table :test 'eq :weakness 'key)
  "The tokens themselves, beside the structures, which may be printed.")

(defun authbroker--read-token (result &optional target)
  "Return the token for RESULT, the answer of the broker; TARGET is its target."
  (unless (and (stringp (plist-get result :accessToken)) (stringp (plist-get result :tokenType))
               (stringp (plist-get result :tokenId)))
    (authbroker--raise
     (authbroker--problem "unexpectedAnswer" "the broker's answer is not what was expected: no access token")))
  (let ((token (authbroker--make-token
                :type (plist-get result :tokenType) :field (plist-get result :header) :expires-at (plist-get result :expiresAt)
                :scopes (plist-get result :scopes) :profile (plist-get result :profile)
                :id (plist-get result :tokenId) :offline (eq (plist-get result :offline) t) :target target)))
    (puthash token (plist-get result :accessToken) authbroker--values)
    token))

(defun authbroker-token-reveal (token)
  "Return the text of TOKEN."
  (gethash token authbroker--values))

(defun authbroker-token-header-name (token)
  "Return the name of the header that carries TOKEN.
It is Authorization, unless the profile's provider is static and names another."
  (if (equal (plist-get (authbroker-token-target token) :scheme) "Basic")
      "Authorization"
    (or (authbroker-token-field token) "Authorization")))

(defun authbroker--token-alone-p (token)
  "Return whether the header of TOKEN has no scheme."
  (or (not (string= (downcase (authbroker-token-header-name token)) "authorization"))
      (and (authbroker-token-field token) (equal (authbroker-token-type token) ""))))

(defun authbroker-token-authorization-header (token)
  "Return the value of the header that carries TOKEN, as its target wants it."
  (let ((target (authbroker-token-target token)))
    (if (not (equal (plist-get target :scheme) "Basic"))
        (concat (unless (authbroker--token-alone-p token) (concat (authbroker-token-type token) " "))
                (authbroker-token-reveal token))
      ;; Servers that take a token as a password look at no user name, where the target has none.
      (concat "Basic " (base64-encode-string
                        (encode-coding-string (concat (or (plist-get target :username) "oauth2") ":"
                                                      (authbroker-token-reveal token))
                                              'utf-8)
                        t)))))

(defun authbroker--params (&rest plist)
  "Return PLIST without the members that are nil, lists of strings as vectors."
  (cl-loop for (name value) on plist by #'cddr
           when value append (list name (if (consp value) (vconcat value) value))))

(cl-defun authbroker-access-token
    (&key profile url min-validity scopes audience force-refresh wait-for-login timeout)
  "Return a valid access token, refreshed first where necessary.
PROFILE: nil for the current one.  URL, in its place: the address of a server,
whose target the configuration has.  MIN-VALIDITY: the least lifetime in
seconds that it must have left.  SCOPES: a list of those that it must have.
AUDIENCE: its audience.  FORCE-REFRESH: refresh in any case.  WAIT-FOR-LOGIN:
wait for a user who is not logged in, up to TIMEOUT seconds."
  (when (and profile url)
    (authbroker--raise
     (authbroker--problem "invalidRequest" "a token is asked for by a profile or by an address, not by both")))
  (let ((params (authbroker--params :minValiditySeconds min-validity :scopes scopes :audience audience
                                    :forceRefresh force-refresh :waitForLogin wait-for-login
                                    :timeoutSeconds timeout))
        (call (lambda (method params)
                (authbroker-call method params :timeout (and timeout (+ timeout 5))))))
    (if url
        (let ((answer (authbroker--ask-address call url params)))
          (authbroker--read-token (car answer) (cdr answer)))
      (authbroker--read-token
       (funcall call "getAccessToken"
                (append (authbroker--params :profile (authbroker--profile profile)) params))))))

(cl-defun authbroker-report-rejected (token &key status challenge scopes audience)
  "Report that a server rejected TOKEN; return the one to use instead.
STATUS: 401 (the default) or 403.  CHALLENGE: the header WWW-Authenticate, which
may want more scopes.  SCOPES and AUDIENCE: those of the request."
  (authbroker--read-token
   (authbroker-call "reportRejected"
                    (authbroker--params :profile (authbroker-token-profile token)
                                        :tokenId (authbroker-token-id token) :status (or status 401)
                                        :challenge challenge :scopes scopes :audience audience))
   (authbroker-token-target token)))

(cl-defun authbroker-with-access-token (function &rest arguments &key scopes audience &allow-other-keys)
  "Call FUNCTION with an access token and return its value.
Where FUNCTION signals `authbroker-unauthorized' (HTTP status 401), report the
token as rejected and call FUNCTION once more with another one.  The data of the
signal may be a plist with :status and :challenge (WWW-Authenticate).  ARGUMENTS
are those of `authbroker-access-token', SCOPES and AUDIENCE among them."
  (let ((token (apply #'authbroker-access-token arguments)))
    (condition-case rejection
        (funcall function token)
      (authbroker-unauthorized
       (let ((fresh (authbroker-report-rejected
                     token :status (plist-get (cdr rejection) :status) :challenge (plist-get (cdr rejection) :challenge)
                     :scopes scopes :audience audience)))
         (if (equal (authbroker-token-id fresh) (authbroker-token-id token))
             (authbroker--raise rejection)
           (funcall function fresh)))))))

;;;; The other files

(autoload 'authbroker--ask-address "authbroker-address" "Ask for the token of an address.")
(autoload 'authbroker-auth-source-enable "authbroker-auth-source" "Make it a source of passwords." t)
(autoload 'authbroker-login "authbroker-login" "Log in to a profile." t)
(autoload 'authbroker-logout "authbroker-login" "Sign out of a profile." t)
(autoload 'authbroker-begin-login "authbroker-login" "Begin a login.")
(autoload 'authbroker-verify-otp "authbroker-login" "Answer a login with its one-time code.")
(autoload 'authbroker-verify-backup-code "authbroker-login" "Answer a login with a backup code.")
(autoload 'authbroker-resend-otp "authbroker-login" "Have another one-time code sent.")
(autoload 'authbroker-session "authbroker-login" "Return where a profile stands.")
(autoload 'authbroker-subscribe "authbroker-events" "Call a function for each event.")

(provide 'authbroker)
;;; authbroker.el ends here
