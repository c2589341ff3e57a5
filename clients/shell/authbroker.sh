#!/bin/sh
# authbroker.sh: fresh access tokens for shell scripts, in POSIX sh.
#
# Run it:     authbroker.sh token
# Source it:  . authbroker.sh; curl --header "$(authbroker_header)" https://api.example.com/
#
#   token [--profile NAME | --url ADDRESS] [--min-validity SECONDS] [--scope SCOPE]... [--audience NAME] [--force-refresh]
#       ADDRESS is that of a server: the section targets of the configuration says whose token it gets
#   header  as token: `Authorization: Bearer TOKEN`, Basic where the target says so, or the header of a static profile
#   with-token [as token] -- COMMAND [ARGUMENT]...   runs COMMAND, a function too, with that header as its input; where
#       it ends with 41 (HTTP status 401) the token is reported as refused, and COMMAND is run once more with another one.
#       It may write the answer's header WWW-Authenticate to descriptor 9; with that 43 (HTTP status 403) is such an end, too
#   login [--profile NAME] [--email ADDRESS | --phone NUMBER] [--password-stdin]
#   login [--profile NAME] --method deviceCode|browser|clientCredentials   says what to open, and waits; Ctrl-C cancels
#   verify-otp [FLOW] [--profile NAME] [--code-stdin]   FLOW may be left out where one login waits on the profile
#   logout [--profile NAME] [--everywhere] [--all]; status [--json]
#   lock; unlock [--password-stdin]   asks only where the vault has a passphrase
#   watch [--profile NAME] [--since N] [--count N]   events as lines of JSON
#
# It calls the broker through `authbroker call`, which starts one where there is none. AUTHBROKER_COMMAND names that
# program; AUTHBROKER_STATE, AUTHBROKER_CONFIG, AUTHBROKER_SOCKET and AUTHBROKER_PROFILE mean what they mean to it.
#
# Secrets are read without echo and go through pipes only: never into an argument, the environment or a file. Every
# function runs in a subshell with tracing off, so that `set -x` shows none and no variable stays behind. It is one file
# because it is copied and sourced as one; it needs POSIX utilities and that program, nothing else.
#
# Exit codes: 0 done, 2 usage, 3 login required or code pending, 4 wrong credentials, code or passphrase, 5 provider or
# network unavailable, 6 access denied, 7 vault locked or damaged, 8 broker not reachable, 1 anything else.

# Reads JSON and prints the value at a path such as result.sessions.0.state: a string without its quotes and escapes,
# anything else that has no members as it stands. Exit code 1: there is no such value.
authbroker__member() {
  # C: bytes, whatever the user's locale is.
  LC_ALL=C awk -v want="$1" '
    { text = text $0 "\n" }; END { position = 1; missing = 1; value(""); exit missing }
    function blanks() { while (position <= length(text) && index(" \t\r\n", substr(text, position, 1))) position++ }
    function hexadecimal(digits,    i, n) {
      for (i = 1; i <= 4; i++) n = n * 16 + index("0123456789abcdef", tolower(substr(digits, i, 1))) - 1; return n }
    function utf8(n) {
      if (n < 128) return sprintf("%c", n); if (n < 2048) return sprintf("%c%c", 192 + int(n / 64), 128 + n % 64)
      if (n < 65536) return sprintf("%c%c%c", 224 + int(n / 4096), 128 + int(n / 64) % 64, 128 + n % 64)
      return sprintf("%c%c%c%c", 240 + int(n / 262144), 128 + int(n / 4096) % 64, 128 + int(n / 64) % 64, 128 + n % 64)
    }
    function escaped(    c, n) {
      c = substr(text, position++, 1)
      if (n = index("ntrbf", c)) return substr("\n\t\r\b\f", n, 1); if (c != "u") return c
      n = hexadecimal(substr(text, position, 4)); position += 4
      if (n < 55296 || n >= 56320) return utf8(n)
      position += 6; return utf8(65536 + (n - 55296) * 1024 + hexadecimal(substr(text, position - 4, 4)) - 56320)
    }
    function string(    c, s) {
      position++; s = ""
      while (position <= length(text) && (c = substr(text, position++, 1)) != "\"") s = s (c == "\\" ? escaped() : c)
      return s
    }
    function value(path,    c, s) {
      blanks(); c = substr(text, position, 1)
      if (c == "{" || c == "[") { members(path, c); return }
      s = ""; if (c == "\"") s = string()
      else for (; c != "" && !index(",]} \t\r\n", c); c = substr(text, ++position, 1)) s = s c
      if (path == want) { print s; missing = 0; exit 0 }
    }
    function members(path, open,    c, n, name) {
      n = 0; position++; blanks(); c = substr(text, position, 1)
      if (c == "}" || c == "]") { position++; return }
      do { blanks(); name = n++
        if (open == "{") { name = string(); blanks(); position++ }
        value(path == "" ? name : path "." name)
        blanks(); c = substr(text, position++, 1)
      } while (c == ",")
    }'
}
# Reads text and prints it as a JSON string. What is not UTF-8 the broker refuses.
authbroker__quote() {
  LC_ALL=C awk '
    BEGIN { for (i = 1; i < 32; i++) escape[sprintf("%c", i)] = sprintf("\\u%04x", i)
      escape[sprintf("%c", 127)] = "\\u007f"; escape["\""] = "\\\""; escape["\\"] = "\\\\"; printf "\"" }
    NR > 1 { printf "\\n" }
    { for (i = 1; i <= length($0); i++) { c = substr($0, i, 1); printf "%s", (c in escape) ? escape[c] : c } }
    END { printf "\"" }'
}

authbroker__say() { printf 'authbroker.sh: %s\n' "$1" >&2; }
# 8 where there is no such program.
authbroker__find() {
  command -v "${AUTHBROKER_COMMAND:=authbroker}" >/dev/null ||
    { authbroker__say "there is no program $AUTHBROKER_COMMAND; set AUTHBROKER_COMMAND to its path"; return 8; }
}
# Answers a request ($1 and $2 as of authbroker__request) by the program, which proves access to the state directory, waits
# a minute at most and keeps no events; what it says on standard error is in the answer as well.
authbroker__connect() {
  authbroker__find || return
  authbroker__wrap "$(printf '{%s}' "${2#,}" | "$AUTHBROKER_COMMAND" call --json "$1" - 2>/dev/null)"
}
# Prints what the program says with --json ($1) as an answer.
authbroker__wrap() {
  case $1 in '' | '{"error":'*) printf '%s\n' "$1" ;; *) printf '{"result":%s}\n' "$1" ;; esac
}
# Asks for the token of an address, and the header that carries it, by the options that were given; `answer` has both.
authbroker__address() {
  [ -z "$profile" ] || { authbroker__say "--profile and --url exclude each other"; return 2; }
  authbroker__find || return
  # Each option apart from its value: zsh splits no words.
  answer=$("$AUTHBROKER_COMMAND" header --json --url "$url" ${minimum:+--min-validity} ${minimum:+"$minimum"} \
    ${audience:+--audience} ${audience:+"$audience"} ${words:+--scope} ${words:+"$words"} ${force:+--force-refresh} 2>/dev/null)
  [ -n "$answer" ] || { authbroker__say "the broker did not answer"; return 8; }
  answer=$(authbroker__wrap "$answer"); authbroker__check "$answer"
}
# Prints the request of a method ($1) with the members of its params ($2, each behind a comma).
authbroker__request() { printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":{%s}}\n' "$1" "${2#,}"; }
# Prints `"NAME":VALUE` behind a comma, unless the value is empty. printf is built in: no program gets it as an argument.
authbroker__text() { [ -z "$2" ] || printf ',"%s":%s' "$1" "$(printf '%s' "$2" | authbroker__quote)"; }
# Prints a line ($1) as the result of a command.
authbroker__print() { printf '%s\n' "$1" 2>/dev/null || { authbroker__say "standard output cannot be written"; return 1; }; }
# Prints a member ($2) of an answer ($1) for a person; fails if there is none.
authbroker__words() {
  authbroker__word=$(printf '%s\n' "$1" | authbroker__member "$2") || return
  # What a terminal obeys or hides, in UTF-8: control characters, format characters and separators of lines.
  printf '%s' "$authbroker__word" | tr -d '\000-\037\177' | LC_ALL=C awk '{
    gsub(/\302[\200-\237\255]|\330[\200-\205\234]|\333\235|\334\217|\341\240\216|\342\200[\213-\217\250-\256]/, "?")
    gsub(/\342\201[\240-\257]|\357\273\277|\357\277[\271-\273]|\363\240[\200\201][\200-\277]/, "?"); print }'
}
# The exit code for the code of an error.
authbroker__exit_code() {
  case $1 in
    [1-9]) echo "$1" ;;
    1001 | 1002 | 1003 | 1005 | 1024) echo 3 ;; 1020 | 1022 | 1023 | 1025 | 1027 | 1028 | 1029 | 1061) echo 4 ;;
    1004 | 104[0-7] | 1087) echo 5 ;; 1048 | 1049 | 1081 | 1082) echo 6 ;;
    1060 | 106[2-4]) echo 7 ;; 1084) echo 8 ;;
    -32[67]0[0-2] | -32700 | 1021 | 1080) echo 2 ;; *) echo 1 ;;
  esac
}
# Reports the error of an answer, its code in `authbroker__code`, and what to do. 1044:fixConfig is no outage: 1.
authbroker__check() {
  authbroker__code=$(authbroker__words "$1" error.code) || return 0
  authbroker__say "$(authbroker__words "$1" error.message | LC_ALL=C awk '
    { sub(/\.$/, "") } /^[A-Z][a-z-]*( |$)/ && !/^(Firebase|Google|Keycloak|Linux|Microsoft) / { $0 = tolower(substr($0, 1, 1)) substr($0, 2) }
    { print }')"
  authbroker__left=$(authbroker__words "$1" error.data.attemptsRemaining) &&
    authbroker__say "attempts left: $authbroker__left"
  authbroker__profile=$(authbroker__words "$1" error.data.profile) && [ "$authbroker__profile" != default ] &&
    authbroker__profile=" --profile $authbroker__profile" || authbroker__profile=''
  authbroker__next=$(authbroker__words "$1" error.data.nextAction) || :
  case $(authbroker__words "$1" error.data.kind):$authbroker__next in
    otpInvalid:* | invalidCredentials:*) ;;
    invalidResponse:* | tlsFailed:* | tlsPinMismatch:* | providerRejected:*)
      authbroker__say "see what is wrong with: authbroker provider-check$authbroker__profile"
      [ "$authbroker__code:$authbroker__next" != 1044:fixConfig ] || return 1 ;;
    vaultTampered:* | storeFailed:* | keySourceUnavailable:*) authbroker__say "see: authbroker doctor" ;;
    unknownTarget:*) authbroker__say "add it with: authbroker target add ${url:-ADDRESS}" ;;
    *:login | *:reauthenticate) authbroker__say "log in with: authbroker.sh login$authbroker__profile" ;;
    challengePending:* | *:verifyOtp)
      authbroker__flow=$(authbroker__words "$1" error.data.challenge.otpFlowId) || authbroker__flow=FLOW
      authbroker__say "answer it with: authbroker.sh verify-otp $authbroker__flow" ;;
    *:unlock) authbroker__say "unlock it with: authbroker.sh unlock" ;;
    *:fixConfig) authbroker__say "see: authbroker config check" ;;
    *:wait | *:retry) authbroker__left=$(authbroker__words "$1" error.data.retryAfterSeconds)
      authbroker__say "try again ${authbroker__left:+in }${authbroker__left:-later}${authbroker__left:+ s}" ;;
  esac
  return "$(authbroker__exit_code "$authbroker__code")"
}
# Sends a request ($1 and $2 as of authbroker__request) and prints the answer, a result or an error.
authbroker__send() {
  authbroker__answer=$(authbroker__request "$@" | authbroker__connect "$@") || return
  [ -n "$authbroker__answer" ] || { authbroker__say "the broker did not answer"; return 8; }
  printf '%s\n' "$authbroker__answer"
}
# As authbroker__send, but prints the answer only if it is a result.
authbroker__call() {
  authbroker__answer=$(authbroker__send "$@") && authbroker__check "$authbroker__answer" || return
  printf '%s\n' "$authbroker__answer"
}
# Fails unless a value ($2) of an option ($1) is a whole number as JSON has it, which every program can count.
authbroker__whole() {
  case $2 in '' | *[!0-9]* | 0?*) authbroker__say "$1 needs a whole number without leading zeros"; return 2 ;; esac
  # What every shell can count; the protocol's own bound of durations is ten years.
  { [ "${#2}" -le 15 ] && { [ "$1" != --min-validity ] || [ "$2" -le 315360000 ]; }; } ||
    { authbroker__say "$1 needs a smaller number (a time: up to 315360000 seconds)"; return 2; }
}
# Takes a command's options apart into variables of the subshell that it runs in. $1: the names that the command has,
# behind them one word for each operand that it takes; $2...: the command line.
authbroker__options() {
  authbroker__known=" $1 "; shift
  profile='' minimum='' scopes='' audience='' force='' email='' stdin='' method='' everywhere='' all='' json='' since=''
  count='' operand='' phone='' account='' url='' words='' rest=0
  while [ "$#" -gt 0 ]; do
    # The value apart from the name, and so in no message: it may be a secret.
    case $1 in --*=*) authbroker__word=$1; shift; set -- "${authbroker__word%%=*}" "${authbroker__word#*=}" "$@" ;; esac
    case $1${authbroker__known#*" $1 "} in -*"$authbroker__known") authbroker__say "unknown option $1"; return 2 ;; esac
    [ "$1" != -- ] || { rest=$(($# - 1)); return 0; }
    case $1 in
      --profile | --url | --min-validity | --scope | --audience | --email | --phone | --method | --since | --count)
        { [ "$#" -gt 1 ] && [ -n "$2" ]; } || { authbroker__say "$1 needs a value"; return 2; }
        case $1 in --min-validity | --since | --count) authbroker__whole "$1" "$2" || return ;; esac
        case $1 in
          --min-validity) minimum=$2 ;; --profile) profile=$2 ;; --audience) audience=$2 ;; --email) email=$2 ;;
          --method) method=$2 ;; --phone) phone=$2 ;; --url) url=$2 ;; --since) since=$2 ;; --count) count=$2 ;;
          --scope) words="$words${words:+ }$2" scopes="$scopes,$(printf '%s' "$2" | authbroker__quote)" ;;
        esac
        shift ;;
      --force-refresh) force=true ;; --password-stdin | --code-stdin) stdin=true ;;
      --everywhere) everywhere=true ;; --all) all=true ;; --json) json=true ;;
      '') authbroker__say "an argument is empty"; return 2 ;;
      *)
        case $authbroker__known$operand in *" FLOW ") operand=$1 ;; *) authbroker__say "unexpected argument"; return 2 ;; esac ;;
    esac
    shift
  done
}
# Sets the profile to the current one where none was named: that of AUTHBROKER_PROFILE, else of `authbroker profile use`.
authbroker__current() {
  profile=${profile:-${AUTHBROKER_PROFILE-}}
  case $profile:${XDG_CONFIG_HOME-}:${HOME-} in
    :/*) authbroker__file=$XDG_CONFIG_HOME/authbroker/profile ;; :*:/*) authbroker__file=$HOME/.config/authbroker/profile ;;
    *) return 0 ;;
  esac
  [ -f "$authbroker__file" ] && [ -r "$authbroker__file" ] || return 0
  IFS= read -r profile <"$authbroker__file" || :
  profile=${profile%"$(printf '\r')"}
}
# Asks ($1) at the terminal without echo, or reads a line of standard input, into the variable `secret`.
authbroker__secret() {
  if [ -n "$stdin" ]; then
    IFS= read -r secret || [ -n "$secret" ] || { authbroker__say "standard input has no line to read"; return 2; }
    # The end of a line that was written on Windows.
    secret=${secret%"$(printf '\r')"}
    [ -n "$secret" ] || { authbroker__say "the secret is empty"; return 2; }
    return 0
  fi
  [ -t 0 ] || { authbroker__say "there is no terminal to ask at; use --password-stdin or --code-stdin"; return 2; }
  authbroker__settings=$(stty -g </dev/tty) || return 1
  trap 'stty "$authbroker__settings" </dev/tty; exit 130' INT TERM HUP
  stty -echo </dev/tty; printf '%s' "$1" >/dev/tty
  IFS= read -r secret </dev/tty; authbroker__read=$?
  stty "$authbroker__settings" </dev/tty
  trap - INT TERM HUP; printf '\n' >/dev/tty
  [ "$authbroker__read" -eq 0 ] && [ -n "$secret" ] && return 0
  authbroker__say "nothing was entered; nothing was sent"; return 1
}
# Answers a challenge: says where the code went, asks for it, and asks again while it is wrong and may be tried again.
authbroker__answer_challenge() {
  flow=$(authbroker__words "$1" result.challenge.otpFlowId) || return 1
  authbroker__sent=$(authbroker__words "$1" result.challenge.maskedDestination)
  authbroker__say "${authbroker__sent:+sent a code to }${authbroker__sent:-enter the code of your authenticator}"
  { [ -z "$stdin" ] && [ -t 0 ]; } || { authbroker__say "answer with: authbroker.sh verify-otp $flow --code-stdin"; return 3; }
  while :; do
    authbroker__secret 'Code: ' || return
    authbroker__members=$(authbroker__text otpFlowId "$flow")$(authbroker__text code "$secret")
    authbroker__verified=$(authbroker__send verifyOtp "$authbroker__members") || return
    authbroker__check "$authbroker__verified" && { authbroker__finish "$authbroker__verified"; return; }
    # otpInvalid: any other refusal has ended the challenge.
    authbroker__status=$?; [ "$authbroker__code" = 1022 ] || return "$authbroker__status"
  done
}
# Shows the user action of a login and waits until it is done: by short requests, so that signals are handled, and
# across restarts of the broker, at most three in a row.
authbroker__await() {
  authbroker__login=$(authbroker__text loginFlowId "$(authbroker__words "$1" result.action.loginFlowId)")
  authbroker__note=$(authbroker__words "$1" result.action.userCode) && authbroker__note=" and enter the code $authbroker__note"
  authbroker__say "open $(authbroker__words "$1" result.action.verificationUri)$authbroker__note"
  trap 'authbroker__call cancelLogin "$authbroker__login" >/dev/null && authbroker__say "the login was cancelled"
    exit 130' INT TERM HUP
  authbroker__losses=0
  until [ "$authbroker__losses" -ge 3 ]; do
    authbroker__status=0
    authbroker__result=$(authbroker__send awaitLogin "$authbroker__login,\"timeoutSeconds\":5") || authbroker__status=$?
    # 8: the broker has ended; 1087 (deadlineExceeded): not yet.
    case $authbroker__status:$(authbroker__words "$authbroker__result" error.code) in
      8:* | *:8) authbroker__losses=$((authbroker__losses + 1)) ;;
      *:1087) authbroker__losses=0 ;;
      *) break ;;
    esac
  done
  trap - INT TERM HUP
  [ "$authbroker__status" -eq 0 ] || return "$authbroker__status"
  authbroker__check "$authbroker__result" && authbroker__finish "$authbroker__result"
}
# Reports the result of a login, or goes on with what it requires.
authbroker__finish() {
  case $(authbroker__words "$1" result.status) in
    authenticated) authbroker__say "logged in to $(authbroker__words "$1" result.session.profile)" ;;
    otpRequired) authbroker__answer_challenge "$1" ;;
    userActionRequired) authbroker__await "$1" ;;
    *) authbroker__say "the e-mail address must be verified first"; return 3 ;;
  esac
}
# Asks for a token by a command line ($2...), with $1 as the command's own option; the variable `answer` has it, `purpose`
# what it is for.
authbroker__ask_token() {
  authbroker__option=$1; shift
  authbroker__options "--profile --url --min-validity --scope --audience --force-refresh $authbroker__option" "$@" || return
  purpose=$(authbroker__text audience "$audience")${scopes:+,\"scopes\":[${scopes#,}]}
  [ -z "$url" ] || { authbroker__address; return; }
  authbroker__current
  members=${minimum:+,\"minValiditySeconds\":$minimum}${force:+,\"forceRefresh\":true}
  answer=$(authbroker__call getAccessToken "$(authbroker__text profile "$profile")$purpose$members")
}
# Prints a member ($1) of `answer`, the token or what carries it, behind a text ($2).
authbroker__token_of() {
  token=$(printf '%s\n' "$answer" | authbroker__member "result.$1") ||
    { authbroker__say "the answer has no $1; the program may be of another version"; return 1; }
  printf '%s%s\n' "$2" "$token"
}
# Prints the header that carries the token of `answer`: for an address as its target says, a secret of the configuration as
# that says.
authbroker__header_of() {
  authbroker__field=$(authbroker__words "$answer" result.header) || authbroker__field=''
  if [ -n "$url" ]; then
    [ "$(authbroker__words "$answer" result.target.scheme)" != Basic ] || authbroker__field=''
    authbroker__token_of authorization "${authbroker__field:-Authorization}: "
    return
  fi
  case $authbroker__field in
    '') authbroker__scheme=Bearer ;;
    Authorization) authbroker__scheme=$(authbroker__words "$answer" result.tokenType) || authbroker__scheme='' ;;
    *) authbroker__scheme='' ;;
  esac
  authbroker__token_of accessToken "${authbroker__field:-Authorization}: ${authbroker__scheme:+$authbroker__scheme }"
}
# Prints a valid access token.
authbroker_token() (
  { set +x; } 2>/dev/null
  authbroker__ask_token '' "$@" && token=$(authbroker__token_of accessToken '') && authbroker__print "$token"
)
# Prints the HTTP header that carries the token.
authbroker_header() (
  { set +x; } 2>/dev/null
  authbroker__ask_token '' "$@" && header=$(authbroker__header_of) && authbroker__print "$header"
)
# Runs a command with the header that carries the token as its input. Where it says by 41 that the token was refused, or by 43
# and a challenge that more scopes are wanted, that is reported, and it is run once more where there is another token.
authbroker_with_token() (
  { set +x; } 2>/dev/null; authbroker__ask_token -- "$@" || exit
  [ "$rest" -gt 0 ] || { authbroker__say "missing argument COMMAND; usage: with-token [OPTION]... -- COMMAND"; exit 2; }
  shift "$(($# - rest))"
  exec 8>&1
  for tries in 2 1; do
    header=$(authbroker__header_of) || exit
    challenge=$(printf '%s\n' "$header" | "$@" 9>&1 >&8 8>&-); code=$?
    # A longer one is none (ParameterLength): what it wants cannot be told from its beginning.
    [ "${#challenge}" -le 8192 ] || challenge=''
    case $code:$tries:$challenge in 41:2:*) forbidden='' ;; 43:2:?*) forbidden=',"status":403' ;; *) exit "$code" ;; esac
    id=$(authbroker__words "$answer" result.tokenId)
    members=$(authbroker__text profile "$(authbroker__words "$answer" result.profile)")$(authbroker__text tokenId "$id")
    members=$members$purpose$(authbroker__text challenge "$challenge")$forbidden
    answer=$(authbroker__call reportRejected "$members") || exit
    [ "$(authbroker__words "$answer" result.tokenId)" != "$id" ] || exit "$code"
    # What was forced has been done.
    [ -z "$url" ] || { force=''; authbroker__address || exit; }
  done
)
# Asks for the account, which $1 names it by, and the password, as far as they are not given; prints them as members.
authbroker__credentials() {
  if [ -z "$email$phone" ]; then
    [ -t 0 ] || { authbroker__say "there is no terminal to ask at; give --email or --phone"; return 2; }
    case $1 in phoneNumber) question='phone number' ;; *) question='e-mail address' ;; esac
    printf 'Your %s: ' "$question" >/dev/tty
    { IFS= read -r account </dev/tty && [ -n "$account" ]; } ||
      { printf '\n' >/dev/tty; authbroker__say "no $question was entered; nothing was sent"; return 1; }
    case $1 in phoneNumber) phone=$account ;; *) email=$account ;; esac
  fi
  authbroker__secret 'Password: ' || return
  authbroker__text email "$email"; authbroker__text phoneNumber "$phone"; authbroker__text password "$secret"
}
# Logs in by the first way of the profile that needs nothing, else by password, or in the given way.
authbroker_login() (
  { set +x; } 2>/dev/null; authbroker__options '--profile --email --phone --password-stdin --method' "$@" || exit
  authbroker__current
  [ -z "$email$phone$stdin" ] || method=${method:-password}
  case $email$phone$method in '' | password)
    way=0 answer=$(authbroker__call getSession "$(authbroker__text profile "$profile")") || [ -n "$method" ] || exit
    while name=$(authbroker__words "$answer" "result.login.$way.method"); do
      field=$(authbroker__words "$answer" "result.login.$way.fields.0") || method=${method:-$name}
      [ "$name" != password ] || account=$field; way=$((way + 1))
    done
    # No login is needed, and the broker says what to do instead.
    case $answer in *'"login":[]'*) method=${method:-none} ;; esac ;;
  esac
  case $method in
    none) members='' ;; '' | password) members=$(authbroker__credentials "$account") || exit ;;
    device | deviceCode | browser | client | clientCredentials)
      [ -z "$email$phone$stdin" ] ||
        { authbroker__say "--email, --phone and --password-stdin are for --method password"; exit 2; }
      members=",\"method\":\"$(echo "$method" | sed 's/^device$/&Code/; s/^client$/&Credentials/')\"" ;;
    *) authbroker__say "--method is password, deviceCode, browser or clientCredentials"; exit 2 ;;
  esac
  answer=$(authbroker__call login "$(authbroker__text profile "$profile")$members") && authbroker__finish "$answer"
)
# Answers a login that waits for its one-time code.
authbroker_verify_otp() (
  { set +x; } 2>/dev/null; authbroker__options '--profile --code-stdin FLOW' "$@" || exit
  if [ -z "$operand" ]; then
    answer=$(authbroker__call listPendingLogins "$(authbroker__text profile "$profile")") || exit
    operand=$(authbroker__words "$answer" result.logins.0.otpFlowId) ||
      { authbroker__say "no login waits for a code; begin one with: authbroker.sh login"; exit 3; }
  fi
  authbroker__secret 'Code: ' || exit
  members=$(authbroker__text otpFlowId "$operand")$(authbroker__text code "$secret")
  answer=$(authbroker__call verifyOtp "$members") && authbroker__finish "$answer"
)
# Signs out here and revokes the session at its provider.
authbroker_logout() (
  { set +x; } 2>/dev/null; authbroker__options '--profile --everywhere --all' "$@" || exit; [ -n "$all" ] || authbroker__current
  members=$(authbroker__text profile "$profile")${everywhere:+,\"everywhere\":true}${all:+,\"all\":true}
  # Where this is refused, so is what follows, which says why. Of all states, only signedOut begins with an s.
  if [ -n "$all" ]; then set -- listSessions ''; else set -- getSession "$(authbroker__text profile "$profile")"; fi
  answer=$(authbroker__send "$@") && authbroker__call logout "$members" >/dev/null || exit
  case $answer in *'"state":"'[!s]*) authbroker__say "signed out" ;; *) authbroker__say "not logged in" ;; esac
)
# Locks the vault: keys and tokens are wiped from memory until authbroker_unlock.
authbroker_lock() (
  { set +x; } 2>/dev/null; authbroker__options '' "$@" && authbroker__call lock '' >/dev/null && authbroker__say "the vault is locked"
)
# Opens the vault, with its passphrase where it has one; the first one of a new vault is asked for twice.
authbroker_unlock() (
  { set +x; } 2>/dev/null; authbroker__options '--password-stdin' "$@" || exit
  answer=$(authbroker__call getStatus '') || exit; members=''
  case $(authbroker__words "$answer" result.vault.locked):$(authbroker__words "$answer" result.vault.keySource) in true:passphrase)
    authbroker__secret 'Passphrase: ' || exit
    members=$(authbroker__text passphrase "$secret")
    if [ -z "$stdin" ] && [ "$(authbroker__words "$answer" result.vault.initialized)" = false ]; then
      authbroker__secret 'The vault is new; repeat: ' || exit
      [ "$members" = "$(authbroker__text passphrase "$secret")" ] || { authbroker__say "the two differ"; exit 2; }
    fi ;;
  esac
  authbroker__call unlock "$members" >/dev/null && authbroker__say "the vault is open"
)
# Prints the state of every profile: name, state and account, or the whole answer with --json.
authbroker_status() (
  { set +x; } 2>/dev/null; authbroker__options '--json' "$@" || exit
  answer=$(authbroker__call getStatus '') || exit
  [ -z "$json" ] || { answer=${answer#*'"result":'}; authbroker__print "${answer%\}}"; exit; }
  index=0
  while name=$(authbroker__words "$answer" "result.profiles.$index.profile"); do
    account=$(authbroker__words "$answer" "result.profiles.$index.user.email") || account=-
    authbroker__print "$name $(authbroker__words "$answer" "result.profiles.$index.state") $account" || exit; index=$((index + 1))
  done
)
# Prints the events of a subscription, which are read from standard input, behind its answer ($1).
authbroker__events() {
  [ -n "$1" ] || return 8; authbroker__check "$1" || return; authbroker__seen=0
  while [ -z "$count" ] || [ "$authbroker__seen" -lt "$count" ]; do
    IFS= read -r authbroker__line || return 8
    case $authbroker__line in *'"method":"event"'*) ;; *) continue ;; esac
    authbroker__line=${authbroker__line#*'"params":'}
    # Where the output is no longer read, there is nothing left to do.
    printf '%s\n' "${authbroker__line%\}}" 2>/dev/null || return 1
    authbroker__seen=$((authbroker__seen + 1))
  done
}
# Subscribes and prints events. $1: a folder with two FIFOs; $2...: the command line. Descriptor 3, which is not needed
# here, is the FIFO `requests`: the calling shell alone holds its writing end, and when it ends, however it does, so does
# `connect`.
authbroker__watch() (
  { set +x; } 2>/dev/null; exec 3>&-
  folder=$1; shift; connected=''
  trap 'rm -rf "$folder"; [ -z "$connected" ] || kill "$connected" 2>/dev/null' EXIT
  trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
  authbroker__options '--profile --since --count' "$@" || exit
  # By the program, which gives up on a broker that is there and says nothing: below, nothing bounds the time.
  authbroker__call ping '' >/dev/null || exit
  [ -z "$profile" ] || profiles=$(printf '%s' "$profile" | authbroker__quote)
  members=${profile:+,\"profiles\":[$profiles]}${since:+,\"since\":$since}
  authbroker__tries=30
  while :; do
    authbroker__request subscribe "$members" >"$folder/requests"
    exec "${AUTHBROKER_COMMAND:-authbroker}" connect --start <"$folder/requests" >"$folder/events" &
    connected=$!
    exec 4<"$folder/events"
    IFS= read -r answer <&4 || answer=''
    # shuttingDown: the broker waits up to 25 s for requests that spend a token, and the next one is asked then.
    case $authbroker__tries:$(authbroker__words "$answer" error.code) in [1-9]*:1084) ;; *) break ;; esac
    authbroker__tries=$((authbroker__tries - 1))
    kill "$connected" 2>/dev/null; wait "$connected" 2>/dev/null; connected=''; sleep 1
  done
  rm -rf "$folder"
  authbroker__events "$answer" <&4; authbroker__status=$?
  # What `connect` ended with says more.
  [ "$authbroker__status" -ne 8 ] || { wait "$connected" || authbroker__status=$?; connected=''; }
  exit "$authbroker__status"
)
# Makes a folder with the FIFOs of `watch` and prints its name.
authbroker__fifos() (
  folder=$(mktemp -d) || exit
  { mkfifo -m 600 "$folder/requests" "$folder/events" && printf '%s\n' "$folder"; } || { rm -rf "$folder"; exit 1; }
)
# Prints events as they happen, one line of JSON each. Ends with 8 when the broker ends. No subshell, because this
# shell's end must be the subscription's end; it sets no variable.
authbroker_watch() {
  set -- "$(authbroker__fifos)" "$@"; [ -n "$1" ] || return 1
  # Open both ways, so that neither end waits for the other.
  { authbroker__watch "$@"; } 3<>"$1/requests"
}
# The script ($1) and its command line ($2...), where it is run and not sourced.
authbroker__main() {
  authbroker__script=$1; authbroker__command=${2:-help}; shift; [ "$#" -eq 0 ] || shift
  case "$authbroker__command $* " in with-token*) ;; *' --help '* | *' -h '*) authbroker__command=help ;; esac
  case $authbroker__command in
    token | header | login | logout | lock | unlock | status | watch) "authbroker_$authbroker__command" "$@" ;;
    verify-otp) authbroker_verify_otp "$@" ;; with-token) authbroker_with_token "$@" ;;
    help | --help | -h) sed -n '2,/^$/s/^# \{0,1\}//p' "$authbroker__script" ;;
    *) authbroker__say "unknown command $authbroker__command; see: authbroker.sh help"; return 2 ;;
  esac
}
# Whether $1 is the path of this script, under whatever name, and not that of a shell that sources it.
authbroker__is_this() (
  case ${1##*/} in -* | sh | ash | bash | dash | ksh | mksh | yash | zsh | busybox) exit 1 ;; esac
  [ -f "$1" ] && [ -r "$1" ] || exit
  { read -r line && read -r line; } <"$1"
  case $line in '# authbroker.sh: '*) ;; *) exit 1 ;; esac
)
# In zsh $0 is this file either way, and its context says which way it is.
case ${ZSH_VERSION:+${ZSH_EVAL_CONTEXT-}} in
  *file*) ;;
  *) if authbroker__is_this "$0"; then authbroker__main "$0" "$@"; fi ;;
esac
