// Help: the keys of the page, and the commands for what a browser cannot do.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../../state/app.ts'
import { modal } from './modal.ts'

const keys: readonly (readonly [key: string, effect: string])[] = [
  ['Ctrl K', 'search objects, kinds and actions'],
  ['n', 'choose the namespace'],
  ['/', 'search in the list'],
  ['?', 'this help'],
  ['Escape', 'close what is open'],
  ['arrow keys', 'move in a diagram, on the map and between tabs'],
  ['c, e', 'in a diagram: the cause of a message, its first effect'],
  ['+, -, 0', 'in a diagram: larger, smaller, actual size'],
  ['Enter', 'open what is selected'],
]

const commands: readonly (readonly [command: string, effect: string])[] = [
  ['coxswain why', 'what is wrong in the cluster'],
  ['coxswain flow deployment/web', 'what has happened to an object'],
  ['coxswain ui', 'a new link to this page'],
]

const rows = (
  all: readonly (readonly [string, string])[],
  element: (text: string) => TemplateResult,
): TemplateResult[] =>
  all.map(
    ([name, effect]) =>
      html`<tr>
        <th scope="row">${element(name)}</th>
        <td>${effect}</td>
      </tr>`,
  )

export function helpView(app: App): TemplateResult | typeof nothing {
  if (!app.isHelpOpen) return nothing
  return html`<dialog class="help" aria-labelledby="help-title" @close=${() => app.closeHelp()} ${modal()}>
    <h2 id="help-title">Help</h2>
    <table>
      <caption>
        Keys
      </caption>
      <tbody>
        ${rows(keys, (text) => html`<kbd>${text}</kbd>`)}
      </tbody>
    </table>
    <table>
      <caption>
        In a terminal
      </caption>
      <tbody>
        ${rows(commands, (text) => html`<code>${text}</code>`)}
      </tbody>
    </table>
    <button @click=${() => app.closeHelp()}>Close</button>
  </dialog>`
}
