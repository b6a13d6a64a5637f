// Logs of a container, followed, and a terminal in it. The terminal's library is loaded on first use.
import { html, type TemplateResult } from 'lit'
import { ref } from 'lit/directives/ref.js'
import type { App } from '../state/app.ts'
import type { ClusterObject } from '../source/source.ts'

const containersOf = ({ spec }: ClusterObject): string[] =>
  ((spec?.['containers'] ?? []) as readonly { name: string }[]).map(({ name }) => name)

export function logsTab(app: App, object: ClusterObject): TemplateResult {
  const containers = containersOf(object)
  return html`<div class="bar">
      ${containers.map((name) => html`<button @click=${() => app.details.followLog(name)}>Follow ${name}</button>`)}
    </div>
    <pre class="log" tabindex="0" role="log" aria-label="Log">${app.details.log}</pre>`
}

export function terminalTab(app: App, object: ClusterObject): TemplateResult {
  const [container = ''] = containersOf(object)
  const { object: pod } = app.location
  const { actions } = app.source
  const open = (element: Element | undefined): void => {
    if (
      !(element instanceof HTMLElement) ||
      element.dataset['open'] !== undefined ||
      pod === undefined ||
      actions === undefined
    )
      return
    element.dataset['open'] = ''
    void app.attempt(async () => {
      const { showTerminal } = await import('./terminal.ts')
      showTerminal(element, (onOutput, onEnd) => actions.openTerminal(pod, container, onOutput, onEnd))
    })
  }
  return html`<div class="terminal" role="group" aria-label=${`Terminal in ${container}`} ${ref(open)}></div>`
}
