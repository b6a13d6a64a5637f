// The filters of the diagram, the switch for background messages, and the scale. Filters are part of the link to the page.
import { html, nothing, type TemplateResult } from 'lit'
import type { LifelineGroup } from '../../model/flows/lifeline-groups.ts'
import type { App } from '../../state/app.ts'
import type { Diagram } from '../../state/diagram.ts'
import { hiddenText } from './empty-view.ts'

export function filterBar(app: App, diagram: Diagram): TemplateResult {
  const { object, search, kind, between, onlyFailures } = app.location
  return html`<div class="bar filters" role="group" aria-label="Filters">
    <input
      type="search"
      aria-label="Objects"
      placeholder="object name"
      .value=${search}
      @input=${(input: Event) => app.go({ search: (input.target as HTMLInputElement).value })}
    />
    ${selection('Kind', 'all kinds', kind, kindOptions(app), (value) => app.go({ kind: value }))}
    ${selection('Actor', 'all actors', between, actorOptions(app, diagram.groups), (value) => app.go({ between: value }))}
    ${checkbox('failures only', onlyFailures, (isOn) => app.go({ onlyFailures: isOn }))}
    ${object === undefined ? backgroundSwitch(app, diagram) : checkbox('request filters', app.showsStages, () => app.toggleStages())}
    ${zoomButtons(app)}
  </div>`
}

interface Option {
  readonly value: string
  readonly label: string
}

const optionOf = (value: string): Option => ({ value, label: value })

function selection(
  name: string,
  all: string,
  value: string,
  options: readonly Option[],
  choose: (value: string) => void,
): TemplateResult {
  const isKnown = value === '' || options.some((option) => option.value === value)
  // A link, or a line of the map, may name another one.
  const shown = isKnown ? options : [{ value, label: value.replace('>', ' ↔ ') }, ...options]
  return html`<select
    aria-label=${name}
    @change=${(change: Event) => choose((change.target as HTMLSelectElement).value)}
  >
    <option value="" ?selected=${value === ''}>${all}</option>
    ${shown.map((option) => html`<option value=${option.value} ?selected=${option.value === value}>${option.label}</option>`)}
  </select>`
}

const kindOptions = ({ record }: App): readonly Option[] => [...record.kinds].toSorted().map(optionOf)

/** Groups before their members. */
function actorOptions({ record }: App, groups: readonly LifelineGroup[]): readonly Option[] {
  const all = groups.map(({ prefix, label }) => ({ value: prefix, label: `all ${label}` }))
  return [...all, ...[...record.participants].toSorted().map(optionOf)]
}

const checkbox = (label: string, isOn: boolean, toggle: (isOn: boolean) => void): TemplateResult =>
  html`<label
    ><input
      type="checkbox"
      .checked=${isOn}
      @change=${(change: Event) => toggle((change.target as HTMLInputElement).checked)}
    />
    ${label}</label
  >`

function backgroundSwitch(app: App, { hidden }: Diagram): TemplateResult | typeof nothing {
  const { showsBackground, onlyFailures } = app.location
  if (onlyFailures) return nothing
  const count = [...hidden.values()].reduce((sum, each) => sum + each, 0)
  const label = showsBackground || count === 0 ? 'background' : `background (${count} hidden)`
  return html`<span class="background" title=${hiddenText(hidden)}
    >${checkbox(label, showsBackground, (isOn) => app.go({ showsBackground: isOn }))}</span
  >`
}

function zoomButtons(app: App): TemplateResult {
  const { diagramWindow } = app
  const zoom = (step: 1 | -1 | 0) => () => {
    diagramWindow.zoom(step)
    app.changed()
  }
  return html`<span class="zoom" role="group" aria-label="Zoom">
    <button aria-label="Smaller" @click=${zoom(-1)}>−</button>
    <button title="Actual size" @click=${zoom(0)}>${Math.round(diagramWindow.scale * 100)} %</button>
    <button aria-label="Larger" @click=${zoom(1)}>+</button>
  </span>`
}
