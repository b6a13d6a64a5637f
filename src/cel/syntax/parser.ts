// Parser: tokens to syntax tree, by recursive descent. Errors are those of upstream's grammar.
import { restarted, StepCounter } from '../../base/work/restarted.ts'
import { runToEnd, type Slice, type Sliced } from '../../base/work/work-slice.ts'
import { codePoints } from '../values/code-points.ts'
import { Uint } from '../values/value.ts'
import { childrenOf, type Expr, type MapEntry, type StructField } from './ast.ts'
import { isKubernetes, type Dialect } from './dialect.ts'
import type { Token } from './lexer.ts'
import { expandMacro } from './macros.ts'
import { ExpressionError, issuesShownMax } from './source.ts'
import { bytesOf, textOf } from './text-literal.ts'
import { Stop, TokenStream } from './token-stream.ts'

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
  readonly #tokens: TokenStream
  readonly #completed: StepCounter
  /** The relations of a long expression, by the position of their first token. Everything else consists of them. */
  readonly #relations: Map<number, Parsed> | undefined
  #depth = 0
  /** The depth of operators in trees that have any. */
  readonly #operatorDepths = new Map<Expr, number>()

  constructor(source: string, dialect: Dialect, slice: Slice) {
    this.#source = source
    this.#dialect = dialect
    this.#tokens = new TokenStream(source)
    this.#completed = new StepCounter(slice, relationsPerCheck)
    this.#relations = source.length < longLength ? undefined : new Map()
  }

  parse(): Expr {
    this.#tokens.moveTo(0)
    this.#depth = 0
    let tree: Expr | undefined
    try {
      if (this.#tokens.issues.length > issuesShownMax) throw new Stop()
      tree = this.#expression()
      if (this.#tokens.current.kind !== 'end') this.#tokens.wrong('<EOF>', this.#tokens.peek(1).kind === 'end')
    } catch (error) {
      if (!(error instanceof Stop)) throw error
    }
    const { issues } = this.#tokens
    if (tree === undefined || issues.length > 0) throw new ExpressionError(this.#source, issues)
    return tree
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
      this.#tokens.issue(-1, 'max recursion depth exceeded')
      throw new Stop()
    }
    if (depth > 0) this.#operatorDepths.set(expr, depth)
    return expr
  }

  #expression(): Expr {
    if (++this.#depth > nestingMax) {
      this.#tokens.issue(-1, `expression recursion limit exceeded: ${nestingMax}`)
      throw new Stop()
    }
    const condition = this.#or()
    const question = this.#tokens.accept('?')
    let tree = condition
    if (question !== undefined) {
      const then = this.#or()
      this.#tokens.expect(':')
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
  #chain(operator: '||' | '&&', parseOperand: () => Expr): Expr {
    const operands = [parseOperand()]
    const places: number[] = []
    for (let op = this.#tokens.accept(operator); op !== undefined; op = this.#tokens.accept(operator)) {
      places.push(op.at)
      operands.push(parseOperand())
    }
    const grouped = (start: number, end: number): Expr => {
      if (start === end) return operands[start] as Expr
      const middle = (start + end) >> 1
      const left = grouped(start, middle)
      const right = grouped(middle + 1, end)
      return this.#built(call(`_${operator}_`, places[middle] ?? 0, left, right), false)
    }
    return grouped(0, places.length)
  }

  /** Takes a relation that was parsed before an interruption. */
  #relation(): Expr {
    if (this.#relations === undefined) return this.#newRelation()
    const start = this.#tokens.position
    const known = this.#relations.get(start)
    if (known !== undefined) {
      this.#tokens.moveTo(known.end)
      return known.tree
    }
    const tree = this.#newRelation()
    this.#relations.set(start, { tree, end: this.#tokens.position })
    this.#completed.completed()
    return tree
  }

  #newRelation(): Expr {
    let left = this.#sum()
    while (this.#tokens.current.kind !== 'string' && relations.has(this.#tokens.current.text)) {
      const { text, at } = this.#tokens.next()
      left = this.#built(call(text === 'in' ? '@in' : `_${text}_`, at, left, this.#sum()), true)
    }
    return left
  }

  #sum(): Expr {
    let left = this.#product()
    for (
      let op = this.#tokens.accept('+') ?? this.#tokens.accept('-');
      op !== undefined;
      op = this.#tokens.accept('+') ?? this.#tokens.accept('-')
    )
      left = this.#built(call(`_${op.text}_`, op.at, left, this.#product()), true)
    return left
  }

  #product(): Expr {
    const take = () => this.#tokens.accept('*') ?? this.#tokens.accept('/') ?? this.#tokens.accept('%')
    let left = this.#unary()
    for (let op = take(); op !== undefined; op = take())
      left = this.#built(call(`_${op.text}_`, op.at, left, this.#unary()), true)
    return left
  }

  #unary(): Expr {
    const first = this.#tokens.current
    let count = 0
    if (this.#tokens.is('!')) {
      while (this.#tokens.accept('!')) count++
      const target = this.#member()
      return count % 2 === 0 ? target : this.#built(call('!_', first.at, target), false)
    }
    // A single minus before a number is part of the number.
    while (this.#tokens.is('-') && !(count === 0 && isSigned(this.#tokens.peek(1)))) {
      this.#tokens.next()
      count++
    }
    const target = this.#member()
    return count % 2 === 0 ? target : this.#built(call('-_', first.at, target), false)
  }

  #member(): Expr {
    let tree = this.#primary()
    for (;;) {
      const dot = this.#tokens.accept('.')
      if (dot !== undefined) {
        tree = this.#selection(tree, dot)
        continue
      }
      const bracket = this.#tokens.accept('[')
      if (bracket === undefined) return tree
      const isOptional = this.#tokens.accept('?') !== undefined
      const index = this.#expression()
      this.#tokens.expect(']')
      tree = this.#built(call(isOptional ? '_[?_]' : '_[_]', bracket.at, tree, index), true)
    }
  }

  #selection(operandTree: Expr, { at }: Token): Expr {
    const isOptional = this.#tokens.accept('?') !== undefined
    const name = this.#tokens.current
    const selected = (field: string): Expr =>
      this.#built({ kind: 'select', at, operand: operandTree, field, isTest: false, isOptional }, true)
    if (name.kind === 'quotedIdentifier') {
      if (isKubernetes(this.#dialect)) this.#tokens.issue(name.at, "unsupported syntax: '`'")
      this.#tokens.next()
      return selected(name.text.slice(1, -1))
    }
    if (name.kind === 'symbol' && name.text === '.') return this.#tokens.noViableFrom(at, name)
    if (name.kind !== 'identifier') return this.#tokens.stop(isOptional ? '{IDENTIFIER, ESC_IDENTIFIER}' : 'IDENTIFIER')
    this.#tokens.next()
    const open = isOptional ? undefined : this.#tokens.accept('(')
    if (open === undefined) return selected(name.text)
    return this.#call(name.text, open.at, operandTree)
  }

  #call(name: string, at: number, target: Expr | undefined): Expr {
    const args: Expr[] = []
    if (!this.#tokens.is(')')) {
      do args.push(this.#expression())
      while (this.#tokens.accept(','))
    }
    this.#tokens.expect(')')
    const report = (issueAt: number, message: string): void => this.#tokens.issue(issueAt, message)
    const expanded = expandMacro({ name, at, target, args, dialect: this.#dialect }, report)
    return this.#built(expanded ?? { kind: 'call', at, name, target, args }, target !== undefined)
  }

  #primary(): Expr {
    const { kind, text, at } = this.#tokens.current
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
        this.#tokens.next()
        return { kind: 'literal', at, value: text === 'null' ? null : text === 'true' }
      case 'identifier':
        return this.#name('')
      case 'symbol':
        if (text === '-' && isSigned(this.#tokens.peek(1))) {
          this.#tokens.next()
          return { ...this.#number('-'), at }
        }
        if (text === '.' && this.#tokens.peek(1).kind === 'identifier') {
          this.#tokens.next()
          return this.#name('.')
        }
        if (text === '(') return this.#parenthesis()
        if (text === '[') return this.#list()
        if (text === '{') return this.#map()
        // These tokens can start operands, but not here or not before the next token.
        if (text === '.' || text === '-') return this.#tokens.noViableFrom(at, this.#tokens.peek(1))
        if (text === '!') return this.#tokens.noViableFrom(this.#tokens.peek(-1).at, this.#tokens.current)
        break
      default:
    }
    return this.#noOperand()
  }

  #noOperand(): Expr {
    const rejected = this.#tokens.current
    const { kind } = rejected
    if (kind !== 'end' && kind !== 'quotedIdentifier' && this.#tokens.peek(1).kind === 'end') {
      this.#tokens.wrong(operand)
      this.#tokens.next()
    }
    this.#skipTo(operand)
    // A token that could start an operand but does not, such as the dot in `.?a`.
    if (this.#tokens.current === rejected) this.#tokens.stop(operand)
    return this.#member()
  }

  /** One extra token before an operand is skipped; more end the parsing. */
  #skipTo(expected: string): void {
    if (startsOperand(this.#tokens.current)) return
    if (this.#tokens.current.kind === 'end' || !startsOperand(this.#tokens.peek(1))) this.#tokens.stop(expected)
    this.#tokens.wrong(expected, true)
    this.#tokens.next()
  }

  #parenthesis(): Expr {
    this.#tokens.next()
    const tree = this.#expression()
    this.#tokens.expect(')')
    return tree
  }

  #number(sign: '' | '-'): Expr {
    const { kind, text, at } = this.#tokens.next()
    const digits = kind === 'uint' ? text.slice(0, -1) : text
    if (kind === 'double') {
      const value = Number(sign + digits)
      if (!Number.isFinite(value)) this.#tokens.issue(at, 'invalid double literal')
      return { kind: 'literal', at, value }
    }
    const value = sign === '-' ? -BigInt(digits) : BigInt(digits)
    const isUint = kind === 'uint'
    const fits = isUint ? value < 1n << 64n : value >= -(1n << 63n) && value < 1n << 63n
    if (!fits) this.#tokens.issue(at, `invalid ${kind} literal`)
    return { kind: 'literal', at, value: isUint ? new Uint(BigInt.asUintN(64, value)) : BigInt.asIntN(64, value) }
  }

  #text(): Expr {
    const { kind, text, at } = this.#tokens.next()
    try {
      return { kind: 'literal', at, value: kind === 'bytes' ? bytesOf(text) : textOf(text) }
    } catch (error) {
      this.#tokens.issue(at, error instanceof Error ? error.message : String(error))
      return { kind: 'literal', at, value: '' }
    }
  }

  /** A variable, a call, or a message: `a`, `a(…)`, `a.b{…}`. */
  #name(dot: '' | '.'): Expr {
    const message = this.#messageName()
    if (message !== undefined) return this.#struct(dot + message)
    const { text, at } = this.#tokens.next()
    const open = this.#tokens.accept('(')
    if (open !== undefined) return this.#call(dot + text, open.at, undefined)
    if (reserved.has(text)) {
      this.#tokens.issue(at, `reserved identifier: ${text}`)
      return { kind: 'literal', at, value: null }
    }
    return { kind: 'ident', at, name: dot + text }
  }

  /** Consumes the name before a `{`. Returns undefined and consumes nothing if there is none. */
  #messageName(): string | undefined {
    let ahead = 0
    while (this.#tokens.peek(ahead + 1).text === '.' && this.#tokens.peek(ahead + 2).kind === 'identifier') ahead += 2
    const after = this.#tokens.peek(ahead + 1)
    if (after.kind !== 'symbol' || after.text !== '{') return undefined
    const name = Array.from({ length: ahead + 1 }, () => this.#tokens.next().text)
    return name.join('')
  }

  #list(): Expr {
    const { at } = this.#tokens.next()
    const elements: { value: Expr; isOptional: boolean }[] = []
    if (!this.#tokens.is(']') && !this.#tokens.is('?')) this.#skipTo(listStart)
    while (!this.#tokens.is(']')) {
      const isOptional = this.#tokens.accept('?') !== undefined
      elements.push({ value: this.#expression(), isOptional })
      if (!this.#tokens.accept(',')) break
    }
    this.#tokens.expect(']', "{']', ','}")
    return this.#built({ kind: 'list', at, elements }, false)
  }

  #map(): Expr {
    const { at } = this.#tokens.next()
    const entries: MapEntry[] = []
    if (!this.#tokens.is('}') && !this.#tokens.is('?')) this.#skipTo(mapStart)
    while (!this.#tokens.is('}')) {
      const isOptional = this.#tokens.accept('?') !== undefined
      const key = this.#expression()
      const colon = this.#tokens.expect(':')
      entries.push({ at: colon.at, key, value: this.#expression(), isOptional })
      if (!this.#tokens.accept(',')) break
    }
    this.#tokens.expect('}', "{'}', ','}")
    return this.#built({ kind: 'map', at, entries }, false)
  }

  #struct(name: string): Expr {
    const { at } = this.#tokens.next()
    const fields: StructField[] = []
    while (!this.#tokens.is('}')) {
      const isOptional = this.#tokens.accept('?') !== undefined
      const { kind, text } = this.#tokens.current
      if (kind !== 'identifier' && kind !== 'quotedIdentifier')
        return this.#tokens.stop(isOptional ? '{IDENTIFIER, ESC_IDENTIFIER}' : fieldStart)
      this.#tokens.next()
      const colon = this.#tokens.expect(':')
      const field = kind === 'identifier' ? text : text.slice(1, -1)
      fields.push({ at: colon.at, name: field, value: this.#expression(), isOptional })
      if (!this.#tokens.accept(',')) break
    }
    this.#tokens.expect('}', "{'}', ','}")
    return this.#built({ kind: 'struct', at, name, fields }, false)
  }
}

const call = (name: string, at: number, ...args: readonly Expr[]): Expr => ({
  kind: 'call',
  at,
  name,
  target: undefined,
  args,
})
