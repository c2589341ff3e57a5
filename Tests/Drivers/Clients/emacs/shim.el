;;; shim.el --- Conversations through the Emacs package  -*- lexical-binding: t -*-

;;; Commentary:

;; JSON-RPC lines in, functions of the package, JSON-RPC lines out; see
;; ../README.md.  Descriptor 3 is the input, descriptor 4 the output.

;;; Code:

(require 'authbroker)
(require 'authbroker-login)
(require 'authbroker-events)

(defvar shim-output (make-process :name "output" :command '("sh" "-c" "exec cat >&4") :connection-type 'pipe
                                  :coding 'utf-8-unix :noquery t)
  "What writes lines.")

(defvar shim-subscriptions nil "The open subscriptions.")

(defconst shim-objects '(:data :user :changes) "Members that are objects, so that nil is an empty one.")

(defun shim-json (value &optional name)
  "Return VALUE, the member NAME, with nil made plain: an empty object or null."
  (cond ((and (null value) (memq name shim-objects)) (make-hash-table))
        ((null value) :null)
        ((vectorp value) (vconcat (mapcar #'shim-json value)))
        ((and (consp value) (keywordp (car value)))
         (cl-loop for (key member) on value by #'cddr append (list key (shim-json member key))))
        (t value)))

(defun shim-write (message)
  "Write MESSAGE, a plist, as a line."
  (process-send-string
   shim-output
   (concat (decode-coding-string (json-serialize message :null-object :null :false-object :json-false) 'utf-8) "\n")))

(defun shim-without (plist)
  "Return PLIST without the members that are nil."
  (cl-loop for (name value) on plist by #'cddr when value append (list name value)))

(defun shim-token (token)
  "Return TOKEN as on the wire."
  (append (list :accessToken (authbroker-token-reveal token) :tokenType (authbroker-token-type token)
                :expiresAt (authbroker-token-expires-at token) :scopes (authbroker-token-scopes token)
                :profile (authbroker-token-profile token) :tokenId (authbroker-token-id token))
          (and (authbroker-token-offline token) '(:offline t))))

(defun shim-only (params names)
  "Whether PARAMS have no other members than NAMES."
  (cl-loop for (name _value) on params by #'cddr always (memq name names)))

(defun shim-result (method params)
  "Return the result of METHOD with PARAMS, by the package's function for it if it takes them."
  (let ((get (lambda (name) (let ((value (plist-get params name))) (if (vectorp value) (append value nil) value)))))
    (cond
     ((and (equal method "getAccessToken")
           (shim-only params '(:profile :minValiditySeconds :scopes :audience :forceRefresh)))
      (shim-token (authbroker-access-token
                   :profile (funcall get :profile) :min-validity (funcall get :minValiditySeconds)
                   :scopes (funcall get :scopes) :audience (funcall get :audience)
                   :force-refresh (eq (funcall get :forceRefresh) t))))
     ((and (equal method "reportRejected") (shim-only params '(:profile :tokenId :status :challenge)))
      (shim-token (authbroker-report-rejected
                   (authbroker--make-token :profile (funcall get :profile) :id (funcall get :tokenId))
                   :status (funcall get :status) :challenge (funcall get :challenge))))
     ((and (equal method "login") (shim-only params '(:profile :method :email :password :phoneNumber :clientContext)))
      (authbroker-begin-login :profile (funcall get :profile) :method (funcall get :method) :email (funcall get :email)
                              :password (funcall get :password) :phone-number (funcall get :phoneNumber)
                              :client-context (funcall get :clientContext)))
     ((and (equal method "verifyOtp") (shim-only params '(:otpFlowId :code)))
      (authbroker-verify-otp (funcall get :otpFlowId) (funcall get :code)))
     ((and (equal method "verifyBackupCode") (shim-only params '(:otpFlowId :backupCode)))
      (authbroker-verify-backup-code (funcall get :otpFlowId) (funcall get :backupCode)))
     ((and (equal method "resendOtp") (shim-only params '(:otpFlowId)))
      (authbroker-resend-otp (funcall get :otpFlowId)))
     ((and (equal method "logout") (shim-only params '(:profile :everywhere :all)))
      (list :results (vconcat (authbroker-logout :profile (funcall get :profile)
                                                 :everywhere (eq (funcall get :everywhere) t)
                                                 :all (eq (funcall get :all) t)))))
     ((and (equal method "getSession") (shim-only params '(:profile))) (authbroker-session (funcall get :profile)))
     ((equal method "unsubscribe") (shim-unsubscribe params))
     (t (authbroker-call method params)))))

(defun shim-unsubscribe (params)
  "Close the subscription that PARAMS name; one that is unknown is the broker's to refuse."
  (let ((open (assoc (plist-get params :subscriptionId) shim-subscriptions)))
    (if (not open) (authbroker-call "unsubscribe" params)
      (authbroker-unsubscribe (cdr open))
      (setq shim-subscriptions (delq open shim-subscriptions))
      nil)))

(defun shim-subscribe (id params)
  "Open a subscription with PARAMS and answer the request ID before its events."
  (let* ((early nil) (name nil)
         (tell (lambda (event) (shim-write (list :jsonrpc "2.0" :method "event"
                                                 :params (shim-event name event)))))
         (subscription (authbroker-subscribe
                        (lambda (event) (if name (funcall tell event) (push event early)))
                        :events (append (plist-get params :events) nil)
                        :profiles (append (plist-get params :profiles) nil) :since (plist-get params :since))))
    (push (cons (authbroker-subscription-id subscription) subscription) shim-subscriptions)
    (let ((snapshot (authbroker-subscription-snapshot subscription)))
      (shim-write (list :jsonrpc "2.0" :id id :result
                        (append (list :subscriptionId (authbroker-subscription-id subscription)
                                      :sequence (plist-get snapshot :sequence)
                                      :sessions (shim-json (plist-get snapshot :sessions)))
                                (and (plist-get snapshot :resync) '(:resync t))))))
    (setq name (authbroker-subscription-id subscription))
    (mapc tell (nreverse early))))

(defun shim-event (name event)
  "Return EVENT of the subscription NAME as on the wire."
  (append (list :subscriptionId name :sequence (plist-get event :sequence) :event (plist-get event :event)
                :time (plist-get event :time) :data (shim-json (plist-get event :data) :data))
          (and (plist-get event :profile) (list :profile (plist-get event :profile)))))

(defun shim-error (problem)
  "Return PROBLEM, an error of the broker, as on the wire."
  (let ((get (lambda (name) (authbroker-error-property problem name))))
    (list :code (funcall get :code) :message (authbroker-error-message problem)
          :data (append (list :kind (funcall get :kind) :nextAction (funcall get :next-action)
                              :retryable (if (funcall get :retryable) t :json-false))
                        (shim-json (shim-without (list :retryAfterSeconds (funcall get :retry-after)
                                                       :profile (funcall get :profile) :pointer (funcall get :pointer)
                                                       :attemptsRemaining (funcall get :attempts-remaining)
                                                       :fields (funcall get :fields)
                                                       :challenge (funcall get :challenge)
                                                       :correlationId (funcall get :correlation-id))))))))

(defun shim-perform (line)
  "Answer the request LINE."
  (let* ((request (json-parse-string line :object-type 'plist :null-object nil :false-object :json-false))
         (id (plist-get request :id)) (method (plist-get request :method)) (params (plist-get request :params)))
    (condition-case problem
        (if (equal method "subscribe") (shim-subscribe id params)
          (let ((result (shim-result method params)))
            (shim-write (list :jsonrpc "2.0" :id id :result (shim-json result :data)))))
      (authbroker-error
       (unless (authbroker-error-property problem :code) (signal (car problem) (cdr problem)))
       (shim-write (list :jsonrpc "2.0" :id id :error (shim-error problem)))))))

(defun shim-main ()
  "Perform requests to the end of the input."
  (let* ((lines nil) (rest "")
         (input (make-process :name "input" :command '("sh" "-c" "exec cat <&3") :connection-type 'pipe
                              :coding 'utf-8-unix :noquery t
                              :sentinel #'ignore
                              :filter (lambda (_process text)
                                        (let ((parts (split-string (concat rest text) "\n")))
                                          (setq rest (car (last parts)) lines (append lines (butlast parts))))))))
    (while (or lines (process-live-p input))
      (if lines (shim-perform (pop lines)) (accept-process-output nil 1)))
    (mapc (lambda (open) (authbroker-unsubscribe (cdr open))) shim-subscriptions)
    (authbroker-disconnect)
    (process-send-eof shim-output)
    (while (process-live-p shim-output) (accept-process-output shim-output 1))))

(condition-case problem (shim-main)
  (error (message "shim: %s" (authbroker-error-message problem)) (kill-emacs 1)))
;;; shim.el ends here
