// The whole diagram in a strip at its side, and the part that is in view. A click or drag scrolls there; the keyboard scrolls the diagram
// itself, so the strip is hidden from screen readers.
import { html, svg, type TemplateResult } from 'lit'
import { headerPx, lineKind, type SequenceLayout } from '../../../../flows/svg/sequence-layout.ts'

/** An arrow to its own lifeline is a short line. */
const loopPx = 40

export function minimap(
  layout: SequenceLayout,
  view: { readonly top: number; readonly bottom: number },
): TemplateResult {
  const { widthPx, heightPx } = layout
  const bodyPx = heightPx - headerPx
  return html`<svg
    class="minimap"
    aria-hidden="true"
    preserveAspectRatio="none"
    viewBox=${`0 ${headerPx} ${widthPx} ${bodyPx}`}
    @pointerdown=${(press: PointerEvent) => {
      ;(press.currentTarget as Element).setPointerCapture(press.pointerId)
      scrollTo(press)
    }}
    @pointermove=${(move: PointerEvent) => (move.buttons === 1 ? scrollTo(move) : undefined)}
  >
    ${[...pathsOf(layout)].map(([kind, path]) => svg`<path class=${kind} d=${path}></path>`)}
    <rect
      class="view"
      x="0"
      y=${view.top + headerPx}
      width=${widthPx}
      height=${Math.min(bodyPx, view.bottom - view.top)}
    ></rect>
  </svg>`
}

const paths = new WeakMap<SequenceLayout, ReadonlyMap<string, string>>()

/** One path for all arrows of a kind. */
function pathsOf(layout: SequenceLayout): ReadonlyMap<string, string> {
  const known = paths.get(layout)
  if (known !== undefined) return known
  const found = new Map<string, string>()
  for (const { message, fromX, toX, y } of layout.rows) {
    const kind = message.hasFailed ? 'failure' : lineKind(message)
    const end = fromX === toX ? fromX + loopPx : toX
    found.set(kind, `${found.get(kind) ?? ''}M${fromX} ${y}H${end}`)
  }
  paths.set(layout, found)
  return found
}

/** The pointed place becomes the middle of the view. */
function scrollTo(pointer: PointerEvent): void {
  const strip = pointer.currentTarget as Element
  const diagram = strip.parentElement?.querySelector('.diagram')
  if (diagram === null || diagram === undefined) return
  const { top, height } = strip.getBoundingClientRect()
  diagram.scrollTop = ((pointer.clientY - top) / height) * diagram.scrollHeight - diagram.clientHeight / 2
}
