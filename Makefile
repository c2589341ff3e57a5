# AuthBroker. `make` alone lists the targets.
#
# Every target installs the Debian packages that it misses (apt-get, with sudo where not root). Swift itself must be there.

# The folder for everything that is built. One outside of the checkout lets that be read-only.
BUILD ?= .build
override BUILD := $(abspath $(BUILD))
export BUILD
PREFIX ?= /usr/local
DESTDIR ?=
# Where other systems have their units and completions; below PREFIX if empty.
SYSTEM_UNITS ?=
ZSH_FUNCTIONS ?=

BIN := $(BUILD)/out/bin
INSTALLATION = DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" BIN="$(BIN)" SYSTEM_UNITS="$(SYSTEM_UNITS)" ZSH_FUNCTIONS="$(ZSH_FUNCTIONS)"
# What Swift's own programs load and link with (https://www.swift.org/install/linux/debian/12/), where a library is missing.
SWIFT_PACKAGES := libncurses6 libxml2 libedit2 libz3-4 libpython3.11 tzdata binutils libgcc-12-dev libstdc++-12-dev
BUILD_PACKAGES := g++ libc6-dev pkg-config=pkg-config libsodium-dev libsqlite3-dev libcurl4-openssl-dev
TEST_PACKAGES := systemd-socket-activate=systemd python3=python3 python3-venv openssl=openssl ca-certificates sqlite3=sqlite3 zsh=zsh git=git \
  strace=strace oathtool=oathtool zbarimg=zbar-tools python3-jwt python3-cryptography node=nodejs go=golang-go emacs=emacs-nox nvim=neovim \
  bwrap=bubblewrap postgresql pgbouncer=pgbouncer
SCRIPT_PACKAGES := python3=python3 shellcheck=shellcheck mandoc=mandoc man=man-db
DEB_PACKAGES := debhelper dpkg-dev binutils git=git python3=python3
LAYOUT_PACKAGES := valgrind=valgrind gcc libc6-dev python3=python3 binutils
LIFE_PACKAGES := lintian=lintian mmdebstrap=mmdebstrap systemd-analyze=systemd
BROWSER_PACKAGES := chromium=chromium
CLIENT_PACKAGES := python3=python3 python3-venv node=nodejs npm=npm tsc=node-typescript
SHELL_PACKAGES := python3=python3 bash-completion zsh=zsh fish=fish
PEER_PACKAGES := oidc-agent-cli openssh-client git=git gnome-keyring libsecret-tools dbus openssl=openssl
DOOR_PACKAGES := python3=python3 python3-venv nginx-light libnginx-mod-http-brotli-filter apache2-bin haproxy wrk slowhttptest curl=curl \
  git=git gh=gh libapache2-mod-oauth2 setpriv=util-linux openssl=openssl
FLEET_PACKAGES := python3=python3 setpriv=util-linux ip=iproute2 cc=gcc libc6-dev openssl=openssl postgresql pgbouncer=pgbouncer patroni=patroni \
  etcd=etcd-server
EDITOR_PACKAGES := emacs=emacs-nox nvim=neovim vim=vim python3=python3

# One recipe at a time: two builds in one scratch folder only wait for each other.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help build release layout demo test test-fresh test-full test-attacks test-editors test-shell test-clients test-rest-server \
  test-oidc-server test-mail-server test-providers test-machines test-browser test-sanitize rest-server oidc-server lint schemas docs bench bench-scaling \
  install uninstall deb dist test-package test-dist need-programs clean need-swift need-build test-packages list-packages \
  test-tools test-completions test-counts test-waits test-fleet test-sockets test-sandbox test-systemd test-hooks test-doors test-queue

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | while IFS="$$(printf '\t')" read -r name what; do \
	  printf '  make %-17s %s\n' "$$name" "$$what"; done

build: need-build ## Build everything for debugging
	.ci/swift build --build-tests --explicit-target-dependency-import-check error

release: need-build ## Build both programs for release (BUILD=/a/folder: with all that is built there, not in .build)
	@.ci/build-release

layout: need-build ## Build them laid out by what they run, as packages and figures have them (minutes more, the first time)
	@.ci/require-packages $(LAYOUT_PACKAGES)
	@.ci/lay-out

demo: need-build ## Show the whole life of a session in a terminal, with no network (the first time after some minutes)
	@[ -x "$(BIN)/authbrokerd" ] || echo "First both programs are compiled for release: some 5 minutes on two cores, once."
	@.ci/build-release
	@.ci/demo

test: test-packages ## Run the tests that every change must pass (minutes)
	@Tests/Servers/OIDCServer/oidc-server --install
	@Tests/Servers/MailServer/mail-server --install
	@for prepare in Tests/Drivers/Clients/*/prepare; do [ ! -e "$$prepare" ] || "$$prepare" || exit 1; done
	@.ci/swift-test --skip AttackTests

# What `make test` needs, installed; and the names of it (.ci/run).
test-packages: need-build
	@.ci/require-packages $(TEST_PACKAGES)

list-packages:
	@echo $(SWIFT_PACKAGES) $(BUILD_PACKAGES) $(TEST_PACKAGES)

test-full: test test-attacks test-editors test-shell test-clients test-rest-server test-oidc-server test-mail-server test-providers test-machines test-browser test-package test-dist test-tools test-completions test-counts test-waits test-fleet test-sockets test-sandbox test-systemd test-hooks test-doors test-queue ## Run the tests, the attacks, the editors and every other outside program

test-fresh: need-swift ## Do what README says in a fresh Debian 12, twice (as root; TARGETS="lint docs": those, each in a root of its own)
	@.ci/require-packages mmdebstrap=mmdebstrap git=git
	@.ci/test-fresh $(TARGETS)

test-attacks: release ## Attack the release build, kill it, damage vaults, and use its command; prints what others notice (minutes)
	@.ci/require-packages $(TEST_PACKAGES)
	@TEST_PROGRAMS="$(BIN)" AUTHBROKER_DAMAGES=10000 AUTHBROKER_KILLS=100 AUTHBROKER_LIVES=76 AUTHBROKER_START_FAULTS=500 \
	  .ci/swift-test --filter "StartFaultTests|CountTests|AttackTests|CallerStormTests|CrashTests|VaultDamageTests"
	@.ci/test-client

test-counts: layout ## Compare what a cached token costs with the last release: instructions, allocations, pages, sizes
	@.ci/require-packages gcc libc6-dev python3=python3
	@Tests/Drivers/Counts/run "$(BIN)/authbroker" "$(BIN)/authbrokerd"
	@Tests/Drivers/Counts/rules "$(BIN)/authbrokerd"

test-waits: need-build ## Stop, freeze and disturb the broker while refreshes wait; WAITS="--runs N" for more (minutes)
	@.ci/require-packages python3=python3 gcc libc6-dev
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Waits/run "$(BUILD)/debug" $(WAITS)

test-fleet: release ## Put the members of a fleet through crashes, failovers, impostors and wrong clocks; the ledger judges; FLEET="chaos --members N" for some (some 20 minutes)
	@.ci/require-packages $(FLEET_PACKAGES)
	@Tests/Drivers/Fleet/run "$(BIN)" $(FLEET)

test-sockets: need-build ## Let clients of user namespaces, over ssh and of a container ask by limited sockets (as root: all of them)
	@.ci/require-packages python3=python3 setpriv=util-linux sshd=openssh-server ssh=openssh-client
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Sockets/run "$(BUILD)/debug"

test-sandbox: need-build ## Let a program in a sandbox try everything to get at a token
	@.ci/require-packages python3=python3 setpriv=util-linux bwrap=bubblewrap curl=curl
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Sandbox/run "$(BUILD)/debug"

test-systemd: need-build ## Let units of a real systemd ask, in a Debian that is booted as a container (as root)
	@.ci/require-packages mmdebstrap=mmdebstrap systemd-nspawn=systemd-container
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Systemd/run "$(BUILD)/debug"

test-hooks: need-build ## Run the hooks of the guide, and what asks the owner, with the programs that they name
	@.ci/require-packages python3-dbus python3-gi dbus-run-session=dbus notify-send=libnotify-bin curl=curl \
	  jq=jq zenity=zenity Xvfb=xvfb xdotool=xdotool
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@dbus-run-session -- Tests/Drivers/Hooks/run "$(BUILD)/debug"

test-doors: release ## Put nginx, Apache, haproxy, wrk and real clients around doors (SCENES="smuggling programs")
	@.ci/require-packages $(DOOR_PACKAGES)
	@Tests/Drivers/Doors/run "$(BIN)" $(SCENES)

test-queue: need-build ## Kill a broker hundreds of times while it sends what is queued (QUEUE="--kills 2000 --seed 1")
	@.ci/require-packages python3=python3 strace=strace
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Queue/run "$(BUILD)/debug" $(QUEUE)

test-editors: need-build ## Let Emacs, Neovim and Vim drive the broker
	@.ci/require-packages $(EDITOR_PACKAGES)
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Editors/run "$(BUILD)/debug"

test-completions: need-build ## Let bash, zsh and fish complete command lines
	@.ci/require-packages $(SHELL_PACKAGES)
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Completions/run "$(BUILD)/debug"

test-shell: ## Check the shell client with ShellCheck
	@.ci/require-packages $(SCRIPT_PACKAGES)
	@if [ -e clients/shell/authbroker.sh ]; then shellcheck --shell=sh clients/shell/authbroker.sh; fi

test-clients: need-build ## Test the client packages in their own languages, installed as users install them
	@.ci/require-packages $(TEST_PACKAGES) $(CLIENT_PACKAGES)
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Clients/test "$(BUILD)/debug"

test-rest-server: ## Test the REST backend that misbehaves for the tests
	@.ci/require-packages $(TEST_PACKAGES)
	@Tests/Servers/RESTServer/selftest

rest-server: ## Run that backend by hand, with demo accounts (ARGUMENTS="--tls --shape oauth")
	@.ci/require-packages $(TEST_PACKAGES)
	@Tests/Servers/RESTServer/rest-server --stay --guide $(ARGUMENTS)

test-oidc-server: ## Test the OpenID Connect server of the tests
	@.ci/require-packages $(TEST_PACKAGES)
	@Tests/Servers/OIDCServer/selftest

test-mail-server: ## Test the mail server of the tests
	@.ci/require-packages $(TEST_PACKAGES)
	@Tests/Servers/MailServer/selftest

test-providers: need-build ## Play one scenario on every provider: only the line that names it changes
	@.ci/require-packages $(TEST_PACKAGES)
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Scenario/run "$(BUILD)/debug"

test-machines: need-build ## Let the broker get tokens where no one logs in, at real servers (NAMES="assertions grants")
	@.ci/require-packages $(TEST_PACKAGES)
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Machines/run "$(BUILD)/debug" $(NAMES)

test-tools: need-build ## Let git, docker, kubectl, cargo and other tools use their helpers (NAMES="git cargo")
	@.ci/require-packages $(TEST_PACKAGES)
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Tools/run "$(BUILD)/debug" $(NAMES)

test-browser: need-build ## Let a real browser log in at a real OpenID Connect server
	@.ci/require-packages $(TEST_PACKAGES) $(BROWSER_PACKAGES)
	@.ci/swift build --explicit-target-dependency-import-check error --product authbrokerd
	@.ci/swift build --explicit-target-dependency-import-check error --product authbroker
	@Tests/Drivers/Browser/run "$(BUILD)/debug"

oidc-server: ## Run that server by hand, with demo accounts (ARGUMENTS="--tls")
	@.ci/require-packages $(TEST_PACKAGES)
	@Tests/Servers/OIDCServer/oidc-server --stay --guide $(ARGUMENTS)

test-sanitize: need-build ## Run the tests under ThreadSanitizer, then AddressSanitizer
	@.ci/require-packages $(TEST_PACKAGES)
	@Tests/Servers/OIDCServer/oidc-server --install
	@Tests/Servers/MailServer/mail-server --install
	@.ci/sanitize

lint: need-build ## Judge format, layers, imports, documentation and scripts
	@.ci/require-packages $(SCRIPT_PACKAGES)
	@.ci/lint

schemas: need-build ## Write Schemas/openrpc.json from the types of the protocol, and authbroker(5) from the configuration's
	@.ci/require-packages $(TEST_PACKAGES)
	@AUTHBROKER_WRITE_SCHEMAS=1 .ci/swift-test --filter OpenRPCDocumentTests
	@.ci/manual

docs: need-swift ## Build the pages of the documentation into docs of the build folder; fails on a dead link
	@.ci/require-packages python3=python3
	@.ci/docs

bench: layout ## Measure the release build next to C floors, PEERS=1: and other agents (reports, never fails on a time)
	@.ci/require-packages gcc libc6-dev $(SCRIPT_PACKAGES) $(if $(PEERS),$(PEER_PACKAGES))
	@Tests/Drivers/Benchmarks/bench "$(BIN)" $(if $(PEERS),--peers)
	@Tests/Drivers/Benchmarks/http

bench-scaling: layout ## Measure how figures grow with profiles, connections, subscribers and refreshes, and draw them (minutes)
	@.ci/require-packages gcc libc6-dev $(SCRIPT_PACKAGES)
	@Tests/Drivers/Benchmarks/bench "$(BIN)" --scaling Sources/Command/authbroker/AuthBroker.docc/Resources

install: need-programs ## Install what `make release` has built under PREFIX (/usr/local), below DESTDIR if given
	@$(INSTALLATION) .ci/install install

uninstall: ## Remove what `make install` has installed under the same PREFIX and DESTDIR
	@$(INSTALLATION) .ci/install uninstall

deb: need-programs ## Make a Debian package in deb of the build folder, from what `make layout` (or `make release`) has built
	@.ci/require-packages $(DEB_PACKAGES)
	@.ci/deb/build

dist: need-programs ## Make a source archive, the package, a bill of materials and checksums in dist of the build folder
	@.ci/require-packages $(DEB_PACKAGES)
	@.ci/dist

test-package: layout ## Judge, install, use and remove the Debian package in a fresh Debian 12, units included (as root)
	@.ci/require-packages $(DEB_PACKAGES) $(LIFE_PACKAGES) $(TEST_PACKAGES)
	@Tests/Drivers/Package/run "$$(.ci/deb/build)"

test-dist: layout ## Make everything that `make dist` makes twice, and compare the bytes
	@.ci/require-packages $(DEB_PACKAGES)
	@.ci/dist --twice

clean: ## Remove what was built
	@[ "$(BUILD)" = "$(CURDIR)/.build" ] || [ -d "$(BUILD)/tmp" -a -n "$$(find "$(BUILD)" -maxdepth 2 -name workspace-state.json)" ] || { \
	  echo "$(BUILD) is no folder that was built in; it stays." >&2; exit 1; }
	rm -rf "$(BUILD)"

need-swift:
	@command -v swift >/dev/null 2>&1 || { \
	  echo "Swift is not on the PATH. AuthBroker needs Swift 6.2 or later: https://www.swift.org/install/linux/" >&2; exit 1; }

# Building belongs to the user, installing often to root: a build under sudo would leave root's files in the build folder.
need-programs:
	@[ -x "$(BIN)/authbroker" ] && [ -x "$(BIN)/authbrokerd" ] || { \
	  echo "There is nothing to install yet. Build it first, without sudo: make release" >&2; exit 1; }

need-build: need-swift
	@.ci/require-packages $(BUILD_PACKAGES)
	@.ci/require-swift $(SWIFT_PACKAGES)
