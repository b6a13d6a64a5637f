// What is compared of OpenAPI documents: everything but descriptions, and parameters where they are used.

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A property called description is none. */
export function withoutDescriptions(value: unknown, areProperties = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDescriptions(item))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => areProperties || name !== 'description')
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutDescriptions(item, name === 'properties')]))
}

/** Upstream refers to parameters that several operations have. */
export function inlinedParameters(document: Json): unknown {
  const parameters = (document['parameters'] ?? {}) as Json
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (!isObject(value)) return value
    const { $ref } = value
    const name = typeof $ref === 'string' && $ref.startsWith('#/parameters/') ? $ref.slice('#/parameters/'.length) : ''
    // safe name: it is that of a parameter in the document.
    return parameters[name] ?? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inline(item)]))
  }
  return inline(document)
}
