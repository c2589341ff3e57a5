;;; authbroker-events.el --- Events of AuthBroker  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A subscription has a connection of its own and outlives the broker: after a
;; loss it goes on behind the last event that was seen.  A broker that was
;; killed is started again; one that was stopped is waited for.

;;; Code:

(require 'authbroker)

(cl-defstruct (authbroker-subscription (:constructor authbroker--make-subscription) (:copier nil))
  "A subscription to events."
  (id nil :documentation "The broker's name of it.")
  (snapshot nil :documentation "The answer of the broker: :sequence, :sessions, :resync.")
  (last nil :documentation "The sequence of the last event that was seen.")
  (function nil :documentation "What is called for each event.")
  (events nil :documentation "The names of the events that are wanted; nil: all.")
  (profiles nil :documentation "The profiles whose events are wanted; nil: all.")
  (connection nil :documentation "Its connection.")
  (timer nil :documentation "What looks for another broker.")
  (pause 0.1 :documentation "How long to wait before that, in seconds.")
  (stopping nil :documentation "Whether the broker has said that it ends.")
  (closed nil :documentation "Whether it was closed."))

(cl-defun authbroker-subscribe (function &key events profiles since)
  "Call FUNCTION with each event, a plist; return the subscription.
The plist has :sequence, :event, :profile, :time and :data, never a token.
EVENTS and PROFILES are lists of names, nil for all.  SINCE: the last sequence
that was seen; what came behind it is told first.  Two events say that
some may be missing: \"eventsLost\", with the sequences in :data, and
\"resync\", with :sessions as they stand, where a broker came back without
what had happened meanwhile.
`authbroker-unsubscribe' ends it."
  (let* ((subscription (authbroker--make-subscription :function function :events events :profiles profiles
                                                      :last since))
         (deadline (+ (float-time) authbroker-timeout))
         (tries (authbroker--make-tries :method "subscribe" :deadline deadline))
         (problem nil) (pause 0))
    (while pause
      (sleep-for pause)
      (setq problem nil)
      (authbroker--subscribe subscription nil (lambda (failure) (setq problem failure)))
      (while (not (or problem (authbroker-subscription-id subscription)))
        (when (> (float-time) deadline)
          (setq problem (authbroker--timed-out)))
        (accept-process-output (jsonrpc--process (authbroker-subscription-connection subscription)) 0.2))
      (setq pause (and problem (authbroker--pause-after tries problem)))
      (when pause (authbroker--close (authbroker-subscription-connection subscription))))
    (when problem
      (authbroker-unsubscribe subscription)
      (authbroker--raise problem))
    subscription))

(defun authbroker-unsubscribe (subscription)
  "End SUBSCRIPTION."
  (unless (authbroker-subscription-closed subscription)
    (setf (authbroker-subscription-closed subscription) t)
    (when-let ((timer (authbroker-subscription-timer subscription))) (cancel-timer timer))
    (when-let ((connection (authbroker-subscription-connection subscription)))
      ;; The end of its connection is the end of a subscription.
      (authbroker--close connection))))

(defun authbroker--subscribe (subscription again failure)
  "Connect and subscribe for SUBSCRIPTION; AGAIN: after a loss.
FAILURE is called with the error if that does not succeed."
  (let ((names (authbroker-subscription-events subscription)) connection)
    (setq connection
          (authbroker--open (and again (authbroker-subscription-stopping subscription))
                            (lambda (method params)
                              (when (eq method 'event) (authbroker--take subscription params)))
                            (lambda () (authbroker--resume-later subscription connection))))
    (setf (authbroker-subscription-connection subscription) connection)
    (authbroker--send
     connection "subscribe"
     (append (authbroker--params
              ;; Asked for in any case: it says whether the end of a broker is wanted.
              :events (and names (cl-adjoin "shuttingDown" names :test #'equal))
              :profiles (authbroker-subscription-profiles subscription))
             (when-let ((last (authbroker-subscription-last subscription))) (list :since last)))
     (lambda (snapshot) (authbroker--begin subscription snapshot again))
     failure)))

(defun authbroker--begin (subscription snapshot again)
  "Note SNAPSHOT, the answer to a request for SUBSCRIPTION; AGAIN: after a loss."
  (let ((resync (eq (plist-get snapshot :resync) t)))
    (setf (authbroker-subscription-id subscription) (plist-get snapshot :subscriptionId)
          (authbroker-subscription-pause subscription) 0.1
          (authbroker-subscription-stopping subscription) nil)
    (unless again (setf (authbroker-subscription-snapshot subscription) snapshot))
    (when (or resync (not (authbroker-subscription-last subscription)))
      (setf (authbroker-subscription-last subscription) (plist-get snapshot :sequence)))
    (when (and resync again)
      (authbroker--deliver subscription (list :sequence (plist-get snapshot :sequence) :event "resync"
                                              :time (format-time-string "%FT%TZ" nil t)
                                              :sessions (plist-get snapshot :sessions))))))

(defun authbroker--take (subscription event)
  "Deliver EVENT to the function of SUBSCRIPTION, if it was asked for."
  (let ((name (plist-get event :event)) (sequence (plist-get event :sequence)))
    (when (integerp sequence)
      (setf (authbroker-subscription-last subscription)
            (max sequence (or (authbroker-subscription-last subscription) 0))))
    (when (equal name "shuttingDown") (setf (authbroker-subscription-stopping subscription) t))
    (when (or (not (equal name "shuttingDown")) (not (authbroker-subscription-events subscription))
              (member name (authbroker-subscription-events subscription)))
      (authbroker--deliver subscription event))))

(defun authbroker--deliver (subscription event)
  "Call the function of SUBSCRIPTION with EVENT; its errors end nothing."
  (unless (authbroker-subscription-closed subscription)
    (with-demoted-errors "AuthBroker: an event's function failed: %S"
      (funcall (authbroker-subscription-function subscription) event))))

(defun authbroker--resume-later (subscription connection)
  "Look for another broker for SUBSCRIPTION, whose CONNECTION has ended.
The pauses between two tries grow up to two seconds."
  (unless (or (authbroker-subscription-closed subscription) (not (authbroker-subscription-id subscription))
              (not (eq connection (authbroker-subscription-connection subscription))))
    (let ((pause (authbroker-subscription-pause subscription)))
      (setf (authbroker-subscription-pause subscription) (min 2 (* 2 pause))
            (authbroker-subscription-timer subscription)
            (run-with-timer pause nil #'authbroker--resume subscription connection)))))

(defun authbroker--resume (subscription connection)
  "Subscribe again for SUBSCRIPTION, whose CONNECTION has ended."
  (unless (authbroker-subscription-closed subscription)
    (authbroker--close connection)
    (condition-case nil
        ;; A failure ends the connection, which looks again.
        (authbroker--subscribe subscription t
                               (lambda (_problem)
                                 (let ((failed (authbroker-subscription-connection subscription)))
                                   (when (jsonrpc-running-p failed)
                                     (delete-process (jsonrpc--process failed))))))
      (authbroker-error (authbroker--resume-later subscription connection)))))

(provide 'authbroker-events)
;;; authbroker-events.el ends here
