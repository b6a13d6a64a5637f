// jsonCharactersMin: a lower bound of the length of a value's JSON, without encoding it. Parts of a value may be shared, so
// the JSON can be many times as large as the value in memory.

/** Stops as soon as it exceeds the limit. Characters that JSON escapes and the digits of numbers are not counted. */
export function jsonCharactersMin(value: unknown, max: number): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2
    case 'object':
      return value === null ? 4 : Array.isArray(value) ? ofList(value, max) : ofObject(value, max)
    case 'undefined':
      return 0
    default:
      return 1
  }
}

function ofList(list: readonly unknown[], max: number): number {
  let count = 2 + Math.max(0, list.length - 1)
  for (const value of list) {
    if (count > max) return count
    count += jsonCharactersMin(value, max - count)
  }
  return count
}

function ofObject(object: object, max: number): number {
  let count = 2
  for (const name in object) {
    if (count > max) return count
    const value = (object as Record<string, unknown>)[name] // safe name: from the object itself
    if (value !== undefined) count += name.length + 3 + jsonCharactersMin(value, max - count)
  }
  return count
}
