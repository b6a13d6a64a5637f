// Lexer of Go templates: text, and the tokens of actions.
import { TemplateError } from './template-nodes.ts'

export interface ActionToken {
  readonly kind: 'dot' | 'field' | 'variable' | 'name' | 'number' | 'string' | 'symbol'
  /** The name without its dot or dollar, the value of a string, or the text itself. */
  readonly text: string
  /** Whether it begins a new operand: `.a .b` in place of `.a.b`. */
  readonly isAfterSpace: boolean
}

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly tokens: readonly ActionToken[]; readonly line: number }

const charactersMax = 100_000
const space = /[ \t\r\n]+/y
const field = /\.[\p{L}_][\p{L}\p{N}_]*/uy
const variable = /\$[\p{L}\p{N}_]*/uy
const name = /[\p{L}_][\p{L}\p{N}_]*/uy
const number = /[+-]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y
const string = /"(?:[^"\\\n]|\\.)*"/y
const rawString = /`[^`]*`/y
const symbol = /:=|[=|(),.]/y
const comment = /\/\*[^]*?\*\//y

export function templateParts(source: string): readonly TemplatePart[] {
  if (source.length > charactersMax) throw new TemplateError(`the template has more than ${charactersMax} characters`)
  const parts: TemplatePart[] = []
  let at = 0
  let trimsNext = false
  while (at < source.length) {
    const open = source.indexOf('{{', at)
    const end = open === -1 ? source.length : open
    const trimsBefore = /^-[ \t\r\n]/.test(source.slice(end + 2, end + 4))
    let text = source.slice(at, end)
    if (trimsNext) text = text.trimStart()
    if (open !== -1 && trimsBefore) text = text.trimEnd()
    if (text !== '') parts.push({ kind: 'text', text })
    if (open === -1) break
    const line = lineAt(source, open)
    const action = readAction(source, open + (trimsBefore ? 3 : 2), line)
    if (action.tokens.length > 0) parts.push({ kind: 'action', tokens: action.tokens, line })
    at = action.end
    trimsNext = action.trims
  }
  return parts
}

interface ReadAction {
  readonly tokens: readonly ActionToken[]
  /** Behind `}}`. */
  readonly end: number
  /** Whether `-}}` ends it. */
  readonly trims: boolean
}

function readAction(source: string, from: number, line: number): ReadAction {
  const tokens: ActionToken[] = []
  let at = from
  for (;;) {
    const blanks = matchAt(space, source, at)?.length ?? 0
    at += blanks
    const isAfterSpace = blanks > 0 || tokens.length === 0
    if (source.startsWith('}}', at)) return { tokens, end: at + 2, trims: false }
    if (isAfterSpace && source.startsWith('-}}', at)) return { tokens, end: at + 3, trims: true }
    if (at >= source.length) throw new TemplateError(`line ${line}: unclosed action`)
    const skipped = matchAt(comment, source, at)
    const [kind, found] = skipped === undefined ? tokenAt(source, at, line) : ([undefined, skipped] as const)
    if (kind !== undefined) tokens.push({ kind, text: valueOf(kind, found, line), isAfterSpace })
    at += found.length
  }
}

const patterns: readonly (readonly [ActionToken['kind'], RegExp])[] = [
  ['field', field],
  ['variable', variable],
  ['name', name],
  ['number', number],
  ['string', string],
  ['string', rawString],
  ['symbol', symbol],
]

function tokenAt(source: string, at: number, line: number): readonly [ActionToken['kind'], string] {
  for (const [kind, pattern] of patterns) {
    const found = matchAt(pattern, source, at)
    if (found !== undefined) return found === '.' ? ['dot', found] : [kind, found]
  }
  throw new TemplateError(`line ${line}: unexpected ${JSON.stringify(source[at])} in an action`)
}

function valueOf(kind: ActionToken['kind'], found: string, line: number): string {
  if (kind === 'field' || kind === 'variable') return found.slice(1)
  if (kind !== 'string') return found
  if (found.startsWith('`')) return found.slice(1, -1)
  try {
    return JSON.parse(found) as string
  } catch (error) {
    throw new TemplateError(`line ${line}: the string ${found} is not supported`, { cause: error })
  }
}

const lineAt = (source: string, at: number): number => source.slice(0, at).split('\n').length

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}
