// Whether a pod reaches another one, a Service or an address: as a picture of the path, with the policies of both sides, and in sentences.
import { html, nothing, svg, type TemplateResult } from 'lit'
import type { Reach, ReachHop, ReachSide } from '../../../flows/reach/explain-path.ts'
import type { CellState } from '../model/cell-states.ts'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import type { App } from '../state/app.ts'

const columnPx = 141
const boxPx = 124
const rowPx = 52
const boxHeightPx = 38
const marginPx = 8
const charsMax = 14
const endChars = 5
/** Endpoints that are drawn; the sentences are about all. */
const hopsMax = 8
const policies = 'networkpolicies.networking.k8s.io'

const verdictStates: Readonly<Record<Reach['verdict'], CellState>> = {
  allowed: 'good',
  blocked: 'failing',
  partly: 'waiting',
  unknown: 'waiting',
  unreachable: 'failing',
}

export function reachTab(app: App): TemplateResult {
  const { target } = app.location
  if (target !== '') app.details.findReach(target)
  const { reach } = app.details
  const ask = (submit: Event): void => {
    submit.preventDefault()
    const typed = new FormData(submit.target as HTMLFormElement).get('target')
    app.details.forgetReach()
    app.go({ target: typeof typed === 'string' ? typed.trim() : '' })
  }
  return html`<form class="bar reach" @submit=${ask}>
      <label for="reach-target">Does it reach</label>
      <input
        id="reach-target"
        name="target"
        placeholder="service/web, pod/web-1:80 or 10.0.0.1:443"
        autocomplete="off"
        .value=${target}
      />
      <button>Find out</button>
    </form>
    ${reach?.failure === undefined ? nothing : html`<p class="problem" role="alert">${reach.failure}</p>`}
    ${target !== '' && reach?.path === undefined && reach?.failure === undefined ? html`<p class="empty">Loading…</p>` : nothing}
    ${target === '' ? html`<p class="detail">DNS, the Service and the network policies of both sides are examined, also in other namespaces: service/other/web.</p>` : nothing}
    ${reach?.path === undefined ? nothing : pathView(app, target, reach.path)}`
}

function pathView(app: App, target: string, path: Reach): TemplateResult {
  const { verdict, summary, sentences, unchecked } = path
  return html`<p role="status"><span class=${`state ${verdictStates[verdict]}`}>${summary}</span></p>
    ${path.hops.length === 0 ? nothing : pictureView(app, target, path.hops.slice(0, hopsMax))}
    ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
    ${
      unchecked.length === 0
        ? nothing
        : html`<h3>Not checked</h3>
            <ul>
              ${unchecked.map((text) => html`<li>${text}</li>`)}
            </ul>`
    }`
}

/** From left to right: the policies of the pod, the Service, the policies of the endpoints, and the endpoints. */
function pictureView(app: App, target: string, hops: readonly ReachHop[]): TemplateResult {
  const isService = /^(?:service|services|svc)\//.test(target)
  const columns = isService ? 4 : 3
  const widthPx = 2 * marginPx + (columns - 1) * columnPx + boxPx
  const heightPx = 2 * marginPx + hops.length * rowPx
  const xs = Array.from({ length: columns }, (_, column) => marginPx + column * columnPx)
  // What all endpoints have in common is drawn once.
  const isShared = new Set(hops.map(({ egress }) => JSON.stringify(egress))).size === 1
  const row = ({ pod, address, port, protocol, egress, ingress }: ReachHop, at: number): TemplateResult => {
    const y = marginPx + at * rowPx
    const isRepeated = isShared && at > 0
    const fromY = isRepeated ? marginPx : y
    const [ingressX = 0, endX = 0] = xs.slice(-2)
    return svg`${isRepeated || !isService ? nothing : lineView(xs[0] ?? 0, y, y)}
      ${lineView(ingressX - columnPx, fromY, y)} ${lineView(ingressX, y, y)}
      ${isRepeated ? nothing : sideView(app, 'leaving', egress, xs[0] ?? 0, y)}
      ${isRepeated || !isService ? nothing : boxView('Service', target.replace(/^[a-z]+\//, ''), xs[1] ?? 0, y)}
      ${sideView(app, 'arriving', ingress, ingressX, y)}
      ${boxView(`${protocol} port ${port}`, pod?.split('/')[1] ?? address, endX, y)}`
  }
  return html`<div class="relations wide" tabindex="0" role="group" aria-label="Path">
    <svg
      role="group"
      aria-label="The path and the policies along it"
      width=${widthPx}
      height=${heightPx}
      viewBox=${`0 0 ${widthPx} ${heightPx}`}
    >
      ${hops.map(row)}
    </svg>
  </div>`
}

/** From the box at a place to the next column. */
function lineView(x: number, fromY: number, toY: number): TemplateResult {
  const [x1, y1, x2, y2] = [x + boxPx, fromY + boxHeightPx / 2, x + columnPx, toY + boxHeightPx / 2]
  const middle = (x1 + x2) / 2
  return svg`<path class="l line" d=${`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}></path>`
}

/** Names of the pods of a workload differ at their ends. */
const shortened = (text: string): string =>
  text.length > charsMax ? `${text.slice(0, charsMax - endChars - 1)}…${text.slice(-endChars)}` : text

function boxView(head: string, name: string, x: number, y: number, kind = ''): TemplateResult {
  return svg`<g class=${`box ${kind}`}>
    <title>${head} ${name}</title>
    <rect x=${x} y=${y} width=${boxPx} height=${boxHeightPx} rx="5"></rect>
    <text class="t" x=${x + 8} y=${y + 14}>${head}</text>
    <text class="name" x=${x + 8} y=${y + 30}>${shortened(name)}</text>
  </g>`
}

/** What the policies of one side decide; the first policy is a link. */
function sideView(
  app: App,
  way: 'leaving' | 'arriving',
  { isBlocked, policies: names }: ReachSide,
  x: number,
  y: number,
): TemplateResult {
  const [first] = names
  const more = names.length > 1 ? ` and ${names.length - 1} more` : ''
  if (first === undefined) return boxView(way, 'no policy', x, y)
  const [namespace = '', name = ''] = first.split('/', 2)
  const view = boxView(
    isBlocked ? `${way}: blocked by` : `${way}: allowed by`,
    `${name}${more}`,
    x,
    y,
    isBlocked ? 'blocked' : '',
  )
  const to = elsewhere(app.location, {
    view: 'objects',
    resource: policies,
    object: { resource: 'networkpolicies', namespace, name },
  })
  return svg`<a href=${fragmentOf(to)}>${view}</a>`
}
