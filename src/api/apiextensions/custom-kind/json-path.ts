// jsonPath: the JSONPath of a printer column: names, indexes, wildcards, slices and filters with a comparison.
import { lookup } from '../../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'

/** From the values that a step begins with to those that it selects. */
type Step = (values: readonly JsonValue[]) => readonly JsonValue[]

/** Nothing is selected by a path that cannot be parsed; the definition's validation has rejected it before. */
export function jsonPath(text: string): (object: JsonObject) => readonly JsonValue[] {
  const steps = stepsOf(text)
  return (object) => (steps ?? [() => []]).reduce<readonly JsonValue[]>((values, step) => step(values), [object])
}

const stepForms = {
  name: /^\.?([A-Za-z_$][\w$-]*)/y,
  quoted: /^\['([^']*)'\]|^\["([^"]*)"\]/y,
  index: /^\[(-?\d{1,9})\]/y,
  slice: /^\[(-?\d{0,9}):(-?\d{0,9})\]/y,
  wildcard: /^\.?\[?\*\]?/y,
  filter: /^\[\?\(\s*@\.([\w.$-]+)\s*(?:(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([\w.+-]+))\s*)?\)\]/y,
} as const

function stepsOf(path: string): readonly Step[] | undefined {
  let rest = path.replace(/^\$/, '')
  const steps: Step[] = []
  while (rest !== '' && rest !== '.') {
    const found = nextStep(rest)
    if (found === undefined) return undefined
    steps.push(found.step)
    rest = rest.slice(found.length)
  }
  return steps
}

function nextStep(text: string): { readonly step: Step; readonly length: number } | undefined {
  for (const [form, make] of Object.entries(makers)) {
    const pattern = stepForms[form as keyof typeof stepForms]
    pattern.lastIndex = 0
    const match = pattern.exec(text)
    if (match !== null && match[0] !== '') return { step: make(match), length: match[0].length }
  }
  return undefined
}

const makers: Readonly<Record<keyof typeof stepForms, (match: RegExpExecArray) => Step>> = {
  filter: ([, field = '', operator, ...literals]) => filterStep(field, operator, literals),
  wildcard: () => (values) => values.flatMap(childrenOf),
  quoted: ([, single, double]) => nameStep(single ?? double ?? ''),
  index:
    ([, index]) =>
    (values) =>
      values.flatMap((value) => itemAt(value, Number(index))),
  slice:
    ([, start, end]) =>
    (values) =>
      values.flatMap((value) =>
        Array.isArray(value) ? (value as JsonValue[]).slice(Number(start || 0), end ? Number(end) : undefined) : [],
      ),
  name: ([, name = '']) => nameStep(name),
}

const nameStep =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => {
      const found = isJsonObject(value) ? lookup(value, name) : undefined
      return found === undefined ? [] : [found]
    })

function itemAt(value: JsonValue, index: number): readonly JsonValue[] {
  const item = Array.isArray(value) ? (value as JsonValue[]).at(index) : undefined
  return item === undefined ? [] : [item]
}

const childrenOf = (value: JsonValue): readonly JsonValue[] =>
  Array.isArray(value)
    ? (value as JsonValue[])
    : isJsonObject(value)
      ? Object.values(value).filter((item) => item !== undefined)
      : []

/** Without a comparison, the items that have the field. */
function filterStep(field: string, operator: string | undefined, literals: readonly (string | undefined)[]): Step {
  const path = field.split('.').map(nameStep)
  const wanted = literals.find((literal) => literal !== undefined)
  return (values) =>
    values.flatMap(childrenOf).filter((item) => {
      const [value] = path.reduce<readonly JsonValue[]>((found, step) => step(found), [item])
      if (operator === undefined) return value !== undefined
      return (String(value) === wanted) === (operator === '==')
    })
}
