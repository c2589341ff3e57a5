package authbroker

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// currentProfile is the given profile, else that of AUTHBROKER_PROFILE, else that of `authbroker profile use`; empty: the
// broker's own choice.
func currentProfile(profile string) string {
	if named := first(profile, os.Getenv("AUTHBROKER_PROFILE")); named != "" {
		return named
	}
	base := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	// A FIFO must not block.
	file, err := os.OpenFile(filepath.Join(base, "authbroker", "profile"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	// The longest name has 64 characters.
	text := make([]byte, 256)
	count, _ := file.Read(text)
	line, _, _ := strings.Cut(string(text[:count]), "\n")
	return strings.TrimSuffix(line, "\r")
}
