;;; authbroker-address.el --- The token of an address  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Whether a target covers an address, and which requests are made.

;;; Code:

(require 'authbroker-errors)
(require 'subr-x)

(defconst authbroker--address-errors
  '("unknownTarget" "invalidParams" "deadlineExceeded" "vaultLocked" "shuttingDown" "cancelled"
    "noBroker" "connectionLost" "unexpectedAnswer")
  "Kinds of errors about an address itself, or about the broker as a whole.")

(defun authbroker--address-parts (address)
  "Return scheme, user name, host with its port, and path of ADDRESS."
  (if (not (string-match "\\`\\([^:]*\\)://\\([^/?#]*\\)\\([^?#]*\\)" address)) (list "" "" "" "")
    (let* ((scheme (match-string 1 address)) (authority (match-string 2 address)) (path (match-string 3 address))
           (at (string-match "@[^@]*\\'" authority)))
      (list (downcase scheme) (car (split-string (substring authority 0 (or at 0)) ":"))
            (downcase (if at (substring authority (1+ at)) authority)) (string-trim-right path "/+")))))

(defun authbroker--covers-p (prefix address)
  "Whether ADDRESS lies at or below PREFIX, as both are written.
What is written otherwise does not."
  (pcase-let ((`(,scheme ,user ,host ,path) (authbroker--address-parts prefix))
              (`(,asked-scheme ,asked-user ,asked-host ,asked-path) (authbroker--address-parts address))
              (case-fold-search nil))
    (and (not (equal scheme "")) (equal scheme asked-scheme)
         (or (equal user "") (equal user asked-user))
         (or (equal host asked-host)
             (and (string-prefix-p "*." host) (>= (length asked-host) (length host))
                  (string-suffix-p (substring host 1) asked-host)))
         (string-prefix-p (concat path "/") (concat asked-path "/")))))

(defun authbroker--ask-address (call url params)
  "Ask for the token of URL; return the answer and its target, plists.
CALL is called with a method and params; PARAMS are those of the token.
A broker of version 0.2 ignores the address, and answers for the profile that
is not named: an answer is used only where it has a target that covers the
address.  Otherwise the target is asked for, and then its token."
  (let* ((answer (condition-case problem
                     (funcall call "getAccessToken" (append (list :url url) params))
                   (authbroker-error
                    (when (member (authbroker-error-kind problem) authbroker--address-errors)
                      (authbroker--raise problem)))))
         (target (plist-get answer :target)) (prefix (plist-get target :prefix)))
    (if (and (stringp prefix) (authbroker--covers-p prefix url)) (cons answer target)
      (let* ((targets (plist-get (funcall call "listTargets" (list :url url)) :targets))
             (entry (and (> (length targets) 0) (elt targets 0)))
             (given (lambda (name) (or (plist-get params name) (plist-get entry name)))))
        (unless entry
          (authbroker--raise (authbroker--problem "unknownTarget" "The configuration has no target for this address.")))
        (dolist (name '(:profile :scopes :audience))
          (when-let ((value (funcall given name))) (setq params (plist-put (copy-sequence params) name value))))
        (cons (funcall call "getAccessToken" params)
              (list :prefix (plist-get entry :url) :username (plist-get entry :username)
                    :scheme (plist-get entry :scheme)))))))

(provide 'authbroker-address)
;;; authbroker-address.el ends here
