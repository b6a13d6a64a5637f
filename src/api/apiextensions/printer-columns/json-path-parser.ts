// parseJsonPath: the JSONPath of a printer column as steps. The dialect is that of kubectl: names, indexes, slices,
// unions, wildcards, `..` and filters with one comparison.
import { append } from '../../../base/collections/append.ts'
import { NumberLiteral } from './json-path-comparison.ts'
import { JsonPathScanner } from './json-path-scanner.ts'

export type JsonPathStep =
  /** A property. Objects without it select nothing. */
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  /** The value and everything below it. */
  | { readonly kind: 'recursive' }
  /** `[i]` has the end i + 1. Negative positions count from the end of the list. */
  | {
      readonly kind: 'slice'
      readonly start: number
      readonly end: number | undefined
      readonly step: number
      readonly isIndex: boolean
    }
  | { readonly kind: 'union'; readonly paths: readonly JsonPath[] }
  /** Without an operator: items for which the left path selects something. */
  | { readonly kind: 'filter'; readonly left: JsonPath; readonly operator?: string; readonly right: JsonPath }
  | { readonly kind: 'literal'; readonly value: boolean | string | NumberLiteral }
  /** An unknown word: accepted here, but it cannot be evaluated. */
  | { readonly kind: 'identifier' }

export type JsonPath = readonly JsonPathStep[]

/** Undefined if the text is not a path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const scanner = new JsonPathScanner(text)
  const steps: JsonPathStep[] = []
  while (!scanner.isAtEnd) {
    const found = nextSteps(scanner)
    if (found === undefined) return undefined
    append(steps, found)
  }
  return steps
}

function nextSteps(scanner: JsonPathScanner): JsonPath | undefined {
  if (scanner.take(' ') || scanner.take('@') || scanner.take('$')) return [] // both mean the present value
  if (scanner.take('..')) {
    const name = scanner.takeWord()
    return name === '' ? [{ kind: 'recursive' }] : [{ kind: 'recursive' }, { kind: 'field', name }]
  }
  if (scanner.take('.')) {
    const name = scanner.takeName()
    return name === undefined ? undefined : [fieldStep(name)]
  }
  if (scanner.take('[?(')) return filterSteps(scanner.takeFilter())
  if (scanner.take('[')) return bracketSteps(scanner.takeUntil(']'))
  return literalSteps(scanner)
}

const fieldStep = (name: string): JsonPathStep => (name === '*' ? { kind: 'wildcard' } : { kind: 'field', name })

function literalSteps(scanner: JsonPathScanner): JsonPath | undefined {
  const quoted = scanner.takeQuoted()
  if (quoted !== undefined) return [{ kind: 'literal', value: quoted }]
  const number = scanner.takeNumber()
  if (number !== undefined) return numberSteps(number)
  const word = scanner.takeWord()
  if (word === '') return undefined
  return word === 'true' || word === 'false' ? [{ kind: 'literal', value: word === 'true' }] : [{ kind: 'identifier' }]
}

function numberSteps(text: string): JsonPath | undefined {
  const value = Number(text)
  if (Number.isNaN(value)) return undefined
  return [{ kind: 'literal', value: new NumberLiteral(value, text.includes('.')) }]
}

/** What is between brackets: a position, a slice, a name, or several of them. */
function bracketSteps(text: string | undefined): JsonPath | undefined {
  if (text === undefined) return undefined
  const parts = text.split(',')
  if (parts.length === 1) return text === '*' ? [sliceStep('', '', '')] : bracketPart(text)
  const paths = parts.map(bracketPart)
  return paths.some((path) => path === undefined) ? undefined : [{ kind: 'union', paths: paths as JsonPath[] }]
}

const quotedName = /^'([^']*)'$/
const slice = /^(-?\d{0,9})(?::(-?\d{0,9}))?(?::(-?\d{0,9}))?$/

/** A quoted name is a path itself: its dots separate names unless they are escaped. */
function bracketPart(text: string): JsonPath | undefined {
  const name = quotedName.exec(text)?.[1]
  if (name !== undefined) return parseJsonPath(`.${name}`)
  const match = slice.exec(text)
  if (match === null || match.slice(1).includes('-')) return undefined
  const [, start = '', end, step] = match
  if (end !== undefined || step !== undefined || start === '') return [sliceStep(start, end ?? '', step ?? '')]
  const index = Number(start)
  return [{ kind: 'slice', start: index, end: index + 1, step: 1, isIndex: true }]
}

const sliceStep = (start: string, end: string, step: string): JsonPathStep => ({
  kind: 'slice',
  start: Number(start),
  end: end === '' ? undefined : Number(end),
  step: step === '' ? 1 : Number(step),
  isIndex: false,
})

const operators = /[!<>=]+/

/** The first operator ends the left side, even inside of quotes. */
function filterSteps(text: string | undefined): JsonPath | undefined {
  if (text === undefined) return undefined
  const match = operators.exec(text)
  const end = match === null ? 0 : match.index + match[0].length
  if (match === null || match.index === 0 || end === text.length) return filterStep(parseJsonPath(text), undefined, [])
  return filterStep(parseJsonPath(text.slice(0, match.index)), match[0], parseJsonPath(text.slice(end)))
}

function filterStep(
  left: JsonPath | undefined,
  operator: string | undefined,
  right: JsonPath | undefined,
): JsonPath | undefined {
  if (left === undefined || right === undefined) return undefined
  return [{ kind: 'filter', left, ...(operator === undefined ? {} : { operator }), right }]
}
