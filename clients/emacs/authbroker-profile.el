;;; authbroker-profile.el --- The profile that a person has chosen  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Which profile is meant where a call names none.

;;; Code:

(require 'subr-x)

(defun authbroker--profile (profile)
  "Return PROFILE, else the current one; nil: the broker's own choice.
That is AUTHBROKER_PROFILE, else the one of the command \"profile use\"."
  (let* ((variable (getenv "AUTHBROKER_PROFILE"))
         (absolute (lambda (name) (let ((value (getenv name)))
                                    (and value (file-name-absolute-p value) (not (string-prefix-p "~" value)) value))))
         (base (or (funcall absolute "XDG_CONFIG_HOME")
                   (when-let ((home (funcall absolute "HOME"))) (expand-file-name ".config" home))))
         (file (and base (expand-file-name "authbroker/profile" base))))
    (cond (profile)
          ((and variable (not (string-empty-p variable))) variable)
          ((and file (file-regular-p file) (file-readable-p file))
           (with-temp-buffer
             (insert-file-contents file nil 0 256)
             (let ((line (buffer-substring (point-min) (line-end-position))))
               (unless (string-empty-p line) line)))))))

(provide 'authbroker-profile)
;;; authbroker-profile.el ends here
