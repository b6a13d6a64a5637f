// A terminal in a container. The terminal's library is loaded on first use.
import { html, noChange, nothing, type TemplateResult } from 'lit'
import { AsyncDirective } from 'lit/async-directive.js'
import { directive, type ElementPart } from 'lit/directive.js'
import { keyed } from 'lit/directives/keyed.js'
import type { App } from '../state/app.ts'
import { shellsOf } from '../model/shells.ts'
import type { ClusterObject } from '../source/source.ts'
import { failureView } from './frame/failure-view.ts'
import type { Connect } from './terminal.ts'

export function terminalTab(app: App, object: ClusterObject): TemplateResult {
  const shells = shellsOf(object)
  const { object: pod, container: wanted } = app.location
  const { actions } = app.source
  const shell = shells.find(({ container }) => container === wanted) ?? shells[0]
  if (pod === undefined || actions === undefined || shell === undefined)
    return html`<p class="empty">It has no container.</p>`
  const { container, isAttached } = shell
  const connect: Connect | undefined =
    shell.waits === '' ? (onOutput, onEnd) => actions.openTerminal(pod, shell, onOutput, onEnd) : undefined
  const failed = (error: Error): void => app.failed('terminal', error)
  const key = `${pod.namespace}/${pod.name}/${container}`
  return html`<div class="bar" role="group" aria-label="Containers">
      ${shells.map(({ container: name }) => html`<button aria-pressed=${name === container} @click=${() => app.go({ container: name })}>${name}</button>`)}
    </div>
    ${failureView(app, 'terminal')}
    ${shell.waits === '' ? nothing : html`<p class="empty" role="status">${shell.waits}</p>`}
    ${isAttached && connect !== undefined ? html`<p class="detail">If there is no prompt, press Enter.</p>` : nothing}
    ${keyed(
      key,
      html`<div
        class="screen"
        role="group"
        aria-label=${`Terminal in ${container}`}
        ${terminal(connect, failed)}
      ></div>`,
    )}`
}

/** Opens a terminal in an element once it can be connected, and closes it when the element is removed. What it shows stays when it ends. */
class TerminalDirective extends AsyncDirective {
  #stop: AbortController | undefined

  render(_connect: Connect | undefined, _failed: (error: Error) => void): typeof noChange {
    return noChange
  }

  override update(
    part: ElementPart,
    [connect, failed]: [Connect | undefined, (error: Error) => void],
  ): typeof noChange {
    if (this.#stop === undefined && connect !== undefined) {
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
