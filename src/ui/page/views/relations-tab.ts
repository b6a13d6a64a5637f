// The relations of an object as a picture: boxes in columns, each a link.
import { html, nothing, svg, type TemplateResult } from 'lit'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import { relationGraph, relationQueries, type RelationBox, type RelationLine } from '../model/summary/relations.ts'
import { resourceId, type ClusterObject } from '../source/source.ts'
import type { App } from '../state/app.ts'

const columnPx = 204
const boxPx = 176
const rowPx = 48
const boxHeightPx = 38
const marginPx = 8
const nameCharsMax = 22
const endChars = 6

export function relationsTab(app: App, object: ClusterObject): TemplateResult {
  const { details, related, location } = app
  const id = details.resource === undefined ? '' : resourceId(details.resource)
  related.follow(relationQueries(id, object), object.metadata.resourceVersion ?? '', location.revision)
  const { boxes, lines, firstColumn, lastColumn, rows } = relationGraph(id, object, related.lists, {
    kindOf: (resource) => app.resourceOf(resource)?.kind,
    idOf: (kind, apiVersion) => {
      const resource = app.resourceOfKind(kind, apiVersion)
      return resource && resourceId(resource)
    },
  })
  const leftOf = ({ column }: RelationBox): number => marginPx + (column - firstColumn) * columnPx
  const topOf = ({ row }: RelationBox): number => marginPx + row * rowPx
  const widthPx = 2 * marginPx + (lastColumn - firstColumn) * columnPx + boxPx
  const heightPx = 2 * marginPx + rows * rowPx
  return html`${related.failure === undefined ? nothing : html`<p class="problem" role="alert">${related.failure}</p>`}
    ${related.forbidden.length === 0 ? nothing : html`<p class="detail">You may not list ${related.forbidden.join(', ')} here.</p>`}
    ${boxes.length > 1 ? nothing : html`<p class="detail">${related.isLoaded ? 'It is related to no other object.' : 'Loading…'}</p>`}
    <div class="relations wide" tabindex="0" role="group" aria-label="Relations">
      <svg
        role="group"
        aria-label="Objects and their relations"
        width=${widthPx}
        height=${heightPx}
        viewBox=${`0 0 ${widthPx} ${heightPx}`}
      >
        ${lines.map((line) => lineView(line, leftOf, topOf))}
        ${boxes.map((box) => boxView(app, box, leftOf(box), topOf(box)))}
      </svg>
    </div>`
}

function lineView(
  { from, to }: RelationLine,
  leftOf: (box: RelationBox) => number,
  topOf: (box: RelationBox) => number,
): TemplateResult {
  const [x1, y1, x2, y2] = [
    leftOf(from) + boxPx,
    topOf(from) + boxHeightPx / 2,
    leftOf(to),
    topOf(to) + boxHeightPx / 2,
  ]
  const middle = (x1 + x2) / 2
  return svg`<path class="l line" d=${`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}></path>`
}

/** Names of the pods of a workload differ at their ends. */
const shortened = (text: string): string =>
  text.length > nameCharsMax ? `${text.slice(0, nameCharsMax - endChars - 1)}…${text.slice(-endChars)}` : text

function boxView(
  app: App,
  { object, kind, name, role, state, column }: RelationBox,
  x: number,
  y: number,
): TemplateResult {
  const head = [kind, role, state ?? ''].filter((text) => text !== '').join(', ')
  const title = `${head} ${name}`
  const content = svg`<title>${title}</title>
    <rect x=${x} y=${y} width=${boxPx} height=${boxHeightPx} rx="5"></rect>
    <text class="t" x=${x + 8} y=${y + 14}>${head}</text>
    <text class="name" x=${x + 8} y=${y + 30}>${shortened(name)}</text>
    ${state === undefined ? nothing : svg`<circle class=${`mark pod ${state}`} cx=${x + boxPx - 12} cy=${y + 12} r="5"></circle>`}`
  if (object === undefined || column === 0)
    return svg`<g class=${column === 0 ? 'box self' : 'box'} data-relation=${title}>${content}</g>`
  const { resource, namespace } = object
  const plural = app.resourceOf(resource)?.plural ?? resource
  const to = elsewhere(app.location, {
    view: 'objects',
    resource,
    object: { resource: plural, namespace, name },
    tab: 'Relations',
  })
  return svg`<a href=${fragmentOf(to)} class="box" data-relation=${title}>${content}</a>`
}
