// Label selectors as text: `a=b, c!=d, e in (f,g), !h, i>5`. One pass over the text, with upstream's messages.
import { fieldErrorText, invalid, type FieldError } from '../../schema/validation/field-error.ts'
import { int64 } from '../../schema/scalar/int64.ts'
import { labelValueErrors, qualifiedNameErrors } from '../validation/names.ts'
import type { Requirement, Selector } from './selectors.ts'
import { badRequest } from '../errors/status-error.ts'

type Symbol = '=' | '==' | '!=' | '!' | '(' | ')' | ',' | '<' | '>'
type Token = { readonly kind: Symbol | 'word' | 'end'; readonly text: string }

const isBlank = (character: string | undefined): boolean =>
  character === ' ' || character === '\t' || character === '\r' || character === '\n'
const isSymbol = (character: string | undefined): character is Symbol =>
  character !== undefined && '=!(),<>'.includes(character)

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length;) {
    const first = text[at]
    if (isBlank(first)) at++
    else if (isSymbol(first)) {
      const kind = (first === '=' || first === '!') && text[at + 1] === '=' ? (`${first}=` as const) : first
      tokens.push({ kind, text: kind })
      at += kind.length
    } else {
      const start = at
      while (at < text.length && !isBlank(text[at]) && !isSymbol(text[at])) at++
      tokens.push({ kind: 'word', text: text.slice(start, at) })
    }
  }
  return tokens
}

const end: Token = { kind: 'end', text: '' }

export function parseLabelSelector(text: string): Selector {
  const tokens = tokensOf(text)
  let at = 0
  const next = (): Token => tokens[at] ?? end
  const take = (): Token => tokens[at++] ?? end
  const startsRequirement = () => next().kind === 'word' || next().kind === '!'

  if (next().kind === 'end') return []
  if (!startsRequirement()) throw badRequest(`found '${next().text}', expected: !, identifier, or 'end of string'`)
  const requirements = [requirementOf(next, take)]
  while (next().kind === ',') {
    take()
    if (!startsRequirement()) throw badRequest(`found '${next().text}', expected: identifier after ','`)
    requirements.push(requirementOf(next, take))
  }
  if (next().kind !== 'end') throw badRequest(`found '${next().text}', expected: ',' or 'end of string'`)
  return requirements
}

const unparsed = (why: string): Error => badRequest(`unable to parse requirement: ${why}`)

function requirementOf(next: () => Token, take: () => Token): Requirement {
  const isAbsent = next().kind === '!'
  if (isAbsent) take()
  const { kind, text: key } = take()
  if (kind !== 'word') throw unparsed(`found '${key}', expected: identifier`)
  const keyErrors = qualifiedNameErrors(key)
  if (keyErrors.length > 0) throw unparsed(fieldErrorText(invalid('<nil>', key, keyErrors.join('; '))))
  if (isAbsent) return { key, operator: 'DoesNotExist', values: [] }
  if (next().kind === 'end' || next().kind === ',') return { key, operator: 'Exists', values: [] }
  const operator = operatorOf(take())
  const values = operator === 'in' || operator === 'notin' ? listOf(next, take) : [valueOf(next, take)]
  reject([...integerErrors(operator, values), ...valueErrors(key, values)])
  return { key, operator: operators[operator], values }
}

const operators = { in: 'In', notin: 'NotIn', '=': 'In', '==': 'In', '!=': 'NotIn', '>': 'Gt', '<': 'Lt' } as const
type Operator = keyof typeof operators

function operatorOf({ text }: Token): Operator {
  if (Object.hasOwn(operators, text)) return text as Operator
  throw unparsed(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
}

function valueOf(next: () => Token, take: () => Token): string {
  if (next().kind === 'end' || next().kind === ',') return ''
  const { kind, text } = take()
  if (kind !== 'word') throw unparsed(`found '${text}', expected: identifier`)
  return text
}

/** Sorted and without duplicates. A value may be empty: `(,a)`, `()`. */
function listOf(next: () => Token, take: () => Token): readonly string[] {
  const open = take()
  if (open.kind !== '(') throw unparsed(`found '${open.text}' expected: '('`)
  if (next().kind !== 'word' && next().kind !== ',' && next().kind !== ')')
    throw unparsed(`found '${next().text}', expected: ',', ')' or identifier`)
  const values = new Set<string>()
  for (;;) {
    const { kind, text } = next()
    if (kind === 'word') take()
    else if (kind !== ',' && kind !== ')') throw unparsed(`found '${text}', expected: ',', or identifier`)
    values.add(kind === 'word' ? text : '')
    const separator = take()
    if (separator.kind === ')') return [...values].toSorted()
    if (separator.kind !== ',') throw unparsed(`found '${separator.text}', expected: ',' or ')'`)
  }
}

const integerErrors = (operator: Operator, values: readonly string[]): FieldError[] =>
  operator === '<' || operator === '>'
    ? values.flatMap((value, index) =>
        int64(value) === undefined
          ? [invalid(`values[${index}]`, value, `for 'Gt', 'Lt' operators, the value must be an integer`)]
          : [],
      )
    : []

const valueErrors = (key: string, values: readonly string[]): FieldError[] =>
  values.flatMap((value, index) => {
    const errors = labelValueErrors(value)
    return errors.length === 0 ? [] : [invalid(`values[${index}][${key}]`, value, errors.join('; '))]
  })

/** A single error is shown alone, several are shown in brackets. */
function reject(errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const texts = [...new Set(errors.map(fieldErrorText))]
  throw unparsed(texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`)
}
