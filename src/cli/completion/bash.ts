// The completion script of bash.
import type { CommandCompletion, FlagCompletion, Values } from './completions.ts'

/** The words of a completion are letters, digits and dashes, so they need no quotes inside a quoted string. */
export const bashScript = (
  commands: readonly CommandCompletion[],
): string => `# Completion of coxswain for bash. To load it:
#   source <(coxswain completion bash)

_coxswain() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # Bash makes three words of --flag=value.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$current"))
    return
  fi
  local command=\${COMP_WORDS[1]}
  case "$command $previous" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}

# Paths are quoted, and a directory gets a slash instead of a space.
_coxswain_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}

complete -F _coxswain coxswain
`

const valueCases = ({ name, flags }: CommandCompletion): string[] =>
  flags
    .filter(({ values }) => values.kind !== 'none')
    .map((flag) => {
      const patterns = spellings(flag).map((spelling) => `'${name} ${spelling}'`)
      return `    ${patterns.join(' | ')})
      ${[reply(flag.values), 'return'].filter((line) => line !== '').join('\n      ')}
      ;;`
    })

const commandCase = ({ name, flags, operand, others }: CommandCompletion): string => `    ${name})
      if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W '${flags.flatMap(spellings).join(' ')}' -- "$current"))${operandCases(operand, others)}
      fi
      ;;`

/** A word of the first operand is not followed by another one. */
function operandCases(operand: Values, others: Values): string {
  const first = reply(operand)
  if (first === '') return ''
  const otherwise = `
      else
        ${first}`
  if (operand.kind !== 'words') return otherwise
  return `
      elif [[ " \${COMP_WORDS[*]:2:COMP_CWORD-2} " =~ ' '(${operand.words.join('|')})' ' ]]; then
        ${reply(others) || ':'}${otherwise}`
}

const spellings = ({ name, short }: FlagCompletion): string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
]

/** Sets the reply; empty when there is nothing to propose. */
function reply(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `COMPREPLY=($(compgen -W '${values.words.join(' ')}' -- "$current"))`
    case 'files':
      return '_coxswain_paths -f "$current"'
    case 'directories':
      return '_coxswain_paths -d "$current"'
    case 'none':
    case 'text':
      return ''
    default:
      return values satisfies never
  }
}
