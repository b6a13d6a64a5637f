// The sequence diagram of the selected object, or of what happens now. Rows outside of the window are not drawn.
import { html, nothing, svg, type TemplateResult } from 'lit'
import type { FlowEvent } from '../../../../base/observability/flow-recorder.ts'
import type { DrawnMessage } from '../../../../flows/svg/drawn-message.ts'
import { arrowPaths, headerPx, lineKind, type Row, type SequenceLayout } from '../../../../flows/svg/sequence-layout.ts'
import { baseline } from '../../../../flows/svg/svg-diagram.ts'
import { beyondText, fittingLayout, placeLabel, revealedLeftPx, type Span } from '../../model/flows/fitting-layout.ts'
import type { App } from '../../state/app.ts'
import type { Diagram } from '../../state/diagram.ts'
import { copyButtons } from './copy-buttons.ts'
import { emptyView } from './empty-view.ts'
import { eventCard } from './event-card.ts'
import { filterBar } from './filter-bar.ts'
import { lifelineNames } from './lifeline-names.ts'
import { minimap } from './minimap.ts'

/** Rows within this distance of the window are drawn too. */
const marginPx = 400
/** The size of the window before the first drawing. */
const unknownPx = 1_000

/** Scrolls to the newest message, unless the user has scrolled to older ones or selected an object. */
export function followEnd(app: App, root: Element): void {
  const element = root.querySelector('.diagram')
  if (element === null) return
  const { diagramWindow, location } = app
  const layout = layoutOf(app, app.diagram.get())
  // Other rows are visible, or there is more space for them.
  if (diagramWindow.place(element, layout, location.object === undefined)) app.changed()
}

export function flowsView(app: App): TemplateResult {
  const diagram = app.diagram.get()
  const { object } = app.location
  const layout = layoutOf(app, diagram)
  const { topPx, leftPx, widthPx, heightPx, scale } = app.diagramWindow
  const title =
    object === undefined
      ? app.source.isLive
        ? 'What happens now'
        : 'What happened last'
      : `Flow of ${object.resource} ${object.name}`
  const top = topPx / scale
  const bottom = top + (heightPx || unknownPx) / scale
  const span = { leftPx: leftPx / scale, rightPx: (leftPx + (widthPx || unknownPx)) / scale }
  const rows = layout.rows.filter(({ y }) => y > top - marginPx && y < bottom + marginPx)
  const events = new Map(diagram.messages.map(({ event }) => [event.id as number, event]))
  const bodyPx = layout.heightPx - headerPx
  return html`<section class="flows" aria-label="Flow">
    <div class="bar">
      <h2>${title}</h2>
      ${object === undefined ? nothing : html`<button @click=${() => app.selectObject(undefined)}>show everything</button>`}
      ${copyButtons(app, diagram, title)} ${app.hasGap ? html`<p>Some messages were omitted.</p>` : nothing}
    </div>
    ${filterBar(app, diagram)} ${diagram.drawn.length === 0 ? emptyView(app, diagram) : nothing}
    <div class="canvas">
      <div
        class="diagram"
        tabindex="0"
        role="group"
        aria-label=${`${title}: ${diagram.drawn.length} messages`}
        @scroll=${(scroll: Event) => onScroll(app, scroll)}
        @keydown=${(key: KeyboardEvent) => onKey(app, diagram, key)}
        @pointerleave=${() => app.hover(undefined)}
      >
        ${lifelineNames(app, diagram, layout)}
        <svg
          width=${layout.widthPx * scale}
          height=${bodyPx * scale}
          viewBox=${`0 ${headerPx} ${layout.widthPx} ${bodyPx}`}
        >
          ${layout.lifelines.map(({ x }) => svg`<path class="lifeline" d=${`M${x} ${headerPx}V${layout.heightPx}`}></path>`)}
          ${rows.map((row) => rowView(app, row, { diagram, span, event: events.get(row.message.id) }))}
        </svg>
      </div>
      ${minimap(layout, { top, bottom })} ${eventCard(app, app.hovered ?? app.event)}
    </div>
  </section>`
}

const layouts = new WeakMap<Diagram, { readonly windowPx: number; readonly layout: SequenceLayout }>()

/** The layout of a diagram is computed once, because scrolling draws the diagram again. */
function layoutOf({ diagramWindow }: App, diagram: Diagram): SequenceLayout {
  const windowPx = diagramWindow.widthPx || unknownPx
  const known = layouts.get(diagram)
  if (known?.windowPx === windowPx) return known.layout
  const layout = fittingLayout(diagram.drawn, diagram.lifelines, windowPx)
  layouts.set(diagram, { windowPx, layout })
  return layout
}

function onScroll(app: App, scroll: Event): void {
  app.diagramWindow.scrolled(scroll.currentTarget as Element)
  app.changed()
}

/**
 * Up and down move between messages; c goes to the cause, e to the first effect, Enter expands similar messages; plus, minus and zero
 * change the scale.
 */
function onKey(app: App, diagram: Diagram, key: KeyboardEvent): void {
  if (key.target !== key.currentTarget || key.ctrlKey || key.metaKey || key.altKey) return
  const { messages } = diagram
  const at = messages.findIndex(({ event }) => event.id === app.location.event)
  const current = messages[at]
  const select = (event: FlowEvent | undefined): void => {
    if (event === undefined) return
    key.preventDefault()
    app.selectEvent(event)
    reveal(app, diagram, event.id, key.currentTarget as Element)
  }
  if (key.key === 'ArrowDown') select(messages[Math.min(messages.length - 1, at + 1)]?.event)
  if (key.key === 'ArrowUp') select(messages[Math.max(0, at - 1)]?.event)
  if (key.key === 'Escape') app.selectEvent(undefined)
  const zoom = zoomKeys.get(key.key)
  if (zoom !== undefined) {
    app.diagramWindow.zoom(zoom)
    app.changed()
  }
  if (current === undefined) return
  if (key.key === 'c') select(app.record.causeOf(current.event))
  if (key.key === 'e') select(app.record.effectsOf(current.event)[0])
  if (key.key === 'Enter' && current.count > 1) app.expand(current.event.id)
}

/** Scrolls as little as possible until the row of a message and its arrow are visible. */
function reveal({ diagramWindow }: App, diagram: Diagram, id: number, element: Element): void {
  const row = layouts.get(diagram)?.layout.rows.find(({ message }) => message.id === id)
  if (row === undefined) return
  const { scale } = diagramWindow
  const top = (row.top - headerPx) * scale
  const bottom = (row.y + headerPx) * scale
  if (top < element.scrollTop) element.scrollTop = top
  else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight
  element.scrollLeft = revealedLeftPx(row, element.scrollLeft / scale, element.clientWidth / scale) * scale
}

const zoomKeys: ReadonlyMap<string, 1 | -1 | 0> = new Map([
  ['+', 1],
  ['-', -1],
  ['0', 0],
])

interface RowContext {
  readonly diagram: Diagram
  /** What of the diagram is visible. */
  readonly span: Span
  readonly event: FlowEvent | undefined
}

// A message that comes to lie under a pointer at rest, because the diagram scrolls or the card shrinks, is not hovered: so
// `pointermove` and not `pointerenter`.
function rowView(app: App, row: Row, { diagram, span, event }: RowContext): TemplateResult {
  const { message, fromX, toX } = row
  const { line, head } = arrowPaths(row)
  const place = placeLabel(row, span)
  const { chain } = diagram
  const classes = [
    lineKind(message),
    message.hasFailed && 'failure',
    app.location.event === message.id && 'selected',
    chain?.has(message.id) === false && 'dimmed',
    place.kind === 'beyond' && 'beyond',
  ]
  // A message of one event shows its participants, which may share lifelines.
  const own = message.count > 1 ? event : (app.record.get(message.id) ?? event)
  const left = Math.min(fromX, toX)
  const right = Math.max(fromX, toX, left + 200, place.kind === 'beyond' ? span.rightPx : 0)
  const lines = place.kind === 'beyond' ? [beyondText(row, place.sign, span)] : row.lines
  return svg`<g class=${classes.filter(Boolean).join(' ')} data-event=${message.id} @pointermove=${() => app.hover(own)} @click=${(click: Event) => onRow(app, diagram, message, click)}>
    <rect class="hit" x=${span.leftPx} y=${row.top} width=${right - span.leftPx} height=${row.lines.length * 15 + 12}></rect>
    <path class="l" d=${line}></path><path class="h" d=${head}></path>
    <text class="t" x=${span.leftPx + 8} y=${row.y + 4}>${row.time}</text>
    ${lines.map((text, at) => svg`<text class="m" x=${place.x} y=${place.kind === 'beyond' ? row.y + 4 : baseline(row, at)} text-anchor=${place.anchor}>${text}</text>`)}
  </g>`
}

/** A click selects a message and scrolls to its arrow; a second click expands the similar ones. */
function onRow(app: App, diagram: Diagram, message: DrawnMessage, click: Event): void {
  const element = (click.currentTarget as Element).closest('.diagram')
  if (app.location.event === message.id && message.count > 1) return app.expand(message.id)
  app.selectEvent(diagram.messages.find(({ event }) => event.id === message.id)?.event)
  if (element !== null) reveal(app, diagram, message.id, element)
}
