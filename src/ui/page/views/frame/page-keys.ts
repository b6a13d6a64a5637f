// Keys that have an effect on the whole page. Keys that are typed into a field, an editor or a terminal are text.
import type { App } from '../../state/app.ts'

const typing = 'input:not([type="range"], [type="checkbox"]), textarea, select, .screen, .editor'

export function onPageKey(app: App, key: KeyboardEvent): void {
  if (app.signedOut !== undefined) return
  const target = key.target instanceof Element ? key.target : document.body
  if (key.key.toLowerCase() === 'k' && (key.ctrlKey || key.metaKey) && target.closest('.screen') === null) {
    key.preventDefault()
    app.palette.open('search')
    return
  }
  if (
    key.ctrlKey ||
    key.metaKey ||
    key.altKey ||
    target.closest(typing) !== null ||
    document.querySelector('dialog[open]') !== null
  )
    return
  if (key.key === '?') app.showHelp()
  else if (key.key === 'n') app.palette.open('namespace')
  else if (key.key === '/') document.querySelector<HTMLInputElement>('input[type="search"]')?.focus()
  else return
  key.preventDefault()
}
