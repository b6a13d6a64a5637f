// The lines of a text or of a diagram at a width. They are computed once for each width, because both scrolling and
// drawing need them.
import { messageDiagram } from '../../../flows/sequence-diagram.ts'
import type { FlowMessage } from '../../../flows/flow-messages.ts'
import { cellsOf, widthOf } from '../screen/cells.ts'
import { span, type Span } from '../screen/frame.ts'
import type { Style } from '../screen/styles.ts'
import type { FlowView, TextView } from './views.ts'

interface Known {
  readonly key: string
  readonly lines: readonly string[]
}
const texts = new WeakMap<readonly string[], Known>()

/** The filter of logs selects lines; in other texts it is a search. */
export function textContent({ lines, filter, isWrapped, source }: TextView, width: number): readonly string[] {
  const wanted = source.kind === 'logs' ? filter.toLowerCase() : ''
  const key = JSON.stringify([wanted, isWrapped, isWrapped ? width : 0])
  const known = texts.get(lines)
  if (known?.key === key) return known.lines
  const selected = wanted === '' ? lines : lines.filter((line) => line.toLowerCase().includes(wanted))
  const shown = isWrapped ? selected.flatMap((line) => wrapped(line, width)) : selected
  texts.set(lines, { key, lines: shown })
  return shown
}

/** Breaks a line at spaces, and words that are too long; further lines have the indentation of the first. */
export function wrapped(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line]
  const indent = (/^ */.exec(line) ?? [''])[0].slice(0, Math.floor(width / 2))
  const lines: string[] = []
  let current = ''
  for (const word of line
    .trimStart()
    .split(' ')
    .flatMap((each) => pieces(each, width - indent.length))) {
    const joined = current === '' ? word : `${current} ${word}`
    if (widthOf(joined) <= width - indent.length) current = joined
    else {
      lines.push(indent + current)
      current = word
    }
  }
  return [...lines, indent + current]
}

/** Parts of a word that fit. */
function pieces(word: string, width: number): string[] {
  if (widthOf(word) <= width) return [word]
  const parts = ['']
  let used = 0
  for (const { text, width: columns } of cellsOf(word)) {
    if (used + columns > width) {
      parts.push('')
      used = 0
    }
    parts[parts.length - 1] += text
    used += columns
  }
  return parts
}

const diagrams = new WeakMap<readonly FlowMessage[], { width: number; lines: readonly (readonly Span[])[] }>()

export function flowContent({ messages }: FlowView, width: number): readonly (readonly Span[])[] {
  const known = diagrams.get(messages)
  if (known?.width === width) return known.lines
  const options = { fold: true, columns: width, colors: true }
  // A screen that is too narrow for the lifelines is scrolled.
  const drawn = messageDiagram(messages, options) ?? messageDiagram(messages, { ...options, columns: undefined }) ?? []
  const lines = drawn.map(spansOf)
  diagrams.set(messages, { width, lines })
  return lines
}

/** The codes that diagrams use. */
const styleOfCode: ReadonlyMap<string, Style> = new Map([
  ['0', 'plain'],
  ['1', 'bold'],
  ['2', 'dim'],
  ['31', 'failure'],
  ['32', 'watch'],
  ['33', 'persist'],
  ['34', 'step'],
  ['35', 'reconcile'],
  ['36', 'call'],
])

/** Codes in texts of the cluster have at most the effect of these styles. */
function spansOf(line: string): Span[] {
  let style: Style = 'plain'
  // oxlint-disable-next-line no-control-regex -- the codes of the diagram
  return line.split(/\x1b\[(\d{1,2})m/).flatMap((part, index) => {
    if (index % 2 === 0) return part === '' ? [] : [span(part, style)]
    style = styleOfCode.get(part) ?? 'plain'
    return []
  })
}
