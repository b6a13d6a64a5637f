// Parser: tokens to syntax tree, by recursive descent. Errors are those of upstream's grammar.
import { restarted, StepCounter } from '../../base/work/restarted.ts'
import { runToEnd, type Slice, type Sliced } from '../../base/work/work-slice.ts'
import { codePoints } from '../values/code-points.ts'
import { Uint } from '../values/value.ts'
import { childrenOf, type Expr, type MapEntry, type StructField } from './ast.ts'
import { isKubernetes, type Dialect } from './dialect.ts'
import { tokenize, type Token } from './lexer.ts'
import { expandMacro } from './macros.ts'
import { ExpressionError, issuesShownMax, type Issue } from './source.ts'
import { bytesOf, textOf } from './text-literal.ts'

/** Upstream's limits: longer or deeper expressions are rejected before they are parsed. */
const nestingMax = 250
const codePointsMax = 100_000
/** The maximum depth of operators, selections, indices and calls in the tree. */
const operatorDepthMax = 250

const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const literals = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
const operand = `{'[', '{', '(', '.', '-', '!', ${literals}}`
const listStart = `{'[', ']', '{', '(', '.', ',', '-', '!', '?', ${literals}}`
const mapStart = `{'[', '{', '}', '(', '.', ',', '-', '!', '?', ${literals}}`
const fieldStart = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"
const relations = new Set(['==', '!=', '<', '<=', '>', '>=', 'in'])
const operandSymbols = new Set(['[', '{', '(', '.', '-', '!'])

const startsOperand = ({ kind, text }: Token): boolean => {
  if (kind === 'symbol') return operandSymbols.has(text)
  return kind === 'keyword' ? text !== 'in' : kind !== 'end' && kind !== 'quotedIdentifier'
}

/** Numbers that a minus can belong to. */
const isSigned = ({ kind }: Token): boolean => kind === 'int' || kind === 'double'

/** Ends the parsing; the issue has already been recorded. */
class Stop extends Error {}

/** Throws an ExpressionError. */
export const parse = (source: string, dialect: Dialect = 'standard'): Expr =>
  runToEnd((slice) => parseInSlices(source, dialect, slice))

/** Like `parse`, with pauses if the expression is long. */
export function* parseInSlices(source: string, dialect: Dialect, slice: Slice): Sliced<Expr> {
  if (source.length > codePointsMax) checkLength(source)
  const parser = new Parser(source, dialect, slice)
  if (slice.isUsedUp()) yield
  return yield* restarted(() => parser.parse())
}

/** Shorter expressions are parsed in one slice. */
const longLength = 10_000
/** A slice has at least this many relations. */
const relationsPerCheck = 2_000

/** A relation, and the position of the token after it. */
interface Parsed {
  readonly tree: Expr
  readonly end: number
}

function checkLength(source: string): void {
  const size = codePoints(source).length
  const message = `expression code point size exceeds limit: size: ${size}, limit ${codePointsMax}`
  if (size > codePointsMax) throw new ExpressionError(source, [{ at: -1, message }])
}

class Parser {
  readonly #source: string
  readonly #dialect: Dialect
  readonly #tokens: readonly Token[]
  /** By position and message: the parts that were interrupted are parsed again. */
  readonly #issues: Map<string, Issue>
  readonly #completed: StepCounter
  /** The relations of a long expression, by the position of their first token. Everything else consists of them. */
  readonly #relations: Map<number, Parsed> | undefined
  #position = 0
  /** The token at the position. */
  #token: Token
  #depth = 0
  /** The depth of operators in trees that have any. */
  readonly #operatorDepths = new Map<Expr, number>()

  constructor(source: string, dialect: Dialect, slice: Slice) {
    const { tokens, issues } = tokenize(source)
    this.#source = source
    this.#dialect = dialect
    this.#tokens = tokens
    this.#issues = new Map(issues.map((issue) => [keyOf(issue), issue]))
    this.#token = this.#peek(0)
    this.#completed = new StepCounter(slice, relationsPerCheck)
    this.#relations = source.length < longLength ? undefined : new Map()
  }

  parse(): Expr {
    this.#moveTo(0)
    this.#depth = 0
    let tree: Expr | undefined
    try {
      if (this.#issues.size > issuesShownMax) throw new Stop()
      tree = this.#expression()
      if (this.#token.kind !== 'end') this.#wrong('<EOF>', this.#peek(1).kind === 'end')
    } catch (error) {
      if (!(error instanceof Stop)) throw error
    }
    if (tree === undefined || this.#issues.size > 0) throw new ExpressionError(this.#source, [...this.#issues.values()])
    return tree
  }

  #peek(ahead: number): Token {
    const last = this.#tokens.length - 1
    const token = this.#tokens[Math.min(this.#position + ahead, last)]
    if (token === undefined) throw new Error('there is always a last token')
    return token
  }

  #next(): Token {
    const token = this.#token
    if (token.kind !== 'end') this.#moveTo(this.#position + 1)
    return token
  }

  #moveTo(position: number): void {
    this.#position = position
    this.#token = this.#peek(0)
  }

  #is(text: string): boolean {
    const { kind, text: found } = this.#token
    return found === text && (kind === 'symbol' || kind === 'keyword')
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#next() : undefined
  }

  #issue(at: number, message: string): void {
    this.#issues.set(keyOf({ at, message }), { at, message })
  }

  #wrong(expected: string, isExtraneous = false): void {
    const { text, at } = this.#token
    const what = isExtraneous ? 'extraneous' : 'mismatched'
    this.#issue(at, `Syntax error: ${what} input '${text}' expecting ${expected}`)
  }

  /** Reports that a token is not valid after the text from an offset. */
  #noViableFrom(start: number, { text, at, kind }: Token): never {
    const input = this.#source.slice(start, kind === 'end' ? at : at + text.length)
    this.#issue(at, `Syntax error: no viable alternative at input '${input}'`)
    throw new Stop()
  }

  #stop(expected: string): never {
    this.#wrong(expected)
    throw new Stop()
  }

  /** Expects a token: skips an extra token before it, and reports a missing one at the end. */
  #expect(text: string, expected = `'${text}'`): Token {
    const found = this.#accept(text)
    if (found !== undefined) return found
    if (this.#peek(1).text === text && this.#peek(1).kind === 'symbol') {
      this.#wrong(expected, true)
      this.#next()
      return this.#next()
    }
    if (this.#token.kind === 'end' && expected === `'${text}'` && text === ')') {
      this.#issue(this.#token.at, `Syntax error: missing '${text}' at '<EOF>'`)
      throw new Stop()
    }
    return this.#stop(expected)
  }

  /**
   * Creates a node. Functions that visit trees are recursive, so the depth is limited on creation: chains of operators nest
   * to the left without parentheses.
   */
  #built(expr: Expr, isOperator: boolean): Expr {
    let depth = 0
    if (this.#operatorDepths.size > 0)
      for (const child of childrenOf(expr)) depth = Math.max(depth, this.#operatorDepths.get(child) ?? 0)
    if (isOperator) depth++
    if (depth > operatorDepthMax) {
      this.#issue(-1, 'max recursion depth exceeded')
      throw new Stop()
    }
    if (depth > 0) this.#operatorDepths.set(expr, depth)
    return expr
  }

  #expression(): Expr {
    if (++this.#depth > nestingMax) {
      this.#issue(-1, `expression recursion limit exceeded: ${nestingMax}`)
      throw new Stop()
    }
    const condition = this.#or()
    const question = this.#accept('?')
    let tree = condition
    if (question !== undefined) {
      const then = this.#or()
      this.#expect(':')
      tree = this.#built(call('_?_:_', question.at, condition, then, this.#expression()), false)
    }
    this.#depth--
    return tree
  }

  #or(): Expr {
    return this.#chain('||', () => this.#and())
  }

  #and(): Expr {
    return this.#chain('&&', () => this.#relation())
  }

  /** Operands of an associative operator, in a balanced tree as in upstream. */
  #chain(operator: '||' | '&&', operand: () => Expr): Expr {
    const operands = [operand()]
    const places: number[] = []
    for (let op = this.#accept(operator); op !== undefined; op = this.#accept(operator)) {
      places.push(op.at)
      operands.push(operand())
    }
    const grouped = (start: number, end: number): Expr => {
      if (start === end) return operands[start] as Expr
      const middle = (start + end) >> 1
      const [left, right] = [grouped(start, middle), grouped(middle + 1, end)]
      return this.#built(call(`_${operator}_`, places[middle] ?? 0, left, right), false)
    }
    return grouped(0, places.length)
  }

  /** Takes a relation that was parsed before an interruption. */
  #relation(): Expr {
    if (this.#relations === undefined) return this.#newRelation()
    const start = this.#position
    const known = this.#relations.get(start)
    if (known !== undefined) {
      this.#moveTo(known.end)
      return known.tree
    }
    const tree = this.#newRelation()
    this.#relations.set(start, { tree, end: this.#position })
    this.#completed.completed()
    return tree
  }

  #newRelation(): Expr {
    let left = this.#sum()
    while (this.#token.kind !== 'string' && relations.has(this.#token.text)) {
      const { text, at } = this.#next()
      left = this.#built(call(text === 'in' ? '@in' : `_${text}_`, at, left, this.#sum()), true)
    }
    return left
  }

  #sum(): Expr {
    let left = this.#product()
    for (let op = this.#accept('+') ?? this.#accept('-'); op !== undefined; op = this.#accept('+') ?? this.#accept('-'))
      left = this.#built(call(`_${op.text}_`, op.at, left, this.#product()), true)
    return left
  }

  #product(): Expr {
    const take = () => this.#accept('*') ?? this.#accept('/') ?? this.#accept('%')
    let left = this.#unary()
    for (let op = take(); op !== undefined; op = take())
      left = this.#built(call(`_${op.text}_`, op.at, left, this.#unary()), true)
    return left
  }

  #unary(): Expr {
    const first = this.#token
    let count = 0
    if (this.#is('!')) {
      while (this.#accept('!')) count++
      const target = this.#member()
      return count % 2 === 0 ? target : this.#built(call('!_', first.at, target), false)
    }
    // A single minus before a number is part of the number.
    while (this.#is('-') && !(count === 0 && isSigned(this.#peek(1)))) {
      this.#next()
      count++
    }
    const target = this.#member()
    return count % 2 === 0 ? target : this.#built(call('-_', first.at, target), false)
  }

  #member(): Expr {
    let tree = this.#primary()
    for (;;) {
      const dot = this.#accept('.')
      if (dot !== undefined) {
        tree = this.#selection(tree, dot)
        continue
      }
      const bracket = this.#accept('[')
      if (bracket === undefined) return tree
      const isOptional = this.#accept('?') !== undefined
      const index = this.#expression()
      this.#expect(']')
      tree = this.#built(call(isOptional ? '_[?_]' : '_[_]', bracket.at, tree, index), true)
    }
  }

  #selection(operandTree: Expr, { at }: Token): Expr {
    const isOptional = this.#accept('?') !== undefined
    const name = this.#token
    const selected = (field: string): Expr =>
      this.#built({ kind: 'select', at, operand: operandTree, field, isTest: false, isOptional }, true)
    if (name.kind === 'quotedIdentifier') {
      if (isKubernetes(this.#dialect)) this.#issue(name.at, "unsupported syntax: '`'")
      this.#next()
      return selected(name.text.slice(1, -1))
    }
    if (name.kind === 'symbol' && name.text === '.') return this.#noViableFrom(at, name)
    if (name.kind !== 'identifier') return this.#stop(isOptional ? '{IDENTIFIER, ESC_IDENTIFIER}' : 'IDENTIFIER')
    this.#next()
    const open = isOptional ? undefined : this.#accept('(')
    if (open === undefined) return selected(name.text)
    return this.#call(name.text, open.at, operandTree)
  }

  #call(name: string, at: number, target: Expr | undefined): Expr {
    const args: Expr[] = []
    if (!this.#is(')')) {
      do args.push(this.#expression())
      while (this.#accept(','))
    }
    this.#expect(')')
    const report = (issueAt: number, message: string): void => this.#issue(issueAt, message)
    const expanded = expandMacro({ name, at, target, args, dialect: this.#dialect }, report)
    return this.#built(expanded ?? { kind: 'call', at, name, target, args }, target !== undefined)
  }

  #primary(): Expr {
    const { kind, text, at } = this.#token
    switch (kind) {
      case 'int':
      case 'uint':
      case 'double':
        return this.#number('')
      case 'string':
      case 'bytes':
        return this.#text()
      case 'keyword':
        if (text === 'in') break
        this.#next()
        return { kind: 'literal', at, value: text === 'null' ? null : text === 'true' }
      case 'identifier':
        return this.#name('')
      case 'symbol':
        if (text === '-' && isSigned(this.#peek(1))) {
          this.#next()
          return { ...this.#number('-'), at }
        }
        if (text === '.' && this.#peek(1).kind === 'identifier') {
          this.#next()
          return this.#name('.')
        }
        if (text === '(') return this.#parenthesis()
        if (text === '[') return this.#list()
        if (text === '{') return this.#map()
        // These tokens can start operands, but not here or not before the next token.
        if (text === '.' || text === '-') return this.#noViableFrom(at, this.#peek(1))
        if (text === '!') return this.#noViableFrom(this.#peek(-1).at, this.#token)
        break
      default:
    }
    return this.#noOperand()
  }

  #noOperand(): Expr {
    const rejected = this.#token
    const { kind } = rejected
    if (kind !== 'end' && kind !== 'quotedIdentifier' && this.#peek(1).kind === 'end') {
      this.#wrong(operand)
      this.#next()
    }
    this.#skipTo(operand)
    // A token that could start an operand but does not, such as the dot in `.?a`.
    if (this.#token === rejected) this.#stop(operand)
    return this.#member()
  }

  /** One extra token before an operand is skipped; more end the parsing. */
  #skipTo(expected: string): void {
    if (startsOperand(this.#token)) return
    if (this.#token.kind === 'end' || !startsOperand(this.#peek(1))) this.#stop(expected)
    this.#wrong(expected, true)
    this.#next()
  }

  #parenthesis(): Expr {
    this.#next()
    const tree = this.#expression()
    this.#expect(')')
    return tree
  }

  #number(sign: '' | '-'): Expr {
    const { kind, text, at } = this.#next()
    const digits = kind === 'uint' ? text.slice(0, -1) : text
    if (kind === 'double') {
      const value = Number(sign + digits)
      if (!Number.isFinite(value)) this.#issue(at, 'invalid double literal')
      return { kind: 'literal', at, value }
    }
    const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
    const isUint = kind === 'uint'
    const fits = isUint ? value < 1n << 64n : value >= -(1n << 63n) && value < 1n << 63n
    if (!fits) this.#issue(at, `invalid ${kind} literal`)
    return { kind: 'literal', at, value: isUint ? new Uint(BigInt.asUintN(64, value)) : BigInt.asIntN(64, value) }
  }

  #text(): Expr {
    const { kind, text, at } = this.#next()
    try {
      return { kind: 'literal', at, value: kind === 'bytes' ? bytesOf(text) : textOf(text) }
    } catch (error) {
      this.#issue(at, error instanceof Error ? error.message : String(error))
      return { kind: 'literal', at, value: '' }
    }
  }

  /** A variable, a call, or a message: `a`, `a(…)`, `a.b{…}`. */
  #name(dot: '' | '.'): Expr {
    const message = this.#messageName()
    if (message !== undefined) return this.#struct(dot + message)
    const { text, at } = this.#next()
    const open = this.#accept('(')
    if (open !== undefined) return this.#call(dot + text, open.at, undefined)
    if (reserved.has(text)) {
      this.#issue(at, `reserved identifier: ${text}`)
      return { kind: 'literal', at, value: null }
    }
    return { kind: 'ident', at, name: dot + text }
  }

  /** Consumes the name before a `{`. Returns undefined and consumes nothing if there is none. */
  #messageName(): string | undefined {
    let ahead = 0
    while (this.#peek(ahead + 1).text === '.' && this.#peek(ahead + 2).kind === 'identifier') ahead += 2
    const after = this.#peek(ahead + 1)
    if (after.kind !== 'symbol' || after.text !== '{') return undefined
    const name = Array.from({ length: ahead + 1 }, () => this.#next().text)
    return name.join('')
  }

  #list(): Expr {
    const { at } = this.#next()
    const elements: { value: Expr; isOptional: boolean }[] = []
    if (!this.#is(']') && !this.#is('?')) this.#skipTo(listStart)
    while (!this.#is(']')) {
      const isOptional = this.#accept('?') !== undefined
      elements.push({ value: this.#expression(), isOptional })
      if (!this.#accept(',')) break
    }
    this.#expect(']', "{']', ','}")
    return this.#built({ kind: 'list', at, elements }, false)
  }

  #map(): Expr {
    const { at } = this.#next()
    const entries: MapEntry[] = []
    if (!this.#is('}') && !this.#is('?')) this.#skipTo(mapStart)
    while (!this.#is('}')) {
      const isOptional = this.#accept('?') !== undefined
      const key = this.#expression()
      const colon = this.#expect(':')
      entries.push({ at: colon.at, key, value: this.#expression(), isOptional })
      if (!this.#accept(',')) break
    }
    this.#expect('}', "{'}', ','}")
    return this.#built({ kind: 'map', at, entries }, false)
  }

  #struct(name: string): Expr {
    const { at } = this.#next()
    const fields: StructField[] = []
    while (!this.#is('}')) {
      const isOptional = this.#accept('?') !== undefined
      const { kind, text } = this.#token
      if (kind !== 'identifier' && kind !== 'quotedIdentifier')
        return this.#stop(isOptional ? '{IDENTIFIER, ESC_IDENTIFIER}' : fieldStart)
      this.#next()
      const colon = this.#expect(':')
      const field = kind === 'identifier' ? text : text.slice(1, -1)
      fields.push({ at: colon.at, name: field, value: this.#expression(), isOptional })
      if (!this.#accept(',')) break
    }
    this.#expect('}', "{'}', ','}")
    return this.#built({ kind: 'struct', at, name, fields }, false)
  }
}

const keyOf = ({ at, message }: Issue): string => `${at} ${message}`

const call = (name: string, at: number, ...args: readonly Expr[]): Expr => ({
  kind: 'call',
  at,
  name,
  target: undefined,
  args,
})
