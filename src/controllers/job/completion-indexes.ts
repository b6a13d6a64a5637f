// Sets of completion indexes in the format of a Job's status: `0-2,5,6`. A range has at least three indexes.

export type IndexSet = ReadonlySet<number>

export function parseIndexSet(text: string | undefined, completions: number): Set<number> {
  const indexes = new Set<number>()
  for (const part of (text ?? '').split(',')) {
    const [low, high] = part.split('-')
    if (low === undefined || low === '') continue
    for (let index = Number(low); index <= Number(high ?? low) && index < completions; index++) indexes.add(index)
  }
  return indexes
}

export function indexSetText(indexes: IndexSet): string {
  const parts: string[] = []
  let start: number | undefined
  let last: number | undefined
  const close = () => {
    if (start === undefined || last === undefined) return
    if (last - start < 2) parts.push(...new Set([`${start}`, `${last}`]))
    else parts.push(`${start}-${last}`)
  }
  for (const index of [...indexes].toSorted((a, b) => a - b)) {
    if (last !== undefined && index === last + 1) last = index
    else {
      close()
      start = last = index
    }
  }
  close()
  return parts.join(',')
}
