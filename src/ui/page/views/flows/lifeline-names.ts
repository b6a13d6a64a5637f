// The names of the lifelines, which stay visible while the diagram scrolls. A group that shares a lifeline unfolds with a click.
import { html, svg, type TemplateResult } from 'lit'
import { headerPx, type Lifeline, type SequenceLayout } from '../../../../flows/svg/sequence-layout.ts'
import type { LifelineGroup } from '../../model/flows/lifeline-groups.ts'
import type { App } from '../../state/app.ts'
import type { Diagram } from '../../state/diagram.ts'

export function lifelineNames(app: App, { groups }: Diagram, { lifelines, widthPx }: SequenceLayout): TemplateResult {
  const { scale } = app.diagramWindow
  return html`<svg
    class="names"
    width=${widthPx * scale}
    height=${headerPx * scale}
    viewBox=${`0 0 ${widthPx} ${headerPx}`}
  >
    <rect class="behind" width=${widthPx} height=${headerPx}></rect>
    ${lifelines.map((lifeline) => nameView(app, lifeline, groupOf(groups, lifeline)))}
  </svg>`
}

const groupOf = (groups: readonly LifelineGroup[], { name }: Lifeline): LifelineGroup | undefined =>
  groups.find(({ label, members, isFolded }) => (isFolded ? label === name : members.includes(name)))

function nameView(app: App, { name, x, widthPx }: Lifeline, group: LifelineGroup | undefined): TemplateResult {
  const box = svg`<rect x=${x - widthPx / 2} y="6" width=${widthPx} height=${headerPx - 10} rx="4"></rect>
    <text x=${x} y=${headerPx - 12} text-anchor="middle">${name}</text>`
  if (group === undefined) return svg`<g class="box">${box}</g>`
  const { prefix, isFolded, label } = group
  const toggle = (): void => app.toggleLifelines(prefix)
  const effect = isFolded ? 'show each' : `fold into ${label}`
  return svg`<g
    class="box group"
    role="button"
    tabindex="0"
    aria-expanded=${isFolded ? 'false' : 'true'}
    aria-label=${`${name}: ${effect}`}
    @click=${toggle}
    @keydown=${(key: KeyboardEvent) => onKey(key, toggle)}
  ><title>${effect}</title>${box}</g>`
}

function onKey(key: KeyboardEvent, toggle: () => void): void {
  if (key.key !== 'Enter' && key.key !== ' ') return
  key.preventDefault()
  toggle()
}
