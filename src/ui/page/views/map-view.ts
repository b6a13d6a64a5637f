// The map: components as boxes, and lines with the rate of messages and errors. Messages move along the lines.
import { html, nothing, svg, type TemplateResult } from 'lit'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { hasFailed } from '../../../flows/diagram-colors.ts'
import { isBetween } from '../model/flow-record.ts'
import { rateWindowMs, topologyOf, type Box, type Line } from '../model/topology.ts'
import type { App } from '../state/app.ts'

/** How long a message moves along its line. */
const movingMs = 900
const movingMax = 300

export function mapView(app: App): TemplateResult {
  const { newestMs } = app.record
  const events = [...app.record.values()]
  const { boxes, lines, widthPx, heightPx } = topologyOf(events, newestMs)
  const moving = events.slice(-movingMax).filter(({ atMs }) => atMs > newestMs - movingMs)
  // Messages move as long as some are on their way.
  if (moving.length > 0 && app.source.isLive) app.changed()
  return html`<section class="map" aria-label="Map">
    <div class="bar">
      <h2>Map</h2>
      <p>Rates of the last ${rateWindowMs / 1_000} s. A click on a box or a line shows its messages.</p>
    </div>
    <div class="scroll" tabindex="0" role="group" aria-label="Components and the messages between them">
      <svg width=${widthPx} height=${heightPx} viewBox=${`0 0 ${widthPx} ${heightPx}`}>
        ${lines.map((line) => lineView(app, line))} ${boxes.map((box) => boxView(app, box))}
        ${moving.map((event) => dotView(event, lines, newestMs))}
      </svg>
    </div>
    <table class="rates">
      <caption>
        Messages per second
      </caption>
      <thead>
        <tr>
          <th scope="col">Between</th>
          <th scope="col">Messages/s</th>
          <th scope="col">Errors/s</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          ({ id, perSecond, errorsPerSecond }) =>
            html`<tr class=${errorsPerSecond > 0 ? 'failed' : ''}>
              <td><button class="link" @click=${() => show(app, id)}>${id.replace('>', ' ↔ ')}</button></td>
              <td>${perSecond.toFixed(1)}</td>
              <td>${errorsPerSecond.toFixed(1)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`
}

function show(app: App, between: string): void {
  app.selectObject(undefined, { view: 'flows', between })
}

/** Where a line to another box begins: at the side, or at the top or bottom of a box in the same column. */
function anchor({ x, y, widthPx, heightPx }: Box, other: Box): readonly [number, number] {
  if (x === other.x) return [x + widthPx / 2, other.y > y ? y + heightPx : y]
  return [other.x > x ? x + widthPx : x, y + heightPx / 2]
}

function lineView(app: App, { id, from, to, perSecond, errorsPerSecond }: Line): TemplateResult {
  const [[x1, y1], [x2, y2]] = [anchor(from, to), anchor(to, from)]
  const label = `${perSecond.toFixed(0)}/s${errorsPerSecond > 0 ? `, ${errorsPerSecond.toFixed(1)} errors/s` : ''}`
  return svg`<g class=${errorsPerSecond > 0 ? 'line failure' : 'line'} @click=${() => show(app, id)}>
    <path class="hit" d=${`M${x1} ${y1}L${x2} ${y2}`}></path>
    <path class="l" d=${`M${x1} ${y1}L${x2} ${y2}`} stroke-width=${1 + Math.min(4, Math.log2(1 + perSecond))}></path>
    ${perSecond === 0 ? nothing : svg`<text class="t" x=${(x1 + x2) / 2} y=${(y1 + y2) / 2 - 4} text-anchor="middle">${label}</text>`}
  </g>`
}

function boxView(app: App, { id, label, x, y, widthPx, heightPx }: Box): TemplateResult {
  return svg`<g class="box" data-box=${id} @click=${() => show(app, id)}>
    <rect x=${x} y=${y} width=${widthPx} height=${heightPx} rx="5"></rect>
    <text x=${x + widthPx / 2} y=${y + heightPx / 2 + 4} text-anchor="middle">${label.length > 22 ? `${label.slice(0, 21)}…` : label}</text>
  </g>`
}

function dotView(event: FlowEvent, lines: readonly Line[], nowMs: number): TemplateResult | typeof nothing {
  const line = lines.find(({ id }) => isBetween(id, event.from, event.to))
  if (line === undefined) return nothing
  const isForward = isBetween(line.from.id, event.from, event.from)
  const [start, end] = isForward ? [line.from, line.to] : [line.to, line.from]
  const [[x1, y1], [x2, y2]] = [anchor(start, end), anchor(end, start)]
  const part = Math.min(1, (nowMs - event.atMs) / movingMs)
  return svg`<circle class=${hasFailed(event) ? 'dot failure' : `dot ${event.arrow}`} r="4" cx=${x1 + (x2 - x1) * part} cy=${y1 + (y2 - y1) * part}></circle>`
}
