// The part of the diagram that is in view, and its scale. At first it shows the newest messages with their lifelines, and follows them
// until the user scrolls.
import { readableLeftPx } from '../model/flows/fitting-layout.ts'
import type { SequenceLayout } from '../../../flows/svg/sequence-layout.ts'

/** The scales of the diagram. */
const scales = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2] as const
/** A diagram that is scrolled this close to its end follows what happens. */
const endPx = 40

/** The scrolled element of the diagram. */
export interface ScrolledElement {
  scrollTop: number
  scrollLeft: number
  readonly clientWidth: number
  readonly clientHeight: number
  readonly scrollHeight: number
}

/** Positions are those of the scaled diagram in the page. */
export class DiagramWindow {
  topPx = 0
  leftPx = 0
  widthPx = 0
  heightPx = 0
  scale = 1
  /** Whether the diagram shows its end; then it follows what happens. */
  isAtEnd = true
  #isPlaced = false

  /** Another diagram is shown. */
  reset(): void {
    this.topPx = 0
    this.isAtEnd = true
    this.#isPlaced = false
  }

  /** Larger or smaller by one step, or as large as the texts of the page. */
  zoom(step: 1 | -1 | 0): void {
    const at = scales.findIndex((scale) => scale === this.scale)
    const next = step === 0 ? 1 : scales[Math.min(scales.length - 1, Math.max(0, at + step))]
    this.topPx *= (next ?? 1) / this.scale
    this.leftPx *= (next ?? 1) / this.scale
    this.scale = next ?? 1
  }

  /** The user, or the browser, has scrolled. */
  scrolled(element: ScrolledElement): void {
    const { scrollTop, scrollLeft, clientHeight, scrollHeight } = element
    if (Math.abs(scrollLeft - this.leftPx) > 1) this.#isPlaced = true
    this.topPx = scrollTop
    this.leftPx = scrollLeft
    this.isAtEnd = scrollTop + clientHeight >= scrollHeight - endPx
  }

  /** Scrolls a drawn diagram to where it belongs; returns whether other parts of it are visible now. */
  place(element: ScrolledElement, layout: SequenceLayout | undefined, followsEnd: boolean): boolean {
    const before = [this.topPx, this.leftPx, this.widthPx, this.heightPx]
    this.widthPx = element.clientWidth
    this.heightPx = element.clientHeight
    if (followsEnd && this.isAtEnd) element.scrollTop = element.scrollHeight
    else if (Math.abs(element.scrollTop - this.topPx) > 1) element.scrollTop = this.topPx
    this.topPx = element.scrollTop
    if (!this.#isPlaced && layout !== undefined) {
      const rows = layout.rows.filter(({ y }) => this.#isInView(y))
      this.leftPx = readableLeftPx(rows, layout.widthPx, this.widthPx / this.scale) * this.scale
    }
    if (Math.abs(element.scrollLeft - this.leftPx) > 1) element.scrollLeft = this.leftPx
    this.leftPx = element.scrollLeft
    const after = [this.topPx, this.leftPx, this.widthPx, this.heightPx]
    return after.some((px, at) => Math.abs(px - (before[at] ?? 0)) > 1)
  }

  #isInView(y: number): boolean {
    return y * this.scale > this.topPx && y * this.scale < this.topPx + this.heightPx
  }
}
