// Steps between states that several inputs share.
import type { State, Step } from './state.ts'
import type { View } from './views.ts'

/** Views beyond this number are forgotten, the oldest first. */
const viewsMax = 20

export const only = (state: State): Step => ({ state, effects: [] })

export const withShown = (state: State, view: View): State => ({ ...state, views: [...state.views.slice(0, -1), view] })

/** Shows a view that has the next id; Escape leads back. */
export const opened = (state: State, view: View): State => ({
  ...state,
  nextId: state.nextId + 1,
  views: [...state.views, view].slice(-viewsMax),
})

/** Shows a view that has the next id instead of the shown one. */
export const replaced = (state: State, view: View): State => ({ ...withShown(state, view), nextId: state.nextId + 1 })

export const noticed = (state: State, text: string): State => ({ ...state, notice: { text, isError: false } })
export const failed = (state: State, text: string): State => ({ ...state, notice: { text, isError: true } })
