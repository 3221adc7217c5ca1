import { type CommandNode, type CommandFlag, everyCommand, type Values } from './command-tree.js'

/** Completion scripts, each with the whole command tree as tables, so that no key press starts the program. */

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The script for a shell. */
export function completionScript(shell: Shell, root: CommandNode): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](root)
}

/** Quotes a text for any of the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The words after the name of the program: `wallet send`; empty for the program itself. */
function placeOf({ path }: CommandNode): string {
  return path.slice(1).join(' ')
}

/** Completions of values: `@file`, the words, or nothing. */
function wordsOf(values: Values): readonly string[] {
  if (values.kind === 'words') return values.words
  return values.kind === 'file' ? ['@file'] : []
}

/** Cases of a shell function: commands, flags, values of a flag and operands, each by its kind and the place where it follows. */
function casesOf(node: CommandNode): string[] {
  const place = placeOf(node)
  const row = (patterns: readonly string[], words: readonly string[], more = '') =>
    `    ${patterns.map(quoted).join('|')}) ${more}offer=${quoted(words.join(' '))} ;;`
  const values = node.options.filter(({ takes }) => takes.kind !== 'nothing')
  const operands = node.operands.flatMap(({ takes }) => wordsOf(takes))
  return [
    row(
      [`commands ${place}`],
      node.children.map(({ path }) => path.at(-1) ?? ''),
    ),
    row(
      [`flags ${place}`],
      node.options.flatMap(({ names }) => names),
    ),
    ...values.map(({ names, takes }) =>
      row(
        names.map((name) => `values ${place} ${name}`),
        wordsOf(takes),
        'takes=1 ',
      ),
    ),
    row([`operands ${place}`], [...new Set(operands)]),
  ]
}

/** The functions that bash and zsh share: both understand them. */
function sharedFunctions(root: CommandNode): string {
  return `# Sets offer to what follows at a place; takes is empty where that is no flag with values.
_didledger_table() {
  offer='' takes=''
  case "$1" in
${everyCommand(root).flatMap(casesOf).join('\n')}
  esac
}
# Finds the command that the words before the cursor name.
_didledger_place() {
  place='' pending=''
  local word offer takes
  for word in "$@"; do
    if [ -n "$pending" ]; then pending=''; continue; fi
    case "$word" in
      --*=*) continue ;;
      -*)
        _didledger_table "values $place $word"
        if [ -n "$takes" ]; then pending="$word"; fi
        continue ;;
    esac
    _didledger_table "commands $place"
    case " $offer " in
      *" $word "*) place="\${place:+$place }$word" ;;
    esac
  done
}
# Sets offer to what may stand at the cursor; the arguments are the word there, and those before it.
_didledger_complete() {
  local current="$1" place pending takes found
  shift
  _didledger_place "$@"
  if [ -n "$pending" ]; then
    _didledger_table "values $place $pending"
    return
  fi
  case "$current" in
    -*) _didledger_table "flags $place" ;;
    *)
      _didledger_table "commands $place"
      found="$offer"
      _didledger_table "operands $place"
      offer="$found $offer" ;;
  esac
}
`
}

function bashScript(root: CommandNode): string {
  return `# bash completion of didledger: source <(didledger completion bash)
${sharedFunctions(root)}_didledger() {
  local offer word current="\${COMP_WORDS[COMP_CWORD]}"
  local -a before=()
  # Bash takes = between a flag and its value for a word.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" = = ] || before+=("$word")
  done
  [ "$current" != = ] || current=''
  _didledger_complete "$current" "\${before[@]}"
  COMPREPLY=($(compgen -W "\${offer//@file/}" -- "$current"))
  case " $offer " in
    *' @file '*)
      # Names of files may have spaces.
      local IFS=$'\\n'
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _didledger didledger
`
}

function zshScript(root: CommandNode): string {
  return `#compdef didledger
# zsh completion of didledger: didledger completion zsh > "\${fpath[1]}/_didledger"
${sharedFunctions(root)}_didledger_zsh() {
  local current="\${words[CURRENT]}"
  local -a before=("\${(@)words[2,CURRENT-1]}")
  local offer
  _didledger_complete "$current" "\${before[@]}"
  case " $offer " in
    *' @file '*) _files ;;
  esac
  compadd -- \${=offer//@file/}
}
if [ "\${funcstack[1]:-}" = _didledger ]; then
  _didledger_zsh "$@"
else
  compdef _didledger_zsh didledger
fi
`
}

function fishScript(root: CommandNode): string {
  const all = everyCommand(root)
  const taking = [
    ...new Set(
      all
        .flatMap(({ options }) => options.filter(({ takes }) => takes.kind !== 'nothing'))
        .flatMap(({ names }) => names),
    ),
  ]
  const lines = all.flatMap((node) => {
    const at = `-n ${fishQuoted(`__didledger_at ${placeOf(node)}`.trim())}`
    return [
      ...node.children.map(
        ({ path, description }) =>
          `complete -c didledger ${at} -a ${fishQuoted(path.at(-1) ?? '')} -d ${fishQuoted(description)}`,
      ),
      ...node.options.map((flag) => `complete -c didledger ${at} ${fishFlag(flag)}`),
      ...node.operands.flatMap(({ takes }) =>
        takes.kind === 'file' ? [`complete -c didledger ${at} -F`] : fishWords(takes, at),
      ),
    ]
  })
  return `# fish completion of didledger: didledger completion fish > ~/.config/fish/completions/didledger.fish
# Succeeds at the command whose names are the arguments.
function __didledger_at
  set -l place
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip -eq 1
      set skip 0
      continue
    end
    switch $word
      case ${taking.map(fishQuoted).join(' ')}
        set skip 1
      case '-*'
      case '*'
        set -l next $place $word
        if contains -- "$next" ${all.map((node) => fishQuoted(placeOf(node))).join(' ')}
          set place $next
        end
    end
  end
  test "$place" = "$argv"
end
complete -c didledger -f
${lines.join('\n')}
`
}

function fishFlag({ names, description, takes }: CommandFlag): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const values = {
    nothing: '',
    file: ' -r -F',
    text: ' -x',
    words: takes.kind === 'words' ? ` -x -a ${fishQuoted(takes.words.join(' '))}` : '',
  }
  return `${flags.join(' ')}${values[takes.kind]} -d ${fishQuoted(description)}`
}

function fishWords(takes: Values, at: string): string[] {
  return takes.kind === 'words' ? [`complete -c didledger ${at} -a ${fishQuoted(takes.words.join(' '))}`] : []
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
