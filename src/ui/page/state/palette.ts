// The palette: a list of choices that typing narrows down. It searches objects, kinds and actions, or chooses the namespace.
import { matching, type Choice } from '../model/choices.ts'

export type PaletteMode = 'search' | 'namespace'

/** A choice and what it does. */
export interface PaletteChoice extends Choice {
  /** The fragment of the view that it opens; undefined for an action. */
  readonly fragment?: string
  readonly run: () => void
}

export interface PaletteDeps {
  /** The choices that are known before anything is typed. */
  readonly choices: (mode: PaletteMode) => readonly PaletteChoice[]
  /** Further choices for a text: the objects with that name, or the namespaces. */
  readonly search: (mode: PaletteMode, text: string, signal: AbortSignal) => Promise<readonly PaletteChoice[]>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
}

const shownMax = 60
/** A search begins when nothing was typed for this time. */
const searchAfterMs = 120

export class Palette {
  mode: PaletteMode | undefined
  text = ''
  selected = 0
  isSearching = false
  failure: string | undefined
  #found: readonly PaletteChoice[] = []
  #searching = new AbortController()
  readonly #deps: PaletteDeps

  constructor(deps: PaletteDeps) {
    this.#deps = deps
  }

  get choices(): readonly PaletteChoice[] {
    const { mode, text } = this
    if (mode === undefined) return []
    const known = matching(this.#deps.choices(mode), text)
    // The server has compared the objects that it found with the text.
    return [...known, ...this.#found].slice(0, shownMax)
  }

  open(mode: PaletteMode): void {
    this.mode = mode
    this.type('')
  }

  close(): void {
    this.#searching.abort()
    this.mode = undefined
    this.#found = []
    this.#deps.changed()
  }

  type(text: string): void {
    this.text = text
    this.selected = 0
    this.#found = matching(this.#found, text)
    this.#searching.abort()
    this.#searching = new AbortController()
    void this.#search(this.#searching.signal)
    this.#deps.changed()
  }

  move(step: number): void {
    const { length } = this.choices
    this.selected = length === 0 ? 0 : (this.selected + step + length) % length
    this.#deps.changed()
  }

  choose(choice: PaletteChoice | undefined): void {
    if (choice === undefined) return
    this.close()
    choice.run()
  }

  async #search(signal: AbortSignal): Promise<void> {
    const { mode, text } = this
    const { search, sleep, changed } = this.#deps
    if (mode === undefined) return
    this.isSearching = true
    try {
      if (text !== '') await sleep(searchAfterMs, signal)
      const found = await search(mode, text.trim(), signal)
      if (signal.aborted) return
      this.#found = found
      this.failure = undefined
    } catch (error) {
      if (signal.aborted) return
      this.#found = []
      this.failure = error instanceof Error ? error.message : String(error)
    }
    this.isSearching = false
    changed()
  }
}
