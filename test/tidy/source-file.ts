// SourceFile: one file of the tree as the tidy rules use it: its imports and its calls.
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

export interface SourceFile {
  /** Path from the root of the repository, with forward slashes. */
  readonly path: string
  /** Paths of the imported files of the repository, and bare names of everything else. */
  readonly imports: readonly { readonly target: string; readonly line: number }[]
  /** Dotted names of called functions and constructors: `Date.now`, `new Date/0` (with the number of arguments). */
  readonly calls: readonly Call[]
  readonly patterns: readonly Pattern[]
}

export interface Call {
  readonly name: string
  readonly argumentCount: number
  /** Whether the items of a list are passed as arguments. */
  readonly isSpread: boolean
  /** Keys of the object literals among the arguments: `skip`, `only`. */
  readonly optionKeys: readonly string[]
  readonly line: number
}

/** A regular expression: a literal, or one that is created at run time and has no text here. */
export interface Pattern {
  readonly literal: { readonly pattern: string; readonly flags: string } | undefined
  /** Created when the module is loaded rather than in a function. */
  readonly atLoad: boolean
  /** The reason in a comment `linear: …` on the line above or on the line itself. */
  readonly reason: string | undefined
  readonly line: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly name?: string
  readonly object?: Node
  readonly property?: Node
  readonly computed?: boolean
  readonly callee?: Node
  readonly arguments?: readonly Node[]
  readonly properties?: readonly { readonly key?: Node }[]
  readonly regex?: { readonly pattern: string; readonly flags: string }
}

export const readSourceFile = (root: string, path: string): SourceFile =>
  parseSource(path, readFileSync(join(root, path), 'utf8'))

export function parseSource(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text)
  const fatal = parsed.errors[0]
  if (fatal !== undefined) throw new Error(`${path}: ${fatal.message}`)
  const lineOf = lineCounter(text)
  const { staticImports, staticExports, dynamicImports } = parsed.module
  const specifiers = [
    ...staticImports.map(({ moduleRequest: { value, start } }) => ({ value, start })),
    ...staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest ?? [])),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => ({ value: text.slice(start + 1, end - 1), start })),
  ]
  const calls: Call[] = []
  const patterns: Pattern[] = []
  const lines = text.split('\n')
  let functions = 0
  const addPattern = (start: number, literal: Pattern['literal']) => {
    const line = lineOf(start)
    const reason = /\/\/ linear: (\S.*)/.exec(`${lines[line - 2] ?? ''}\n${lines[line - 1] ?? ''}`)?.[1]
    patterns.push({ literal, atLoad: functions === 0, reason, line })
  }
  const visitLiteral = (node: unknown) => {
    const { regex, start } = node as Node
    if (regex) addPattern(start, regex)
  }
  const enter = () => void functions++
  const leave = () => void functions--
  const visitCall = (node: unknown) => {
    const { type, callee, arguments: args = [], start } = node as Node
    const name = callee === undefined ? undefined : dotted(callee)
    if (name === undefined) return
    // If the pattern is a literal, only the flags can change.
    if (name === 'RegExp' && !args[0]?.regex) addPattern(start, undefined)
    const optionKeys = args.flatMap((arg) => (arg.properties ?? []).flatMap(({ key }) => key?.name ?? []))
    const prefix = type === 'NewExpression' ? 'new ' : ''
    const isSpread = args.some((arg) => arg.type === 'SpreadElement')
    calls.push({ name: prefix + name, argumentCount: args.length, isSpread, optionKeys, line: lineOf(start) })
  }
  new Visitor({
    CallExpression: visitCall,
    NewExpression: visitCall,
    Literal: visitLiteral,
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
  }).visit(parsed.program)
  return {
    path,
    imports: specifiers.map(({ value, start }) => ({ target: resolved(path, value), line: lineOf(start) })),
    calls,
    patterns,
  }
}

/** The number of the line of an offset. */
function lineCounter(text: string): (offset: number) => number {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index)
  return (offset) => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

const resolved = (from: string, specifier: string): string =>
  specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : specifier

function dotted(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name
  if (node.type !== 'MemberExpression' || node.computed || !node.object) return undefined
  const object = dotted(node.object)
  return object === undefined ? undefined : `${object}.${node.property?.name}`
}
