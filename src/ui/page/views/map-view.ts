// The map: clients, API server, store, controllers, and nodes with their pods as boxes, or one node with its pods; lines have the rate of messages and
// errors. Messages move along the lines as they happen.
import { html, noChange, nothing, svg, type TemplateResult } from 'lit'
import { pathText, pointAt, type Point } from '../model/line-routes.ts'
import { isArrowKey, nearest } from '../model/nearest.ts'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import { podsByNode, type PodMark } from '../model/pod-marks.ts'
import { hub, narrowColumns, unscheduledId, wideColumns } from '../model/map-columns.ts'
import {
  nodeBoxesMax,
  nodesOf,
  podPx,
  podsDrawnMax,
  rateWindowMs,
  topologyOf,
  type Box,
  type Line,
  type PlacedPod,
} from '../model/topology.ts'
import type { App } from '../state/app.ts'
import { shownMs } from '../state/diagram.ts'
import { failureView } from './frame/failure-view.ts'
import { movingMessages } from './moving-messages.ts'

const labelCharsMax = 24
/** Narrower screens have another layout; the style changes at the same width. */
const narrowPx = 700

export function mapView(app: App): TemplateResult | typeof noChange {
  if (!app.mapPace.isDue()) return noChange
  const nowMs = shownMs(app)
  const recent = app.record.between(nowMs - rateWindowMs, nowMs)
  const pods = podsByNode(app.pods.objects())
  const columns = globalThis.innerWidth < narrowPx ? narrowColumns : wideColumns
  const { node } = app.location
  const topology = topologyOf({ pairs: app.record.pairs, recent, pods, columns, node })
  const nodes = nodesOf(app.record.pairs, pods)
  const { boxes, lines, widthPx, heightPx } = topology
  return html`<section class="map" aria-label="Map">
    <div class="bar">
      <h2>Map</h2>
      ${nodeChooser(app, nodes, node)}
      <p>
        Rates of the last ${rateWindowMs / 1_000} s. A box, a line or a pod shows its
        messages.${node === '' && nodes.length > nodeBoxesMax ? ` ${nodes.length} nodes share one box, which draws ${podsDrawnMax} of their pods.` : nothing}
      </p>
      <ul class="legend" aria-label="Pods">
        <li class="ready">ready</li>
        <li class="starting">starting</li>
        <li class="failing">failing</li>
        <li class="ended">ended</li>
      </ul>
    </div>
    ${failureView(app, 'map')}
    <div class="scroll" @keydown=${onKey}>
      <div class="drawing">
        <svg
          role="group"
          aria-label="Components and the messages between them"
          width=${widthPx}
          height=${heightPx}
          viewBox=${`0 0 ${widthPx} ${heightPx}`}
        >
          ${lines.map((line) => lineView(app, line))} ${boxes.map((box, at) => boxView(app, box, at === 0))}
        </svg>
        <canvas aria-hidden="true" ${movingMessages(app, topology)}></canvas>
      </div>
    </div>
    ${node === '' ? nothing : podsTable(app, node, pods.get(node) ?? [])} ${ratesTable(app, lines)}
  </section>`
}

/** Nodes that can be chosen. */
const chosenMax = 1_000
/** Rows of the table of a node's pods. */
const rowsMax = 200

function nodeChooser(app: App, nodes: readonly string[], node: string): TemplateResult {
  const shown = nodes.slice(0, chosenMax)
  const offered = node === '' || shown.includes(node) ? shown : [node, ...shown]
  const choose = (change: Event): void => app.go({ node: (change.target as HTMLSelectElement).value })
  return html`<label
    >Node
    <select @change=${choose}>
      <option value="" .selected=${node === ''}>all</option>
      ${offered.map((name) => html`<option value=${name} .selected=${name === node}>${name}</option>`)}
    </select></label
  >`
}

/** The pods of a node, with the paths of their traffic. */
function podsTable(app: App, node: string, pods: readonly PodMark[]): TemplateResult {
  const link = ({ namespace, name }: PodMark, tab: string): string =>
    fragmentOf(elsewhere(app.location, { view: 'objects', object: { resource: 'pods', namespace, name }, tab }))
  return html`<div class="rates" tabindex="0" role="group" aria-label=${`Pods of ${node}`}>
    <table>
      <caption>
        ${pods.length === 1 ? '1 pod' : `${pods.length} pods`} of ${node}
      </caption>
      <thead>
        <tr>
          <th scope="col">Namespace</th>
          <th scope="col">Pod</th>
          <th scope="col">State</th>
          <th scope="col">Services and policies</th>
        </tr>
      </thead>
      <tbody>
        ${pods.slice(0, rowsMax).map(
          (pod) =>
            html`<tr class=${pod.state === 'failing' ? 'failed' : ''}>
              <td>${pod.namespace}</td>
              <td><a href=${link(pod, '')}>${pod.name}</a></td>
              <td>${pod.state}</td>
              <td>
                <a href=${link(pod, 'Relations')}>what leads to it</a>
                ${app.canAct ? html`, <a href=${link(pod, 'Reach')}>what it reaches</a>` : nothing}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${pods.length > rowsMax ? html`<p>${pods.length - rowsMax} more are not listed.</p>` : nothing}
  </div>`
}

function ratesTable(app: App, lines: readonly Line[]): TemplateResult {
  const busiest = lines.toSorted((a, b) => b.errorsPerSecond - a.errorsPerSecond || b.perSecond - a.perSecond)
  return html`<div class="rates" tabindex="0" role="group" aria-label="Rates">
    <table>
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
        ${busiest.map(
          ({ id, perSecond, errorsPerSecond }) =>
            html`<tr class=${errorsPerSecond > 0 ? 'failed' : ''}>
              <td><button class="link" @click=${() => show(app, id)}>${id.replace('>', ' ↔ ')}</button></td>
              <td>${perSecond.toFixed(1)}</td>
              <td>${errorsPerSecond.toFixed(1)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function show(app: App, between: string): void {
  app.selectObject(undefined, { view: 'flows', between })
}

const errorsText = (perSecond: number): string => `${perSecond.toFixed(1)} errors/s`

function lineView(app: App, { id, from, to, route, perSecond, errorsPerSecond }: Line): TemplateResult {
  const rate = `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`
  const { points } = route
  const [x, y] = pointAt(route, 0.5)
  // The label of a vertical line is on its right. A line in the margin of a narrow screen has no space for one.
  const isVertical = points.length === 2 && points[0]?.[0] === points[1]?.[0]
  const hasSpace = from.column !== to.column || isVertical || globalThis.innerWidth >= narrowPx
  const [labelX, anchor] = isVertical ? [x + 8, 'start'] : [x, 'middle']
  const name = `${from.label} and ${to.label}: ${rate}${errorsPerSecond > 0 ? `, ${errorsText(errorsPerSecond)}` : ''}`
  const path = pathText(points)
  return svg`<g class=${errorsPerSecond > 0 ? 'line failure' : 'line'} role="button" tabindex="-1" aria-label=${name} data-line=${id} data-at=${`${x} ${y}`} @click=${() => show(app, id)}>
    <path class="hit" d=${path}></path>
    <path class="l" d=${path} stroke-width=${1 + Math.min(4, Math.log2(1 + perSecond))}></path>
    ${perSecond === 0 || !hasSpace ? nothing : svg`<text class="t" x=${labelX} y=${isVertical ? y + 4 : y - 5} text-anchor=${anchor}>${rate}</text>`}
    ${errorsPerSecond === 0 || !hasSpace ? nothing : svg`<text class="t errors" x=${isVertical ? x - 8 : x} y=${isVertical ? y + 4 : y + 13} text-anchor=${isVertical ? 'end' : 'middle'}>${errorsText(errorsPerSecond)}</text>`}
  </g>`
}

const truncated = (label: string): string =>
  label.length > labelCharsMax ? `${label.slice(0, labelCharsMax - 1)}…` : label

function boxView(app: App, box: Box, isFirst: boolean): TemplateResult {
  const { id, label, x, y, widthPx, pods, podCount } = box
  const count = podCount === 0 ? '' : podCount === 1 ? '1 pod' : `${podCount} pods`
  const isUnscheduled = id === unscheduledId
  const open = (): void =>
    isUnscheduled ? app.go({ view: 'objects', resource: 'pods', search: 'pending' }) : show(app, id)
  const name = count === '' ? label : `${label}: ${count}`
  return svg`<g class="box" role="button" tabindex=${isFirst ? 0 : -1} aria-label=${name} data-box=${id} data-at=${placeOfBox(box).join(' ')} @click=${open}>
    <title>${label}</title>
    <rect x=${x} y=${y} width=${widthPx} height=${box.heightPx} rx="5"></rect>
    <text x=${count === '' ? x + widthPx / 2 : x + 8} y=${y + 16} text-anchor=${count === '' ? 'middle' : 'start'}>${truncated(label)}</text>
    ${count === '' ? nothing : svg`<text class="t" x=${x + widthPx - 8} y=${y + 16} text-anchor="end">${count}</text>`}
  </g>
  ${pods.map((pod) => podView(app, pod))}`
}

/** Where arrow keys find a box: at its left, before its pods; the API server, which is tall, at its label. */
const placeOfBox = ({ id, x, y, widthPx, heightPx }: Box): Point =>
  id === hub ? [x + widthPx / 2, y + 12] : [x, y + heightPx / 2]

function podView(app: App, { namespace, name, state, x, y }: PlacedPod): TemplateResult {
  const open = (): void => app.selectObject({ resource: 'pods', namespace, name }, { view: 'flows', between: '' })
  const title = `${namespace}/${name}: ${state}`
  return svg`<g class=${`pod ${state}`} role="button" tabindex="-1" aria-label=${title} data-pod=${name} data-at=${`${x + podPx / 2} ${y + podPx / 2}`} @click=${open}>
    <title>${title}</title>
    <rect x=${x} y=${y} width=${podPx} height=${podPx} rx="2"></rect>
    ${state === 'failing' ? svg`<path d=${`M${x + 3} ${y + 3}l5 5m0 -5l-5 5`}></path>` : nothing}
  </g>`
}

/** Arrow keys move between boxes, pods and lines; Enter and the space bar show their messages. */
function onKey(key: KeyboardEvent): void {
  const { target, currentTarget } = key
  if (!(target instanceof SVGElement) || !(currentTarget instanceof Element)) return
  if (key.key === 'Enter' || key.key === ' ') {
    key.preventDefault()
    target.dispatchEvent(new MouseEvent('click', { bubbles: true }))
    return
  }
  if (!isArrowKey(key.key)) return
  key.preventDefault()
  const items = [...currentTarget.querySelectorAll<SVGElement>('[data-at]')].map((item) => ({
    item,
    at: placeOf(item),
  }))
  const next = nearest(items, placeOf(target), key.key)
  next?.focus()
  next?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

const placeOf = ({ dataset }: SVGElement): Point => {
  const [x = 0, y = 0] = (dataset['at'] ?? '').split(' ').map(Number)
  return [x, y]
}
