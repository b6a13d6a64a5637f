// Parser of Go templates. Names of functions are checked, so a template that parses calls no unknown function.
import { templateParts, type ActionToken, type TemplatePart } from './template-lexer.ts'
import {
  TemplateError,
  type Body,
  type Command,
  type Operand,
  type Pipeline,
  type Template,
  type TemplateNode,
} from './template-nodes.ts'

const depthMax = 100

/** Throws a TemplateError that names the line. */
export function parseTemplate(source: string, isFunction: (name: string) => boolean): Template {
  const parser = new Parser(templateParts(source), isFunction)
  const body = parser.body(['end of template'])
  return { body, defined: parser.defined }
}

/** What ends a body: a keyword, or the end of the template. */
type Terminator = 'end' | 'else' | 'end of template'

class Parser {
  readonly defined = new Map<string, Body>()
  readonly #parts: readonly TemplatePart[]
  readonly #isFunction: (name: string) => boolean
  #next = 0
  #depth = 0
  /** The `end` or `else` that ended the last body. */
  #terminator: { readonly word: Terminator; readonly rest: ActionReader | undefined } = {
    word: 'end of template',
    rest: undefined,
  }

  constructor(parts: readonly TemplatePart[], isFunction: (name: string) => boolean) {
    this.#parts = parts
    this.#isFunction = isFunction
  }

  body(terminators: readonly Terminator[]): Body {
    if (++this.#depth > depthMax) throw new TemplateError(`actions are nested more than ${depthMax} levels deep`)
    const nodes: TemplateNode[] = []
    for (;;) {
      const part = this.#parts[this.#next++]
      if (part === undefined) {
        this.#end({ word: 'end of template', rest: undefined }, terminators)
        return nodes
      }
      if (part.kind === 'text') {
        nodes.push(part)
        continue
      }
      const reader = new ActionReader(part.tokens, part.line, this.#isFunction)
      const word = reader.keyword()
      if (word === 'end' || word === 'else') {
        this.#end({ word, rest: reader }, terminators)
        return nodes
      }
      const node =
        word === undefined ? ({ kind: 'action', pipeline: reader.wholePipeline() } as const) : this.#node(word, reader)
      if (node !== undefined) nodes.push(node)
    }
  }

  #end(
    terminator: { readonly word: Terminator; readonly rest: ActionReader | undefined },
    allowed: readonly Terminator[],
  ): void {
    const { word, rest } = terminator
    if (!allowed.includes(word)) {
      if (rest !== undefined) rest.fail(`unexpected ${word}`)
      throw new TemplateError('unexpected end of the template: an action is not closed with end')
    }
    this.#depth--
    this.#terminator = terminator
  }

  #node(word: Keyword, reader: ActionReader): TemplateNode | undefined {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        return this.#branch(word, reader)
      case 'break':
      case 'continue':
        reader.expectEnd()
        return { kind: word }
      case 'define': {
        const name = reader.string()
        reader.expectEnd()
        this.defined.set(name, this.body(['end']))
        return undefined
      }
      case 'block': {
        const name = reader.string()
        const pipeline = reader.wholePipeline()
        this.defined.set(name, this.body(['end']))
        return { kind: 'template', name, pipeline }
      }
      case 'template': {
        const name = reader.string()
        return { kind: 'template', name, pipeline: reader.isAtEnd ? undefined : reader.wholePipeline() }
      }
      default:
        return word satisfies never
    }
  }

  #branch(kind: 'if' | 'with' | 'range', reader: ActionReader): TemplateNode {
    const pipeline = reader.wholePipeline()
    const body = this.body(['end', 'else'])
    return { kind, pipeline, body, otherwise: this.#otherwise() }
  }

  #otherwise(): Body {
    const { word, rest } = this.#terminator
    if (word !== 'else' || rest === undefined) {
      rest?.expectEnd()
      return []
    }
    if (rest.isAtEnd) {
      const otherwise = this.body(['end'])
      this.#terminator.rest?.expectEnd()
      return otherwise
    }
    const next = rest.keyword()
    if (next !== 'if' && next !== 'with') return rest.fail('unexpected text after else')
    return [this.#branch(next, rest)]
  }
}

const keywords = ['if', 'with', 'range', 'break', 'continue', 'define', 'block', 'template'] as const
type Keyword = (typeof keywords)[number]

/** Reads the tokens of one action. */
class ActionReader {
  readonly #tokens: readonly ActionToken[]
  readonly #line: number
  readonly #isFunction: (name: string) => boolean
  #next = 0

  constructor(tokens: readonly ActionToken[], line: number, isFunction: (name: string) => boolean) {
    this.#tokens = tokens
    this.#line = line
    this.#isFunction = isFunction
  }

  get isAtEnd(): boolean {
    return this.#next === this.#tokens.length
  }

  fail(problem: string): never {
    throw new TemplateError(`line ${this.#line}: ${problem}`)
  }

  expectEnd(): void {
    if (!this.isAtEnd) this.fail(`unexpected ${JSON.stringify(this.#token?.text)}`)
  }

  keyword(): Keyword | 'end' | 'else' | undefined {
    const token = this.#token
    const found = (['end', 'else', ...keywords] as const).find((word) => token?.kind === 'name' && token.text === word)
    if (found !== undefined) this.#next++
    return found
  }

  string(): string {
    const token = this.#tokens[this.#next++]
    return token?.kind === 'string' ? token.text : this.fail('a name in quotes is missing')
  }

  wholePipeline(): Pipeline {
    const pipeline = this.#pipeline(0)
    this.expectEnd()
    return pipeline
  }

  #pipeline(depth: number): Pipeline {
    if (depth > depthMax) this.fail(`parentheses are nested more than ${depthMax} levels deep`)
    const declared = this.#declaration()
    const commands: Command[] = []
    do {
      const command: Operand[] = []
      while (!this.isAtEnd && !this.#isSymbol('|') && !this.#isSymbol(')')) command.push(this.#operand(depth))
      if (command.length === 0) this.fail('a value is missing')
      const [first] = command
      if (command.length > 1 && first?.kind !== 'function') this.fail('only a function has arguments')
      if (commands.length > 0 && first?.kind !== 'function')
        this.fail('a value cannot be passed to what is no function')
      commands.push(command)
    } while (this.#takeSymbol('|'))
    return { ...declared, commands }
  }

  /** `$a := `, `$a = ` and `$index, $item := ` */
  #declaration(): Pick<Pipeline, 'variables' | 'isAssignment'> {
    const start = this.#next
    const variables: string[] = []
    while (this.#token?.kind === 'variable') {
      variables.push(this.#token.text)
      this.#next++
      if (!this.#takeSymbol(',')) break
    }
    const isAssignment = this.#isSymbol('=')
    if (variables.length > 0 && (this.#takeSymbol(':=') || this.#takeSymbol('='))) return { variables, isAssignment }
    this.#next = start
    return { variables: [], isAssignment: false }
  }

  #operand(depth: number): Operand {
    const token = this.#tokens[this.#next++]
    if (token === undefined) return this.fail('a value is missing')
    switch (token.kind) {
      case 'dot':
        return { kind: 'dot', fields: [] }
      case 'field':
        return { kind: 'dot', fields: [token.text, ...this.#fields()] }
      case 'variable':
        return { kind: 'variable', name: token.text, fields: this.#fields() }
      case 'number':
        return { kind: 'literal', value: Number(token.text) }
      case 'string':
        return { kind: 'literal', value: token.text }
      case 'name':
        return this.#named(token.text)
      case 'symbol':
        return token.text === '(' ? this.#parenthesized(depth) : this.fail(`unexpected ${JSON.stringify(token.text)}`)
      default:
        return token.kind satisfies never
    }
  }

  #parenthesized(depth: number): Operand {
    const pipeline = this.#pipeline(depth + 1)
    if (!this.#takeSymbol(')')) this.fail('")" is missing')
    return { kind: 'pipeline', pipeline, fields: this.#fields() }
  }

  #named(name: string): Operand {
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' }
    if (name === 'nil') return { kind: 'literal', value: null }
    if (!this.#isFunction(name)) this.fail(`function ${JSON.stringify(name)} not defined`)
    return { kind: 'function', name }
  }

  /** Fields that follow without a blank. */
  #fields(): readonly string[] {
    const fields: string[] = []
    for (let token = this.#token; token?.kind === 'field' && !token.isAfterSpace; token = this.#token) {
      fields.push(token.text)
      this.#next++
    }
    return fields
  }

  get #token(): ActionToken | undefined {
    return this.#tokens[this.#next]
  }

  #isSymbol(text: string): boolean {
    return this.#token?.kind === 'symbol' && this.#token.text === text
  }

  #takeSymbol(text: string): boolean {
    const isNext = this.#isSymbol(text)
    if (isNext) this.#next++
    return isNext
  }
}
