// Indexes of an Indexed Job as text: `1,3-5,7`, increasing, each below the number of completions.

export type ParsedIndexes =
  | { readonly kind: 'indexes'; readonly count: number }
  | { readonly kind: 'broken'; readonly why: string }

const broken = (why: string): ParsedIndexes => ({ kind: 'broken', why })

export function parseIndexes(text: string, completions: number): ParsedIndexes {
  if (text === '') return { kind: 'indexes', count: 0 }
  let count = 0
  let previous = -1
  for (const interval of text.split(',')) {
    const limits = interval.split('-')
    if (limits.length > 2)
      return broken(
        `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`,
      )
    for (const [position, limit] of limits.entries()) {
      if (!/^[+-]?\d+$/.test(limit))
        return broken(`cannot convert string to integer for index: ${JSON.stringify(limit)}`)
      const index = Number(limit)
      if (index >= completions) return broken(`too large index: ${JSON.stringify(limit)}`)
      if (index <= previous) return broken(`non-increasing order, previous: ${previous}, current: ${index}`)
      count += position === 0 ? 1 : index - previous
      previous = index
    }
  }
  return { kind: 'indexes', count }
}
