// The header: the product, the cluster, the search, the user, help and logout.
import { html, nothing, type TemplateResult } from 'lit'
import { elsewhere, fragmentOf } from '../../model/permalink.ts'
import type { App } from '../../state/app.ts'

/** The id of the navigation, which the button of narrow screens shows. */
export const navigationId = 'navigation'

export function headerView(app: App): TemplateResult {
  const { source, user } = app
  return html`<header>
    <button class="skip" @click=${() => document.querySelector('main')?.focus()}>Skip the navigation</button>
    <button
      class="menu"
      aria-label="Navigation"
      aria-expanded=${app.isMenuOpen}
      aria-controls=${navigationId}
      @click=${() => app.toggleMenu()}
    >
      ☰
    </button>
    <a class="product" href=${fragmentOf(elsewhere(app.location, { view: app.home }))}>Coxswain</a>
    <h1>${source.title}</h1>
    <button
      class="search"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K"
      @click=${() => app.palette.open('search')}
    >
      Search <kbd>Ctrl K</kbd>
    </button>
    ${user === undefined ? nothing : html`<span class="user" title="User">${user}</span>`}
    <button aria-haspopup="dialog" @click=${() => app.showHelp()}>Help</button>
    ${source.actions === undefined ? nothing : html`<button @click=${() => void app.logOut()}>Log out</button>`}
  </header>`
}
