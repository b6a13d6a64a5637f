// The sequence diagram of the selected object, or of what happens now. Rows outside of the window are not drawn.
import { html, nothing, svg, type TemplateResult } from 'lit'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import type { DrawnMessage } from '../../../flows/svg/drawn-message.ts'
import {
  arrowPaths,
  headerPx,
  lineKind,
  sequenceLayout,
  type Lifeline,
  type Row,
  type SequenceLayout,
} from '../../../flows/svg/sequence-layout.ts'
import { baseline } from '../../../flows/svg/svg-diagram.ts'
import type { App } from '../state/app.ts'
import type { Diagram } from '../state/diagram.ts'
import { copyButtons } from './copy-buttons.ts'
import { eventCard } from './event-card.ts'

/** Rows within this distance of the window are drawn too. */
const marginPx = 400
const viewportPx = 1_200
/** A diagram that is scrolled this close to its end follows what happens. */
const endPx = 40

/** Scrolls to the newest message, unless the user has scrolled to older ones or selected an object. */
export function followEnd(app: App, root: Element): void {
  const diagram = root.querySelector('.diagram')
  if (diagram === null) return
  if (app.isAtEnd && app.location.object === undefined) diagram.scrollTop = diagram.scrollHeight
  else if (Math.abs(diagram.scrollTop - app.scrollPx) > 1) diagram.scrollTop = app.scrollPx
  if (Math.abs(diagram.scrollTop - app.scrollPx) <= 1) return
  // The diagram is shorter, or was not scrolled yet: other rows are visible.
  app.scrollPx = diagram.scrollTop
  app.changed()
}

export function flowsView(app: App): TemplateResult {
  const diagram = app.diagram.get()
  const { object, between } = app.location
  const layout = layoutOf(diagram, globalThis.innerWidth < 600 ? 120 : 180)
  const title = object === undefined ? everythingTitle(app) : `Flow of ${object.resource} ${object.name}`
  const events = new Map(diagram.messages.map(({ event }) => [event.id as number, event]))
  const isVisible = ({ top }: Row): boolean =>
    top > app.scrollPx - marginPx && top < app.scrollPx + viewportPx + marginPx
  return html`<section class="flows" aria-label="Flow">
    <div class="bar">
      <h2>${title}</h2>
      ${between === '' ? nothing : html`<button @click=${() => app.go({ between: '' })}>only ${between.replace('>', ' ↔ ')} ✕</button>`}
      ${object === undefined ? nothing : html`<button @click=${() => app.selectObject(undefined)}>show everything</button>`}
      <label
        ><input
          type="checkbox"
          .checked=${app.showsStages}
          ?disabled=${object === undefined}
          @change=${() => toggleStages(app)}
        />
        request filters</label
      >
      ${copyButtons(app, diagram, title)} ${app.hasGap ? html`<p>Some messages were omitted.</p>` : nothing}
    </div>
    ${diagram.drawn.length === 0 ? html`<p class="empty">${emptyText(app)}</p>` : nothing}
    <div
      class="diagram"
      tabindex="0"
      role="group"
      aria-label=${`${title}: ${diagram.drawn.length} messages`}
      @scroll=${(scroll: Event) => onScroll(app, scroll)}
      @keydown=${(key: KeyboardEvent) => onKey(app, diagram, key)}
      @pointerleave=${() => app.hover(undefined)}
    >
      <svg width=${layout.widthPx} height=${layout.heightPx} viewBox=${`0 0 ${layout.widthPx} ${layout.heightPx}`}>
        ${layout.lifelines.map(({ x }) => svg`<path class="lifeline" d=${`M${x} ${headerPx - 4}V${layout.heightPx}`}></path>`)}
        ${layout.rows.filter(isVisible).map((row) => rowView(app, row, events.get(row.message.id)))}
        ${headerView(layout.lifelines, layout.widthPx, app.scrollPx)}
      </svg>
    </div>
    ${eventCard(app, app.hovered ?? app.event)}
  </section>`
}

const layouts = new WeakMap<Diagram, { readonly labelPxMax: number; readonly layout: SequenceLayout }>()

/** The layout of a diagram is computed once, because scrolling draws the diagram again. */
function layoutOf(diagram: Diagram, labelPxMax: number): SequenceLayout {
  const known = layouts.get(diagram)
  if (known?.labelPxMax === labelPxMax) return known.layout
  const layout = sequenceLayout(diagram.drawn, { labelPxMax, participants: diagram.participants })
  layouts.set(diagram, { labelPxMax, layout })
  return layout
}

const everythingTitle = ({ source }: App): string => (source.isLive ? 'What happens now' : 'What happened last')

const emptyText = (app: App): string =>
  app.isLoadingPast
    ? 'Loading…'
    : app.location.object === undefined
      ? 'Nothing has happened yet.'
      : 'Nothing is recorded about this object.'

function toggleStages(app: App): void {
  app.showsStages = !app.showsStages
  app.changed()
}

function onScroll(app: App, scroll: Event): void {
  const { scrollTop, clientHeight, scrollHeight } = scroll.currentTarget as Element
  app.scrollPx = scrollTop
  app.isAtEnd = scrollTop + clientHeight >= scrollHeight - endPx
  app.changed()
}

/** Up and down move between messages; c goes to the cause, e to the first effect, Enter expands similar messages. */
function onKey(app: App, { messages }: Diagram, key: KeyboardEvent): void {
  const at = messages.findIndex(({ event }) => event.id === app.location.event)
  const current = messages[at]
  const select = (event: FlowEvent | undefined): void => {
    if (event === undefined) return
    key.preventDefault()
    app.selectEvent(event)
  }
  if (key.key === 'ArrowDown') select(messages[Math.min(messages.length - 1, at + 1)]?.event)
  if (key.key === 'ArrowUp') select(messages[Math.max(0, at - 1)]?.event)
  if (key.key === 'Escape') app.selectEvent(undefined)
  if (current === undefined) return
  if (key.key === 'c') select(app.record.causeOf(current.event))
  if (key.key === 'e') select(app.record.effectsOf(current.event)[0])
  if (key.key === 'Enter' && current.count > 1) app.expand(current.event.id)
}

/** The names of the participants stay visible while the diagram scrolls. */
function headerView(lifelines: readonly Lifeline[], widthPx: number, top: number): TemplateResult {
  return svg`<g class="box" transform=${`translate(0 ${top})`}>
    <rect class="behind" width=${widthPx} height=${headerPx}></rect>
    ${lifelines.map(
      ({
        name,
        x,
        widthPx: ownPx,
      }) => svg`<rect x=${x - ownPx / 2} y="6" width=${ownPx} height=${headerPx - 10} rx="4"></rect>
      <text x=${x} y=${headerPx - 12} text-anchor="middle">${name}</text>`,
    )}
  </g>`
}

// A message that comes to lie under a pointer at rest, because the diagram scrolls or the card shrinks, is not hovered: so
// `pointermove` and not `pointerenter`.
function rowView(app: App, row: Row, event: FlowEvent | undefined): TemplateResult {
  const { message } = row
  const { line, head } = arrowPaths(row)
  const isSelected = app.location.event === message.id
  const classes = [lineKind(message), message.hasFailed && 'failure', isSelected && 'selected']
    .filter(Boolean)
    .join(' ')
  const left = Math.min(row.fromX, row.toX)
  return svg`<g class=${classes} data-event=${message.id} @pointermove=${() => app.hover(event)} @click=${() => onRow(app, message, event)}>
    <rect class="hit" x="0" y=${row.top} width=${Math.max(row.fromX, row.toX, left + 200)} height=${row.lines.length * 15 + 12}></rect>
    <path class="l" d=${line}></path><path class="h" d=${head}></path>
    <text class="t" x="8" y=${row.y + 4}>${row.time}</text>
    ${row.lines.map((text, at) => svg`<text class="m" x=${row.textX} y=${baseline(row, at)} text-anchor=${row.anchor}>${text}</text>`)}
  </g>`
}

/** A click selects a message; a second click expands the similar ones. */
function onRow(app: App, message: DrawnMessage, event: FlowEvent | undefined): void {
  if (app.location.event === message.id && message.count > 1) app.expand(message.id)
  else app.selectEvent(event)
}
