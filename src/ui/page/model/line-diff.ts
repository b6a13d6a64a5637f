// The difference of two texts by lines: what a write changed, and what an edit would change.

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'omitted'
  readonly text: string
}

/** Texts with more differing lines are compared as a whole, because the table of a comparison grows with their product. */
const comparedLinesMax = 1_500

export function lineDiff(before: string, after: string, contextLines = 3): DiffLine[] {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++
  const same = (texts: readonly string[]): DiffLine[] => texts.map((text) => ({ kind: 'same', text }))
  const middle = compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end))
  return withoutDistant([...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))], contextLines)
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function compare(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const removed = old.map((text): DiffLine => ({ kind: 'removed', text }))
  const added = fresh.map((text): DiffLine => ({ kind: 'added', text }))
  if (old.length === 0 || fresh.length === 0 || old.length + fresh.length > comparedLinesMax)
    return [...removed, ...added]
  // common[i][j]: the length of the longest common subsequence of the lines from i and j on.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      (common[i] as Uint16Array)[j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ kind: 'same', text: old[i] as string })
      i++
      j++
    } else if (j >= fresh.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      lines.push(removed[i++] as DiffLine)
    else lines.push(added[j++] as DiffLine)
  }
  return lines
}

/** Replaces equal lines that are far from every change by one line. */
function withoutDistant(lines: readonly DiffLine[], contextLines: number): DiffLine[] {
  const near = new Uint8Array(lines.length)
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') near.fill(1, Math.max(0, at - contextLines), at + contextLines + 1)
  const shown: DiffLine[] = []
  for (const [at, line] of lines.entries())
    if (near[at] === 1) shown.push(line)
    else if (shown.at(-1)?.kind !== 'omitted') shown.push({ kind: 'omitted', text: '…' })
  return shown.some(({ kind }) => kind !== 'omitted') ? shown : []
}
