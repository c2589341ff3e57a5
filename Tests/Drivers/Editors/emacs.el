;;; emacs.el --- Emacs's own JSON-RPC client drives the broker  -*- lexical-binding: t -*-

;; Run by Tests/Drivers/Editors/run: `emacs -Q --batch -l emacs.el`. jsonrpc.el speaks header framing. $RESULTS: where the lines
;; PASS, FAIL and DONE go; $SOCKET: the owner's socket.

(require 'jsonrpc)

(defun say (format &rest arguments)
  "Append a line of FORMAT and ARGUMENTS to $RESULTS."
  (write-region (concat (apply #'format format arguments) "\n") nil (getenv "RESULTS") t 'silent))

(defun check (name truth seen)
  "Say whether TRUTH held for NAME; SEEN is what to show when not."
  (if truth (say "PASS emacs %s" name) (say "FAIL emacs %s: %S" name seen)))

(defun connect (make-process)
  "Return (CONNECTION . NOTIFICATIONS), the latter a cell that collects what comes in; MAKE-PROCESS makes the process."
  (let ((heard (list nil)))
    (cons (jsonrpc-process-connection
           :name "broker" :process make-process
           :notification-dispatcher (lambda (_connection method params) (push (cons method params) (car heard))))
          heard)))

(defun journey (label make-process)
  "Play the common journey over the connection that MAKE-PROCESS opens, naming each check after LABEL."
  (let* ((pair (connect make-process)) (connection (car pair)) (heard (cdr pair)) reply)
    (setq reply (jsonrpc-request connection :initialize '(:client (:name "emacs" :version "28")) :timeout 250))
    (check (concat label " initialize") (equal (plist-get reply :protocolVersion) "1") reply)
    ;; No params at all: Emacs writes them as null.
    (setq reply (condition-case problem (progn (jsonrpc-request connection :ping nil :timeout 250) 'answered) (error problem)))
    (check (concat label " null params") (eq reply 'answered) reply)
    (setq reply (jsonrpc-request connection :getAccessToken '(:profile "default") :timeout 250))
    (check (concat label " getAccessToken") (> (length (plist-get reply :accessToken)) 20) (plist-get reply :profile))
    (setq reply (condition-case problem (jsonrpc-request connection :noSuchMethod nil :timeout 250)
                  (jsonrpc-error (alist-get 'jsonrpc-error-code (cddr problem)))))
    (check (concat label " unknown method") (equal reply -32601) reply)
    (setq reply (jsonrpc-request connection :subscribe '(:events ["tokenRefreshed"]) :timeout 250))
    (check (concat label " subscribe") (plist-get reply :subscriptionId) reply)
    ;; Asked without waiting: jsonrpc.el of Emacs 28 leaves its input loop by a throw when a synchronous answer is in, and
    ;; may lose its place in an event behind the answer; then nothing more is read on the connection.
    (let (answered)
      (jsonrpc-async-request connection :getAccessToken '(:forceRefresh t)
                             :success-fn (lambda (_result) (setq answered t)) :timeout 250)
      (with-timeout (250 nil)
        (while (not (and answered (car heard))) (accept-process-output nil 0.05))))
    (let* ((first (caar heard)) (event (car first)) (params (cdr first)))
      (check (concat label " event")
             (and (eq event 'event) (equal (plist-get params :event) "tokenRefreshed")
                  (equal (plist-get params :subscriptionId) (plist-get reply :subscriptionId)))
             (car heard)))))

(condition-case problem
    (progn
      (journey "stdio" (lambda () (make-process :name "broker" :command '("authbroker" "serve" "--stdio")
                                                :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                                                :stderr (get-buffer-create "*stderr*"))))
      (journey "socket" (lambda () (make-network-process :name "broker" :family 'local :service (getenv "SOCKET")
                                                         :coding 'utf-8-emacs-unix :noquery t)))
      (say "DONE"))
  (error (say "FAIL emacs: %S" problem)))
;;; emacs.el ends here
