// Source: the text of an expression and positions in it; errors show the line as upstream does.
import { codePoints } from '../values/code-points.ts'

export interface Issue {
  /** Offset in the text; -1 for the whole text. */
  readonly at: number
  readonly message: string
}

/** The errors of an expression in upstream's form: position, line, and a marker below it. */
export class ExpressionError extends Error {
  readonly issues: readonly Issue[]

  constructor(text: string, issues: readonly Issue[]) {
    super(issuesText(text, issues))
    this.name = 'ExpressionError'
    this.issues = issues
  }
}

/** Like upstream: of more issues only the number is shown, and longer lines are not shown. */
export const issuesShownMax = 100
const lineBytesMax = 16_384

export function issuesText(text: string, issues: readonly Issue[]): string {
  const shown = issues.toSorted((a, b) => a.at - b.at).slice(0, issuesShownMax)
  const lines = shown.map((issue) => issueText(text, issue))
  if (issues.length > shown.length) lines.push(`${issues.length - shown.length} more errors were truncated`)
  return lines.join('\n')
}

function issueText(text: string, { at, message }: Issue): string {
  if (at < 0) return `ERROR: <input>:-1:0: ${message}`
  const before = text.slice(0, at)
  const start = before.lastIndexOf('\n') + 1
  const end = text.indexOf('\n', at)
  const line = text.slice(start, end < 0 ? text.length : end).replaceAll('\t', ' ')
  const column = codePoints(text.slice(start, at))
  const lineNumber = before.split('\n').length
  const place = `ERROR: <input>:${lineNumber}:${column.length + 1}: ${message}`
  if (new TextEncoder().encode(line).length > lineBytesMax) return place
  const dots = column.map((character) => (isWide(character) ? '．' : '.')).join('')
  const mark = isWide(text.slice(at, at + 2)) ? '＾' : '^'
  return `${place}\n | ${line}\n | ${dots}${mark}`
}

/** Upstream marks characters of more than one byte with wide dots. */
const isWide = (character: string): boolean => (character.codePointAt(0) ?? 0) > 0x7f
