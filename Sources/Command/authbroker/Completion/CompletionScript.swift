/// The completions of a shell: a script that asks `authbroker complete`, so that it fits every version of the program.
enum CompletionScript: String, CaseIterable {
  case bash, zsh, fish

  /// The script.
  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }

  /// Bash breaks words at `=` and `:` (COMP_WORDBREAKS): they are joined again, and what readline takes for a word of its
  /// own gets the rest of each candidate only.
  private static let bashText = #"""
    # Completions of authbroker(1) for bash 4 and later; needs nothing else.
    _authbroker() {
      local IFS=$'\n' index last word line
      local -a words=()
      for ((index = 1; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        last=$((${#words[@]} - 1))
        if ((last >= 0)) && [[ $word == [=:]* || ${COMP_WORDS[index - 1]} == *[=:] ]]; then
          words[last]+=$word
        else
          words+=("$word")
        fi
      done
      last=${words[${#words[@]} - 1]}
      local cut=${last%"${last##*[=:]}"}
      COMPREPLY=()
      while read -r line; do
        case $line in
          :files) compopt -o default ;;
          :directories) compopt -o dirnames ;;
          *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$cut"}")
            ;;
        esac
      done < <(command authbroker complete -- "${words[@]}" 2>/dev/null)
    }
    complete -F _authbroker authbroker

    """#

  private static let zshText = #"""
    #compdef authbroker
    # Completions of authbroker(1) for zsh.
    _authbroker() {
      local line
      local -a candidates
      for line in "${(@f)$(command authbroker complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
          :files)
            compset -P '*='
            _files
            return
            ;;
          :directories)
            compset -P '*='
            _files -/
            return
            ;;
          ?*) candidates+=("${${line%%$'\t'*}//:/\\:}${${(M)line%$'\t'*}/$'\t'/:}") ;;
        esac
      done
      _describe -t words 'authbroker' candidates
    }
    if [ "$funcstack[1]" = _authbroker ]; then
      _authbroker "$@"
    else
      compdef _authbroker authbroker
    fi

    """#

  private static let fishText = #"""
    # Completions of authbroker(1) for fish.
    function __authbroker_complete
        set -l words (commandline -opc) (commandline -ct)
        set -l option (string match -r -- '^--[^=]*=' (commandline -ct))
        set -l path (string replace -r -- '^--[^=]*=' '' (commandline -ct))
        set -l lines (command authbroker complete -- $words[2..-1] 2>/dev/null)
        switch "$lines[1]"
            case ':files'
                printf "$option%s\n" (__fish_complete_path "$path")
            case ':directories'
                printf "$option%s\n" (__fish_complete_directories "$path")
            case '*'
                printf '%s\n' $lines
        end
    end
    complete -c authbroker -f -a '(__authbroker_complete)'

    """#
}
