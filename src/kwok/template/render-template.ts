// Renders Go templates, with the rules of upstream for what is empty, missing keys and the scope of variables.
import { lookup } from '../../base/collections/lookup.ts'
import { stepsOf } from '../work/value-steps.ts'
import { isEmpty, isMapValue, printedValue } from './template-values.ts'
import {
  TemplateError,
  type Body,
  type Command,
  type Operand,
  type Pipeline,
  type Template,
  type TemplateFunctions,
  type TemplateNode,
  type TemplateValue,
} from './template-nodes.ts'

const charactersMax = 4 * 1024 * 1024
const stepsMax = 200_000
const templatesDeepMax = 100

interface Variable {
  readonly name: string
  value: TemplateValue
}

interface Run {
  readonly template: Template
  readonly functions: TemplateFunctions
  readonly pieces: string[]
  characters: number
  steps: number
}

/** The dot and the variables that a node sees. A body declares its variables in a scope of its own. */
interface Scope {
  readonly dot: TemplateValue
  readonly variables: readonly Variable[]
  readonly templatesDeep: number
}

/** How a body ended. */
type Flow = 'done' | 'break' | 'continue'

export function renderTemplate(template: Template, data: TemplateValue, functions: TemplateFunctions): string {
  const run: Run = { template, functions, pieces: [], characters: 0, steps: 0 }
  renderBody(template.body, newScope(data, 0), run)
  return run.pieces.join('')
}

const newScope = (dot: TemplateValue, templatesDeep: number): Scope => ({
  dot,
  variables: [{ name: '', value: dot }],
  templatesDeep,
})

function renderBody(body: Body, outer: Scope, run: Run): Flow {
  let scope = outer
  for (const node of body) {
    if (++run.steps > stepsMax) throw new TemplateError(`the template takes more than ${stepsMax} steps`)
    if (node.kind === 'action') {
      const { value, scope: next } = evaluated(node.pipeline, scope, run)
      if (node.pipeline.variables.length === 0) write(printedValue(value), run)
      scope = next
      continue
    }
    const flow = renderNode(node, scope, run)
    if (flow !== 'done') return flow
  }
  return 'done'
}

function renderNode(node: Exclude<TemplateNode, { kind: 'action' }>, scope: Scope, run: Run): Flow {
  switch (node.kind) {
    case 'text':
      write(node.text, run)
      return 'done'
    case 'if':
    case 'with': {
      const { value, scope: inner } = evaluated(node.pipeline, scope, run)
      if (isEmpty(value)) return renderBody(node.otherwise, inner, run)
      return renderBody(node.body, node.kind === 'with' ? { ...inner, dot: value } : inner, run)
    }
    case 'range':
      return renderRange(node, scope, run)
    case 'template':
      renderDefined(node.name, node.pipeline, scope, run)
      return 'done'
    case 'break':
    case 'continue':
      return node.kind
    default:
      return node satisfies never
  }
}

function renderRange({ pipeline, body, otherwise }: TemplateNode & { kind: 'range' }, scope: Scope, run: Run): Flow {
  const value = valueOf(pipeline.commands, scope, run)
  const entries = entriesOf(value)
  if (entries.length === 0) return renderBody(otherwise, scope, run)
  const [first, second] = pipeline.variables
  for (const [key, item] of entries) {
    const own: Variable[] = []
    if (first !== undefined) own.push({ name: first, value: second === undefined ? item : key })
    if (second !== undefined) own.push({ name: second, value: item })
    const flow = renderBody(body, { ...scope, dot: item, variables: [...scope.variables, ...own] }, run)
    if (flow === 'break') break
  }
  return 'done'
}

/** Maps are in the order of their keys. */
function entriesOf(value: TemplateValue): readonly (readonly [TemplateValue, TemplateValue])[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.map((item: TemplateValue, index) => [index, item] as const)
  if (isMapValue(value))
    return Object.keys(value)
      .toSorted()
      .map((key) => [key, lookup(value, key)] as const)
  if (typeof value === 'number' && Number.isInteger(value) && value <= stepsMax)
    return Array.from({ length: Math.max(0, value) }, (_, index) => [index, index] as const)
  throw new TemplateError(`range can't iterate over ${printedValue(value)}`)
}

function renderDefined(name: string, pipeline: Pipeline | undefined, scope: Scope, run: Run): void {
  const body = run.template.defined.get(name)
  if (body === undefined) throw new TemplateError(`template ${JSON.stringify(name)} not defined`)
  const templatesDeep = scope.templatesDeep + 1
  if (templatesDeep > templatesDeepMax) throw new TemplateError(`exceeded maximum template depth (${templatesDeepMax})`)
  const dot = pipeline === undefined ? undefined : evaluated(pipeline, scope, run).value
  renderBody(body, newScope(dot, templatesDeep), run)
}

/** The value of a pipeline, and the scope after it with the variables that it declares. */
function evaluated(
  pipeline: Pipeline,
  scope: Scope,
  run: Run,
): { readonly value: TemplateValue; readonly scope: Scope } {
  const value = valueOf(pipeline.commands, scope, run)
  const [name] = pipeline.variables
  if (name === undefined) return { value, scope }
  if (pipeline.isAssignment) {
    variableOf(name, scope).value = value
    return { value, scope }
  }
  return { value, scope: { ...scope, variables: [...scope.variables, { name, value }] } }
}

function valueOf(commands: readonly Command[], scope: Scope, run: Run): TemplateValue {
  let value: TemplateValue
  for (const [index, command] of commands.entries()) {
    const [first, ...rest] = command
    if (first === undefined) continue
    value =
      first.kind === 'function'
        ? callOf(first.name, rest, index === 0 ? [] : [value], scope, run)
        : operandValue(first, scope, run)
  }
  return value
}

function callOf(
  name: string,
  operands: readonly Operand[],
  last: readonly TemplateValue[],
  scope: Scope,
  run: Run,
): TemplateValue {
  // As upstream, later arguments are not evaluated once the result is certain.
  if (name === 'and' || name === 'or') return junction(name, operands, last, scope, run)
  const args = [...operands.map((operand) => operandValue(operand, scope, run)), ...last]
  try {
    return counted(lookup(run.functions, name)?.(...args.map((each) => counted(each, run))), run)
  } catch (error) {
    throw new TemplateError(`error calling ${name}: ${(error as Error).message}`, { cause: error })
  }
}

/** The value itself; handling it takes longer the larger it is. */
function counted(value: TemplateValue, run: Run): TemplateValue {
  const steps = stepsOf(value)
  if (steps === undefined) throw new Error('a value is too large')
  run.steps += steps
  if (run.steps > stepsMax) throw new Error(`the template takes more than ${stepsMax} steps`)
  return value
}

function junction(
  name: 'and' | 'or',
  operands: readonly Operand[],
  last: readonly TemplateValue[],
  scope: Scope,
  run: Run,
): TemplateValue {
  let value: TemplateValue
  for (const operand of operands) {
    value = operandValue(operand, scope, run)
    if (isEmpty(value) === (name === 'and')) return value
  }
  return last.length === 0 ? value : last[0]
}

function operandValue(operand: Operand, scope: Scope, run: Run): TemplateValue {
  if (++run.steps > stepsMax) throw new TemplateError(`the template takes more than ${stepsMax} steps`)
  switch (operand.kind) {
    case 'dot':
      return fieldsOf(scope.dot, operand.fields)
    case 'variable':
      return fieldsOf(variableOf(operand.name, scope).value, operand.fields)
    case 'literal':
      return operand.value
    case 'function':
      return callOf(operand.name, [], [], scope, run)
    case 'pipeline':
      return fieldsOf(evaluated(operand.pipeline, scope, run).value, operand.fields)
    default:
      return operand satisfies never
  }
}

function variableOf(name: string, { variables }: Scope): Variable {
  const found = variables.findLast((each) => each.name === name)
  if (found === undefined) throw new TemplateError(`undefined variable "$${name}"`)
  return found
}

function fieldsOf(value: TemplateValue, fields: readonly string[]): TemplateValue {
  let found = value
  for (const field of fields) {
    if (found === undefined || found === null) return undefined
    if (!isMapValue(found)) throw new TemplateError(`can't evaluate field ${field} in ${printedValue(found)}`)
    found = lookup(found, field)
  }
  return found
}

function write(text: string, run: Run): void {
  run.characters += text.length
  if (run.characters > charactersMax) throw new TemplateError(`the result has more than ${charactersMax} characters`)
  run.pieces.push(text)
}
