// Frame: the cells of one picture. A wide character occupies its cell and an empty one after it.
import { cellsOf } from './cells.ts'
import { styles, type Style } from './styles.ts'

/** A part of a line in one style. */
export interface Span {
  readonly text: string
  readonly style: Style
}

export const span = (text: string, style: Style = 'plain'): Span => ({ text, style })

export class Frame {
  readonly width: number
  readonly height: number
  readonly #texts: string[]
  readonly #styles: Uint8Array

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.#texts = Array.from({ length: width * height }, () => ' ')
    this.#styles = new Uint8Array(width * height)
  }

  textAt(x: number, y: number): string {
    return this.#texts[y * this.width + x] ?? ' '
  }

  styleAt(x: number, y: number): Style {
    return styles[this.#styles[y * this.width + x] ?? 0] ?? 'plain'
  }

  /** Draws as much as fits in the row up to `end`; returns the column after it. */
  put(x: number, y: number, text: string, style: Style = 'plain', end = this.width): number {
    const last = Math.min(end, this.width)
    let at = x
    if (y < 0 || y >= this.height) return at
    for (const cell of cellsOf(text)) {
      if (at + cell.width > last) break
      // What is left of the first column, at least in part, is not drawn.
      if (at >= 0) {
        this.#set(at, y, cell.text, style)
        if (cell.width === 2) this.#set(at + 1, y, '', style)
      }
      at += cell.width
    }
    return at
  }

  putSpans(x: number, y: number, spans: readonly Span[], end = this.width): number {
    return spans.reduce((at, { text, style }) => this.put(at, y, text, style, end), x)
  }

  /** Gives the cells of a row another style. */
  restyle(x: number, y: number, end: number, style: Style): void {
    for (let at = x; at < Math.min(end, this.width); at++) this.#styles[y * this.width + at] = styles.indexOf(style)
  }

  /** The rows as text, without spaces at their ends. */
  lines(): string[] {
    return Array.from({ length: this.height }, (_, y) =>
      this.#texts
        .slice(y * this.width, (y + 1) * this.width)
        .join('')
        .trimEnd(),
    )
  }

  #set(x: number, y: number, text: string, style: Style): void {
    this.#texts[y * this.width + x] = text
    this.#styles[y * this.width + x] = styles.indexOf(style)
  }
}
