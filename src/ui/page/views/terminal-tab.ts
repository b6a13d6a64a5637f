// A terminal in a container. The terminal's library is loaded on first use.
import { html, noChange, type TemplateResult } from 'lit'
import { AsyncDirective } from 'lit/async-directive.js'
import { directive, type ElementPart } from 'lit/directive.js'
import { keyed } from 'lit/directives/keyed.js'
import type { App } from '../state/app.ts'
import type { ClusterObject } from '../source/source.ts'
import { failureView } from './frame/failure-view.ts'
import type { Connect } from './terminal.ts'

interface Containers {
  readonly containers?: readonly { readonly name: string }[]
  readonly ephemeralContainers?: readonly { readonly name: string }[]
}

export function terminalTab(app: App, { spec }: ClusterObject): TemplateResult {
  const { containers = [], ephemeralContainers = [] } = (spec ?? {}) as Containers
  const names = [...containers, ...ephemeralContainers].map(({ name }) => name)
  const { object: pod, container: wanted } = app.location
  const { actions } = app.source
  const container = names.find((name) => name === wanted) ?? names[0]
  if (pod === undefined || actions === undefined || container === undefined)
    return html`<p class="empty">It has no container.</p>`
  const connect: Connect = (onOutput, onEnd) => actions.openTerminal(pod, container, onOutput, onEnd)
  const failed = (error: Error): void => app.failed('terminal', error)
  return html`<div class="bar" role="group" aria-label="Containers">
      ${names.map((name) => html`<button aria-pressed=${name === container} @click=${() => app.go({ container: name })}>${name}</button>`)}
    </div>
    ${failureView(app, 'terminal')}
    ${keyed(
      `${pod.namespace}/${pod.name}/${container}`,
      html`<div
        class="screen"
        role="group"
        aria-label=${`Terminal in ${container}`}
        ${terminal(connect, failed)}
      ></div>`,
    )}`
}

/** Opens a terminal in an element, and closes it when the element is removed. */
class TerminalDirective extends AsyncDirective {
  #stop: AbortController | undefined

  render(_connect: Connect, _failed: (error: Error) => void): typeof noChange {
    return noChange
  }

  override update(part: ElementPart, [connect, failed]: [Connect, (error: Error) => void]): typeof noChange {
    if (this.#stop === undefined) {
      this.#stop = new AbortController()
      void open(part.element as HTMLElement, connect, this.#stop.signal).catch(failed)
    }
    return noChange
  }

  override disconnected(): void {
    this.#stop?.abort()
  }
}

const terminal = directive(TerminalDirective)

async function open(element: HTMLElement, connect: Connect, signal: AbortSignal): Promise<void> {
  const { showTerminal } = await import('./terminal.ts')
  if (signal.aborted) return
  const close = showTerminal(element, connect)
  signal.addEventListener('abort', close)
}
