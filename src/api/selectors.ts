// Selectors: which objects, by labels (text and LabelSelector) or by fields (text).
import { badRequest } from './status-error.ts'
import type { LabelSelector } from './meta/v1/label-selector.ts'

export type Labels = Readonly<Record<string, string>>

/** One demand on one label or field. */
export interface Requirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values: readonly string[]
}

export type Selector = readonly Requirement[]

export const everything: Selector = []

export const matchesLabels = (selector: Selector, labels: Labels | undefined): boolean =>
  selector.every(({ key, operator, values }) => {
    const value = labels?.[key]
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value)
      case 'NotIn':
        return value === undefined || !values.includes(value)
      case 'Exists':
        return value !== undefined
      case 'DoesNotExist':
        return value === undefined
      default:
        return operator satisfies never
    }
  })

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
          return values.length === 1 && values[0] === selector?.matchLabels?.[key]
            ? `${key}=${values[0]}`
            : `${key} in (${values.toSorted().join(',')})`
        case 'NotIn':
          return `${key} notin (${values.toSorted().join(',')})`
        case 'Exists':
          return key
        case 'DoesNotExist':
          return `!${key}`
        default:
          return operator satisfies never
      }
    })
    .join(',')
}

/** `a=b, c!=d, e in (f,g), !h` */
export function parseLabelSelector(text: string): Selector {
  const requirements: Requirement[] = []
  const pattern =
    /\s*(?:(!)\s*([^\s,=!()]+)|([^\s,=!()]+)\s*(?:(==?|!=)\s*([^\s,()]*)|(in|notin)\s*\(([^)]*)\))?)\s*(?:,|$)/y
  while (pattern.lastIndex < text.length) {
    const startIndex = pattern.lastIndex
    const match = pattern.exec(text)
    if (match === null || match[0] === '')
      throw badRequest(`unable to parse requirement: found '${text.slice(startIndex)}'`)
    const [, not, absentKey, key = '', equality, value = '', set, list = ''] = match
    if (not !== undefined) requirements.push({ key: absentKey ?? '', operator: 'DoesNotExist', values: [] })
    else if (equality !== undefined)
      requirements.push({ key, operator: equality === '!=' ? 'NotIn' : 'In', values: [value] })
    else if (set !== undefined)
      requirements.push({
        key,
        operator: set === 'in' ? 'In' : 'NotIn',
        values: list.split(',').map((item) => item.trim()),
      })
    else requirements.push({ key, operator: 'Exists', values: [] })
  }
  return requirements
}

/** `metadata.name=a,status.phase!=Failed` */
export function parseFieldSelector(text: string): Selector {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const match = /^\s*([^=!\s]+)\s*(==?|!=)\s*(.*?)\s*$/.exec(part)
      if (match === null)
        throw badRequest(`invalid selector: ${JSON.stringify(part)}; can't understand ${JSON.stringify(part)}`)
      const [, key = '', operator, value = ''] = match
      return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] }
    })
}

/** Whether the fields, read through `valueOf`, meet the selector. An absent field is empty text. */
export const matchesFields = (selector: Selector, valueOf: (key: string) => string): boolean =>
  selector.every(({ key, operator, values }) => values.includes(valueOf(key)) === (operator === 'In'))
