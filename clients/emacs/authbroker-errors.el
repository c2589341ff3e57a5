;;; authbroker-errors.el --- Errors of AuthBroker  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The data of `authbroker-error' are a sentence and a plist with :code, :kind,
;; :next-action, :retryable, :retry-after, :profile, :pointer,
;; :fields, :attempts-remaining, :challenge, :scopes, :acr-values and :max-age (what the
;; next login asks for) and :data (as the broker sent it).  Kinds of this library:
;; "noBroker", "connectionLost", "unexpectedAnswer".  The end of a time limit is
;; "deadlineExceeded", whether the broker says so or this library.

;;; Code:

(define-error 'authbroker-error "AuthBroker")
(define-error 'authbroker-unauthorized "the server rejected the access token")

(defun authbroker-error-message (error)
  "Return the sentence of ERROR, which `condition-case' has caught."
  (if (eq (car error) 'authbroker-error) (cadr error) (error-message-string error)))

(defun authbroker-error-property (error property)
  "Return the PROPERTY, such as :kind, of ERROR; nil if it has none."
  (and (eq (car error) 'authbroker-error) (plist-get (caddr error) property)))

(defun authbroker-error-kind (error)
  "Return the kind of ERROR, such as \"loginRequired\"; nil for other errors."
  (authbroker-error-property error :kind))

(defun authbroker--problem (kind sentence &optional retryable)
  "Return an error of this library: KIND, SENTENCE, and whether it is RETRYABLE."
  (list 'authbroker-error sentence
        (list :kind kind :next-action (if retryable "retry" "none") :retryable retryable)))

(defun authbroker--timed-out ()
  "Return the error of a call whose time limit is over.
The property :unanswered tells it from the broker's own one."
  (list 'authbroker-error "the broker did not answer in time"
        '(:code 1087 :kind "deadlineExceeded" :next-action "retry" :retryable t :unanswered t)))

(defun authbroker--plain (text)
  "Return TEXT of another program, made fit for a terminal.
Control and format characters become question marks."
  (mapconcat (lambda (character)
               (if (memq (get-char-code-property character 'general-category) '(Cc Cf Cs Zl Zp)) "?"
                 (string character)))
             text ""))

(defun authbroker--refusal (object)
  "Return the error for OBJECT, the member error of a response."
  (let ((data (plist-get object :data)))
    (list 'authbroker-error (authbroker--plain (or (plist-get object :message) "the broker refused"))
          (list :code (plist-get object :code) :kind (or (plist-get data :kind) "unexpectedAnswer")
                :next-action (plist-get data :nextAction) :retryable (eq (plist-get data :retryable) t)
                :retry-after (plist-get data :retryAfterSeconds) :profile (plist-get data :profile)
                :pointer (plist-get data :pointer) :fields (plist-get data :fields)
                :attempts-remaining (plist-get data :attemptsRemaining)
                :challenge (plist-get data :challenge) :correlation-id (plist-get data :correlationId)
                :scopes (plist-get data :scopes) :acr-values (plist-get data :acrValues) :max-age (plist-get data :maxAge)
                :data data))))

(defun authbroker--raise (error)
  "Signal ERROR, a list as `condition-case' binds it."
  (signal (car error) (cdr error)))

(provide 'authbroker-errors)
;;; authbroker-errors.el ends here
