// selectByPath: the values that a JSONPath selects in an object, or undefined where it cannot be evaluated: an index is out
// of range, something that is no list has an index or a filter, or values of different types are compared.
import { lookup } from '../../../base/collections/lookup.ts'
import { isJsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import { compareValues, type Selected } from './json-path-comparison.ts'
import type { JsonPath, JsonPathStep } from './json-path-parser.ts'

/** A path of several `..` or unions can select a value many times. */
const selectedValuesMax = 100_000

export const selectByPath = (path: JsonPath, value: JsonValue): readonly Selected[] | undefined => {
  const { values, isFailed } = new Evaluation().select(path, [value])
  return isFailed ? undefined : values
}

interface Selection {
  /** What is selected, or what the failed step began with. */
  readonly values: readonly Selected[]
  readonly isFailed: boolean
}

type SliceStep = Extract<JsonPathStep, { kind: 'slice' }>
type FilterStep = Extract<JsonPathStep, { kind: 'filter' }>

class Evaluation {
  #valuesLeft = selectedValuesMax

  select(path: JsonPath, input: readonly Selected[]): Selection {
    let values = input
    for (const step of path) {
      const selected: Selected[] = []
      if (!this.#selectStep(step, values, selected)) return { values, isFailed: true }
      values = selected
    }
    return { values, isFailed: false }
  }

  /** Adds to what is selected; false when there is too much of it. */
  #add(selected: Selected[], value: Selected): boolean {
    selected.push(value)
    return this.#valuesLeft-- > 0
  }

  #addAll(selected: Selected[], values: readonly Selected[]): boolean {
    return values.every((value) => this.#add(selected, value))
  }

  #selectStep(step: JsonPathStep, values: readonly Selected[], selected: Selected[]): boolean {
    switch (step.kind) {
      case 'field':
        return values.every((value) => {
          const found = isJsonObject(value) ? lookup(value, step.name) : undefined
          return found === undefined || found === null || this.#add(selected, found)
        })
      case 'wildcard':
        return values.every((value) => this.#addAll(selected, childrenOf(value)))
      case 'recursive':
        return values.every((value) => this.#descend(selected, value))
      case 'slice':
        return this.#slice(step, values, selected)
      case 'union':
        return step.paths.every((path) => {
          const part = this.select(path, values)
          return !part.isFailed && this.#addAll(selected, part.values)
        })
      case 'filter':
        return values.every((value) => value === null || (isList(value) && this.#filter(step, value, selected)))
      case 'literal':
        return this.#add(selected, step.value)
      case 'identifier':
        return false
      default:
        return step satisfies never
    }
  }

  /** Numbers, booleans and whatever is empty are left out. */
  #descend(selected: Selected[], value: Selected): boolean {
    const children = childrenOf(value)
    const hasContent = typeof value === 'string' ? value !== '' : children.length > 0
    if (!hasContent) return true
    return this.#add(selected, value) && children.every((child) => this.#descend(selected, child))
  }

  #slice({ start, end, step, isIndex }: SliceStep, values: readonly Selected[], selected: Selected[]): boolean {
    for (const value of values) {
      if (value === null) continue
      if (!isList(value)) return false
      const { length } = value
      const from = fromStart(start, length)
      const to = isIndex ? from + 1 : fromStart(end ?? length, length)
      if (from === to) return true // as upstream, the lists that follow are left out too
      if (from < 0 || from >= length || to > length || from > to || step <= 0) return false
      for (let index = from; index < to; index += step) if (!this.#add(selected, value[index] ?? null)) return false
    }
    return true
  }

  #filter(step: FilterStep, items: readonly JsonValue[], selected: Selected[]): boolean {
    for (const item of items) {
      const isSelected = this.#fulfils(step, item)
      if (isSelected === undefined || (isSelected && !this.#add(selected, item))) return false
    }
    return true
  }

  /** Items without the values to compare are not selected. Undefined if they cannot be compared. */
  #fulfils({ left, operator, right }: FilterStep, item: JsonValue): boolean | undefined {
    const lefts = this.select(left, [item])
    if (operator === undefined) return lefts.values.length > 0
    const rights = this.select(right, [item])
    if (lefts.isFailed || rights.isFailed || lefts.values.length > 1 || rights.values.length > 1) return undefined
    const [a] = lefts.values
    const [b] = rights.values
    return a === undefined || b === undefined ? false : compareValues(a, operator, b)
  }
}

const isList = (value: unknown): value is readonly JsonValue[] => Array.isArray(value)

const fromStart = (position: number, length: number): number => (position < 0 ? position + length : position)

const childrenOf = (value: Selected): readonly JsonValue[] => {
  if (isList(value)) return value
  return isJsonObject(value) ? Object.values(value).filter((item) => item !== undefined) : []
}
