// Steps that construct lists, maps and structs. An optional part without a value is left out.
import { listCost, mapCost, structCost } from '../cost/call-cost.ts'
import type { StructType } from '../environment/environment.ts'
import { noSuchOverload } from '../values/eval-error.ts'
import { LiteralMap } from '../values/map-value.ts'
import { Optional, type Value } from '../values/value.ts'
import type { Frame, Step } from './evaluation-frame.ts'

export interface Part {
  readonly step: Step
  readonly isOptional: boolean
}

/** Undefined for an optional part without a value. */
function valueOf({ step, isOptional }: Part, frame: Frame): Value | undefined {
  const value = step(frame)
  if (!isOptional) return value
  if (!(value instanceof Optional)) throw noSuchOverload()
  return value.value
}

export const listOf =
  (elements: readonly Part[]): Step =>
  (frame) => {
    const list: Value[] = []
    for (const element of elements) {
      const value = valueOf(element, frame)
      if (value !== undefined) list.push(value)
    }
    frame.charge(listCost)
    return list
  }

export const mapOf =
  (entries: readonly (Part & { readonly key: Step })[]): Step =>
  (frame) => {
    const made: [Value, Value][] = []
    for (const entry of entries) {
      const key = entry.key(frame)
      const value = valueOf(entry, frame)
      if (value !== undefined) made.push([key, value])
    }
    frame.charge(mapCost)
    return new LiteralMap(made)
  }

export const structOf =
  (type: StructType, fields: readonly (Part & { readonly field: string })[]): Step =>
  (frame) => {
    const made = new Map<string, Value>()
    for (const each of fields) {
      const value = valueOf(each, frame)
      if (value !== undefined) made.set(each.field, value)
    }
    frame.charge(structCost)
    return type.create(made)
  }
