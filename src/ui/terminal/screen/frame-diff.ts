// frameDiff: what to write to a terminal that shows one frame so that it shows the next. Only changed cells are written.
import type { Frame } from './frame.ts'
import { styleCode, type Style } from './styles.ts'

/** Unchanged cells between two changes are repeated if moving the cursor would take more bytes. */
const gapCellsMax = 4
/** A terminal that knows them shows all changes at once; others ignore them. */
const beginUpdate = '\x1b[?2026h'
const endUpdate = '\x1b[?2026l'

/** Without a previous frame of the same size, everything is written. Empty if nothing has changed. */
export function frameDiff(previous: Frame | undefined, next: Frame, hasColors: boolean): string {
  const shown = previous?.width === next.width && previous.height === next.height ? previous : undefined
  let written = shown === undefined ? '\x1b[0m\x1b[2J' : ''
  let style: Style | undefined
  for (let y = 0; y < next.height; y++)
    for (const [start, end] of changedRuns(shown, next, y)) {
      written += `\x1b[${y + 1};${start + 1}H`
      for (let x = start; x < end; x++) {
        const wanted = next.styleAt(x, y)
        if (wanted !== style) written += styleCode((style = wanted), hasColors)
        written += next.textAt(x, y)
      }
    }
  return written === '' ? '' : `${beginUpdate}${written}\x1b[0m${endUpdate}`
}

/** Columns from and to which the row must be written. A run never begins in the middle of a wide character. */
function changedRuns(shown: Frame | undefined, next: Frame, y: number): (readonly [start: number, end: number])[] {
  const runs: [number, number][] = []
  for (let x = 0; x < next.width; x++) {
    if (shown === undefined ? isBlank(next, x, y) : isSame(shown, next, x, y)) continue
    const last = runs.at(-1)
    let end = x + 1
    while (end < next.width && next.textAt(end, y) === '') end++
    if (last !== undefined && x - last[1] <= gapCellsMax) last[1] = end
    else {
      let start = x
      while (start > 0 && next.textAt(start, y) === '') start--
      runs.push([start, end])
    }
  }
  return runs
}

const isBlank = (frame: Frame, x: number, y: number): boolean =>
  frame.textAt(x, y) === ' ' && frame.styleAt(x, y) === 'plain'

const isSame = (a: Frame, b: Frame, x: number, y: number): boolean =>
  a.textAt(x, y) === b.textAt(x, y) && a.styleAt(x, y) === b.styleAt(x, y)
