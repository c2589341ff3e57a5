;;; authbroker-repeat.el --- When a call of AuthBroker is made again  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A broker that is about to end is followed by the next one, and a connection
;; that was lost by another.

;;; Code:

(require 'authbroker-errors)
(require 'cl-lib)

(defconst authbroker--repeatable
  '("initialize" "ping" "rpc.discover" "getAccessToken" "reportRejected" "getIdToken" "createProof" "awaitLogin"
    "listPendingLogins" "getCurrentUser" "getSession" "listSessions" "listTargets" "getStatus" "checkVault"
    "lock" "subscribe")
  "Methods that are called once more where the broker has ended before the answer.
They change nothing that a second call would change again.")

(defconst authbroker--longest-end 30
  "How many seconds a broker that ends is waited for.
It waits 25 s for requests that spend a token, and then saves.")

(cl-defstruct (authbroker--tries (:constructor authbroker--make-tries) (:copier nil))
  "The tries of one call."
  (method nil :documentation "What is called.")
  (deadline nil :documentation "The end of all tries.")
  (lost nil :documentation "Whether a connection was lost already.")
  (end nil :documentation "Until when a broker that ends is waited for; nil: none has said so.")
  (pause 0.1 :documentation "How long to wait before it is asked again, in seconds."))

(defun authbroker--pause-after (again problem)
  "Return the seconds before the next try AGAIN, behind PROBLEM; nil: none is made.
A broker that is about to end is asked again until there is the next one,
a lost connection is followed by one more try."
  (let ((kind (authbroker-error-kind problem)) (pause (authbroker--tries-pause again)))
    (cond
     ((not (member (authbroker--tries-method again) authbroker--repeatable)) nil)
     ((equal kind "shuttingDown")
      (unless (authbroker--tries-end again)
        (setf (authbroker--tries-end again)
              (min (authbroker--tries-deadline again) (+ (float-time) authbroker--longest-end))))
      (setf (authbroker--tries-pause again) (min 1 (* 2 pause)))
      (and (< (+ (float-time) pause) (authbroker--tries-end again)) pause))
     ;; A program that reaches a broker at its very end says that there is none.
     ((and (not (authbroker--tries-lost again))
           (or (equal kind "connectionLost") (and (authbroker--tries-end again) (equal kind "noBroker"))))
      (setf (authbroker--tries-lost again) t)
      0))))

(provide 'authbroker-repeat)
;;; authbroker-repeat.el ends here
