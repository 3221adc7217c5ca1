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

/** Text that a shell function prints for values: `@file`, the words, or nothing. */
function wordsOf(values: Values): string {
  if (values.kind === 'words') return values.words.join(' ')
  return values.kind === 'file' ? '@file' : ''
}

/** Cases of a shell function that lists completions at a place: commands, flags, values of a flag, operands. */
function tables(root: CommandNode): { commands: string; flags: string; values: string; operands: string } {
  const all = everyCommand(root)
  const each = (line: (node: CommandNode) => string[]) => all.flatMap(line).join('\n')
  const taking = ({ takes }: CommandFlag) => takes.kind !== 'nothing'
  return {
    commands: each((node) =>
      node.children.length === 0
        ? []
        : [`    ${quoted(placeOf(node))}) offer=${quoted(node.children.map(({ path }) => path.at(-1)).join(' '))} ;;`],
    ),
    flags: each((node) => [
      `    ${quoted(placeOf(node))}) offer=${quoted(node.options.flatMap(({ names }) => names).join(' '))} ;;`,
    ]),
    values: each((node) =>
      node.options.filter(taking).map(({ names, takes }) => {
        const pattern = names.map((name) => quoted(`${placeOf(node)} ${name}`)).join('|')
        return `    ${pattern}) takes=1 offer=${quoted(wordsOf(takes))} ;;`
      }),
    ),
    operands: each((node) => {
      const words = node.operands.map(({ takes }) => wordsOf(takes)).filter((text) => text !== '')
      return words.length === 0
        ? []
        : [`    ${quoted(placeOf(node))}) offer=${quoted([...new Set(words)].join(' '))} ;;`]
    }),
  }
}

/** The functions that bash and zsh share: both understand them. */
function sharedFunctions(root: CommandNode): string {
  const { commands, flags, values, operands } = tables(root)
  return `_didledger_commands() {
  offer=''
  case "$1" in
${commands}
  esac
}
_didledger_flags() {
  offer=''
  case "$1" in
${flags}
  esac
}
# Tells what follows a flag at a place; takes is empty where nothing does.
_didledger_values() {
  offer='' takes=''
  case "$1" in
${values}
  esac
}
_didledger_operands() {
  offer=''
  case "$1" in
${operands}
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
        _didledger_values "$place $word"
        if [ -n "$takes" ]; then pending="$word"; fi
        continue ;;
    esac
    _didledger_commands "$place"
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
    _didledger_values "$place $pending"
    return
  fi
  case "$current" in
    -*) _didledger_flags "$place" ;;
    *)
      _didledger_commands "$place"
      found="$offer"
      _didledger_operands "$place"
      offer="$found $offer" ;;
  esac
}
`
}

function bashScript(root: CommandNode): string {
  return `# bash completion of didledger: source <(didledger completion bash)
${sharedFunctions(root)}_didledger() {
  local offer current="\${COMP_WORDS[COMP_CWORD]}"
  _didledger_complete "$current" "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
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
