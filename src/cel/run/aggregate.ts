// Steps that construct lists, maps and structs. An optional part without a value is left out.
import { listCost, mapCost, structCost } from '../cost/call-cost.ts'
import type { StructType } from '../environment/environment.ts'
import { LiteralMap } from '../values/map-value.ts'
import { Optional, type Value } from '../values/value.ts'
import { optionalOf } from './optional-steps.ts'
import { withOperand, withOperands, type Step } from './step.ts'

export interface Part {
  readonly step: Step
  readonly isOptional: boolean
}

const operandOf = ({ step, isOptional }: Part): Step =>
  isOptional ? withOperand(step, (_, value) => optionalOf(value)) : step

/** Undefined for an optional part without a value. */
const valueOf = ({ isOptional }: Part, value: Value | undefined): Value | undefined =>
  isOptional && value instanceof Optional ? value.value : value

export const listOf = (elements: readonly Part[]): Step =>
  withOperands(elements.map(operandOf), (frame, values) => {
    frame.charge(listCost)
    return elements.map((element, index) => valueOf(element, values[index])).filter((value) => value !== undefined)
  })

export const mapOf = (entries: readonly (Part & { readonly key: Step })[]): Step =>
  withOperands(
    entries.flatMap((entry) => [entry.key, operandOf(entry)]),
    (frame, values) => {
      const made: [Value, Value][] = []
      for (const [index, entry] of entries.entries()) {
        const value = valueOf(entry, values[2 * index + 1])
        if (value !== undefined) made.push([values[2 * index] ?? null, value])
      }
      frame.charge(mapCost)
      return new LiteralMap(made)
    },
  )

export const structOf = (type: StructType, fields: readonly (Part & { readonly field: string })[]): Step =>
  withOperands(fields.map(operandOf), (frame, values) => {
    const made = new Map<string, Value>()
    for (const [index, part] of fields.entries()) {
      const value = valueOf(part, values[index])
      if (value !== undefined) made.set(part.field, value)
    }
    frame.charge(structCost)
    return type.create(made)
  })
