// isLarge: whether functions may take long for a value, such as to compare it or to write it as text.
import { isList } from './equality.ts'
import { MapValue, Optional, type Value } from './value.ts'

/** Texts and bytes count by their length. */
const charactersPerElement = 10
const elementsMax = 1_000

export function isLarge(value: Value): boolean {
  if (typeof value === 'string') return value.length > elementsMax * charactersPerElement
  return typeof value === 'object' && value !== null && elementsLeft(value, elementsMax) < 0
}

/** Stops at the first element beyond the limit. */
function elementsLeft(value: Value, left: number): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return left - value.length / charactersPerElement
  if (typeof value !== 'object' || value === null) return left - 1
  if (isList(value)) {
    let rest = left
    for (let index = 0; index < value.length && rest >= 0; index++) rest = elementsLeft(value[index] ?? null, rest)
    return rest
  }
  if (value instanceof Optional) return value.value === undefined ? left - 1 : elementsLeft(value.value, left)
  if (!(value instanceof MapValue)) return left - 1
  let rest = left
  for (const key of value.keys()) {
    rest = elementsLeft(value.get(key) ?? null, elementsLeft(key, rest))
    if (rest < 0) break
  }
  return rest
}
