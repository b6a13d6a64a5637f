// Selectors of objects by labels or fields. Their texts are parsed in label-selector-text.ts and field-selector-text.ts.
import { lookup } from '../../base/collections/lookup.ts'
import { int64 } from '../../schema/scalar/int64.ts'
import type { LabelSelector } from '../meta/v1/label-selector.ts'

export type Labels = Readonly<Record<string, string>>

/** One requirement on one label or field. */
export interface Requirement {
  readonly key: string
  /** `Gt` and `Lt` only exist in the text form, with one integer as value. */
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  readonly values: readonly string[]
}

export type Selector = readonly Requirement[]

export const everything: Selector = []

export const matchesLabels = (selector: Selector, labels: Labels | undefined): boolean =>
  selector.every(({ key, operator, values }) => {
    const value = lookup(labels, key)
    switch (operator) {
      case 'In':
        return value !== undefined && isOneOf(values, value)
      case 'NotIn':
        return value === undefined || !isOneOf(values, value)
      case 'Exists':
        return value !== undefined
      case 'DoesNotExist':
        return value === undefined
      case 'Gt':
      case 'Lt':
        return value !== undefined && isBeyond(value, operator, values[0] ?? '')
      default:
        // An object that is not validated, such as one in another server's store, may have any operator.
        operator satisfies never
        return false
    }
  })

/** A longer list of values becomes a set, so that filtering many objects is linear in the size of the selector. */
const listedValuesMax = 8
const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>()

function isOneOf(values: readonly string[], value: string): boolean {
  if (values.length <= listedValuesMax) return values.includes(value)
  let set = valueSets.get(values)
  if (set === undefined) valueSets.set(values, (set = new Set(values)))
  return set.has(value)
}

function isBeyond(value: string, operator: 'Gt' | 'Lt', limit: string): boolean {
  const number = int64(value)
  const bound = int64(limit)
  return number !== undefined && bound !== undefined && (operator === 'Gt' ? number > bound : number < bound)
}

/** The selector of a spec. An absent one selects nothing, an empty one everything. */
export function selectorOf(selector: LabelSelector | undefined): Selector | undefined {
  if (selector === undefined) return undefined
  const equalities = Object.entries(selector.matchLabels ?? {}).map(([key, value]): Requirement => ({
    key,
    operator: 'In',
    values: [value],
  }))
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }): Requirement => ({
    key,
    operator: operator as Requirement['operator'],
    values,
  }))
  return [...equalities, ...expressions]
}

export const selects = (selector: LabelSelector | undefined, labels: Labels | undefined): boolean => {
  const requirements = selectorOf(selector)
  return requirements !== undefined && matchesLabels(requirements, labels)
}

/** As `kubectl get -o wide` shows it. */
export function selectorText(selector: LabelSelector | undefined): string {
  const requirements = selectorOf(selector)
  if (requirements === undefined) return '<none>'
  return requirements
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, operator, values }) => {
      switch (operator) {
        case 'In':
          return values.length === 1 && values[0] === lookup(selector?.matchLabels, key)
            ? `${key}=${values[0]}`
            : `${key} in (${values.toSorted().join(',')})`
        case 'NotIn':
          return `${key} notin (${values.toSorted().join(',')})`
        case 'Exists':
          return key
        case 'DoesNotExist':
          return `!${key}`
        case 'Gt':
        case 'Lt':
          return `${key}${operator === 'Gt' ? '>' : '<'}${values[0]}`
        default:
          return operator satisfies never
      }
    })
    .join(',')
}

/** Whether the fields match the selector. `valueOf` reads a field; an absent one is the empty string. */
export const matchesFields = (selector: Selector, valueOf: (key: string) => string): boolean =>
  selector.every(({ key, operator, values }) => values.includes(valueOf(key)) === (operator === 'In'))
