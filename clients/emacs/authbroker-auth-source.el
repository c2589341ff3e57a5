;;; authbroker-auth-source.el --- Tokens as passwords of auth-source  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A backend of auth-source, by which Gnus, smtpmail, ghub, forge, url and others
;; find passwords: the server must be in the section targets of the
;; configuration, and its password is the access token of its profile.
;;
;;   (require 'authbroker-auth-source)
;;   (authbroker-auth-source-enable)
;;
;; The secret is a function that asks the broker each time, so that no cache of
;; auth-source keeps a token.  A server without a target is left to the next
;; backend.

;;; Code:

(require 'auth-source)
(require 'authbroker)
(require 'url-util)

(defconst authbroker--auth-source-ports
  '((443 . "https") (80 . "http") (465 . "smtps") (587 . "smtp") (993 . "imaps") (143 . "imap"))
  "The schemes that a target may have, by their usual ports.")

(defun authbroker--auth-source-address (host port user)
  "Return the address that HOST, PORT and USER of a search mean; nil for none."
  (let* ((number (cond ((integerp port) port)
                       ((and (stringp port) (string-match-p "\\`[0-9]+\\'" port)) (string-to-number port))))
         (name (cond (number (alist-get number authbroker--auth-source-ports "https"))
                     ((null port) "https")
                     ((equal (format "%s" port) "submission") "smtp")
                     ((rassoc (format "%s" port) authbroker--auth-source-ports) (format "%s" port))))
         (usual (rassoc name authbroker--auth-source-ports))
         (account (and (stringp user) (not (string-match-p "[]@:/?#%[\\]" user)) (not (string-empty-p user))
                       (concat (url-hexify-string user) "@"))))
    (cond ((not (stringp host)) nil)
          ((string-match-p "://" host) host)
          ((null name) nil)
          (t (concat name "://" account host
                     (and number (not (eql number (car usual))) (format ":%d" number)))))))

(defun authbroker--auth-source-list (value)
  "Return VALUE of a search as a list of what it may be; t is anything."
  (cond ((eq value t) (list nil)) ((listp value) (or value (list nil))) (t (list value))))

(defun authbroker--auth-source-entry (host port user)
  "Return the entry for HOST, PORT and USER; nil where there is none.
What keeps a target from its token is told as a message: other backends may
still know a password."
  (when-let ((address (authbroker--auth-source-address host port user)))
    (condition-case problem
        (let* ((token (authbroker-access-token :url address))
               (username (plist-get (authbroker-token-target token) :username)))
          (when (or (null user) (null username) (equal user username))
            (append (list :host host :port port)
                    (and (or user username) (list :user (or user username)))
                    (list :secret (lambda () (authbroker-token-reveal (authbroker-access-token :url address)))))))
      (authbroker-error
       (unless (member (authbroker-error-kind problem) '("unknownTarget" "invalidParams"))
         (message "authbroker: %s" (authbroker-error-message problem)))
       nil))))

(cl-defun authbroker-auth-source-search (&key host port user max &allow-other-keys)
  "Search the targets of the configuration for HOST, PORT and USER.
At most MAX entries; see `auth-source-search'."
  (let (found)
    (dolist (one-host (authbroker--auth-source-list host))
      (dolist (one-port (authbroker--auth-source-list port))
        (dolist (one-user (authbroker--auth-source-list user))
          (when (< (length found) (or max 1))
            (when-let ((entry (authbroker--auth-source-entry one-host one-port one-user)))
              (push entry found))))))
    (nreverse found)))

(defun authbroker--auth-source-parse (entry)
  "Return the backend for ENTRY of `auth-sources'; nil unless it is `authbroker'."
  (when (eq entry 'authbroker)
    (auth-source-backend-parse-parameters
     entry
     (auth-source-backend :source "authbroker" :type 'authbroker :search-function #'authbroker-auth-source-search))))

;;;###autoload
(defun authbroker-auth-source-enable ()
  "Search the broker's targets before the other sources of passwords."
  (interactive)
  (add-hook 'auth-source-backend-parser-functions #'authbroker--auth-source-parse)
  (add-to-list 'auth-sources 'authbroker)
  (auth-source-forget-all-cached))

(provide 'authbroker-auth-source)
;;; authbroker-auth-source.el ends here
