// The completion script of zsh.
import type { CommandCompletion, FlagCompletion, Values } from './completions.ts'

export const zshScript = (commands: readonly CommandCompletion[]): string => `#compdef coxswain
# Completion of coxswain for zsh. To load it, after compinit:
#   source <(coxswain completion zsh)

_coxswain() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${commands.map(commandCase).join('\n')}
  esac
}

compdef _coxswain coxswain
`

const commandCase = ({ name, flags, operand, others }: CommandCompletion): string => {
  const lines = [
    ...flags.flatMap(flagSpecs),
    ...(operand.kind === 'none' ? [] : [quoted(`1:value:${action(operand)}`)]),
    ...(others.kind === 'none' ? [] : [quoted(`*:value:${action(others)}`)]),
  ]
  return `    ${name})
      _arguments -s ${lines.map((line) => `\\\n        ${line}`).join(' ')}
      ;;`
}

/** `-o` and `--output` exclude each other. */
function flagSpecs({ name, short, help, values }: FlagCompletion): string[] {
  const taken = values.kind === 'none' ? '' : `:value:${action(values)}`
  const described = `[${help.replaceAll(/[[\]\\]/g, '\\$&')}]${taken}`
  const sign = taken === '' ? '' : '='
  if (short === undefined) return [quoted(`--${name}${sign}${described}`)]
  const others = `(-${short} --${name})`
  return [quoted(`${others}-${short}${described}`), quoted(`${others}--${name}${sign}${described}`)]
}

function action(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`
    case 'files':
      return '_files'
    case 'directories':
      return '_files -/'
    case 'none':
    case 'text':
      return ' '
    default:
      return values satisfies never
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
