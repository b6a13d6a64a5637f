// Parser of jq expressions: paths, comparisons, arithmetic, conditions and the functions of jq-functions.ts.
import { isJqFunction } from './jq-functions.ts'
import { jqTokens, type JqToken } from './jq-lexer.ts'
import { JqError, type BinaryOperator, type JqQuery } from './jq-query.ts'

/** By precedence, the loosest first. Comparisons are not associative. */
const levels: readonly (readonly BinaryOperator[])[] = [
  ['//'],
  ['or'],
  ['and'],
  ['==', '!=', '<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
]
const comparisonLevel = 3
const depthMax = 100

const identity: JqQuery = { kind: 'identity' }

/** Throws a JqError that names the place. */
export function parseJq(text: string): JqQuery {
  const parser = new Parser(jqTokens(text))
  const query = parser.pipe()
  parser.expectEnd()
  return query
}

class Parser {
  readonly #tokens: readonly JqToken[]
  #next = 0
  #depth = 0

  constructor(tokens: readonly JqToken[]) {
    this.#tokens = tokens
  }

  expectEnd(): void {
    if (this.#token.kind !== 'end') this.#fail()
  }

  pipe(): JqQuery {
    if (++this.#depth > depthMax) throw new JqError(`the expression is nested more than ${depthMax} levels deep`)
    const from = this.#comma()
    const query: JqQuery = this.#takeSymbol('|') ? { kind: 'pipe', from, to: this.pipe() } : from
    this.#depth--
    return query
  }

  #comma(): JqQuery {
    let left = this.#binary(0)
    while (this.#takeSymbol(',')) left = { kind: 'comma', left, right: this.#binary(0) }
    return left
  }

  #binary(level: number): JqQuery {
    const operators = levels[level]
    if (operators === undefined) return this.#negated()
    let left = this.#binary(level + 1)
    for (let operator = this.#takeOperator(operators); operator; operator = this.#takeOperator(operators)) {
      // `//` is right-associative.
      const right = this.#binary(level === 0 ? level : level + 1)
      left = { kind: 'binary', operator, left, right }
      if (level === comparisonLevel) break
    }
    return left
  }

  #negated(): JqQuery {
    return this.#takeSymbol('-') ? { kind: 'negate', of: this.#postfix() } : this.#postfix()
  }

  #postfix(): JqQuery {
    let query = this.#primary()
    for (;;) {
      const { kind, text } = this.#token
      if (kind === 'field') query = this.#indexed(query, this.#literalOf(this.#take().text))
      else if (kind === 'symbol' && text === '[') query = this.#bracket(query)
      else if (kind === 'symbol' && text === '.' && this.#isSymbol('[', 1)) {
        this.#take()
        query = this.#bracket(query)
      } else return query
    }
  }

  #primary(): JqQuery {
    const token = this.#take()
    switch (token.kind) {
      case 'field':
        return this.#indexed(identity, this.#literalOf(token.text))
      case 'number':
        return { kind: 'literal', value: Number(token.text) }
      case 'string':
        return { kind: 'literal', value: token.text }
      case 'name':
        return this.#named(token)
      case 'symbol':
        return this.#symbol(token)
      case 'end':
        return this.#fail(token)
      default:
        return token.kind satisfies never
    }
  }

  #symbol(token: JqToken): JqQuery {
    if (token.text === '.') {
      if (this.#token.kind === 'string') return this.#indexed(identity, this.#literalOf(this.#take().text))
      return this.#isSymbol('[') ? this.#bracket(identity) : identity
    }
    if (token.text === '(') {
      const query = this.pipe()
      this.#expect(')')
      return query
    }
    if (token.text === '[') {
      if (this.#takeSymbol(']')) return { kind: 'list', of: undefined }
      const of = this.pipe()
      this.#expect(']')
      return { kind: 'list', of }
    }
    return this.#fail(token)
  }

  #named(token: JqToken): JqQuery {
    switch (token.text) {
      case 'true':
      case 'false':
        return { kind: 'literal', value: token.text === 'true' }
      case 'null':
        return { kind: 'literal', value: null }
      case 'if':
        return this.#condition()
    }
    const args: JqQuery[] = []
    if (this.#takeSymbol('(')) {
      do args.push(this.pipe())
      while (this.#takeSymbol(';'))
      this.#expect(')')
    }
    if (!isJqFunction(token.text, args.length)) throw new JqError(`function not defined: ${token.text}/${args.length}`)
    return { kind: 'call', name: token.text, args }
  }

  #condition(): JqQuery {
    const condition = this.pipe()
    this.#expectName('then')
    const consequent = this.pipe()
    if (this.#takeName('elif')) return { kind: 'if', condition, consequent, otherwise: this.#condition() }
    const otherwise = this.#takeName('else') ? this.pipe() : identity
    this.#expectName('end')
    return { kind: 'if', condition, consequent, otherwise }
  }

  /** `[]`, `["name"]` and `[0]` after a value. */
  #bracket(of: JqQuery): JqQuery {
    this.#expect('[')
    if (this.#takeSymbol(']')) return { kind: 'iterate', of, isOptional: this.#takeSymbol('?') }
    const by = this.pipe()
    this.#expect(']')
    return this.#indexed(of, by)
  }

  #indexed(of: JqQuery, by: JqQuery): JqQuery {
    return { kind: 'index', of, by, isOptional: this.#takeSymbol('?') }
  }

  #literalOf(value: string): JqQuery {
    return { kind: 'literal', value }
  }

  get #token(): JqToken {
    return this.#tokens[this.#next] as JqToken
  }

  #take(): JqToken {
    const token = this.#token
    if (token.kind !== 'end') this.#next++
    return token
  }

  #isSymbol(text: string, offset = 0): boolean {
    const token = this.#tokens[this.#next + offset]
    return token?.kind === 'symbol' && token.text === text
  }

  #takeSymbol(text: string): boolean {
    const isNext = this.#isSymbol(text)
    if (isNext) this.#next++
    return isNext
  }

  #takeName(text: string): boolean {
    const isNext = this.#token.kind === 'name' && this.#token.text === text
    if (isNext) this.#next++
    return isNext
  }

  #takeOperator(operators: readonly BinaryOperator[]): BinaryOperator | undefined {
    const { kind, text } = this.#token
    const operator = kind === 'symbol' || kind === 'name' ? operators.find((each) => each === text) : undefined
    if (operator !== undefined) this.#next++
    return operator
  }

  #expect(symbol: string): void {
    if (!this.#takeSymbol(symbol)) this.#fail()
  }

  #expectName(name: string): void {
    if (!this.#takeName(name)) this.#fail()
  }

  #fail({ kind, text, at }: JqToken = this.#token): never {
    throw new JqError(kind === 'end' ? 'unexpected end' : `unexpected ${JSON.stringify(text)} at ${at}`)
  }
}
