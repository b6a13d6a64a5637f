// The columns of the map. The API server is in the middle, since almost every message passes it: clients, scheduler and controllers
// are on its left, nodes with their pods and other servers on its right. On a narrow screen it is on the left of everything else.
import { gapHalfPx } from './line-routes.ts'

export const hub = 'API Server'

/** The box of pods that have no node yet. */
export const unscheduledId = 'no node'

/** Where boxes are placed from left to right. */
export interface MapColumns {
  readonly widths: readonly number[]
  readonly lefts: readonly number[]
  readonly widthPx: number
  /** The column of a participant. */
  readonly columnOf: (participant: string) => number
}

export const wideColumns = columnsOf([160, 130, 190, 130], 20, 2 * gapHalfPx, 20, wideColumnOf)

/** Everything fits into 375 pixels, beside a scroll bar; at the right there is space for the lines between boxes of the column. */
export const narrowColumns = columnsOf([86, 190], 8, 62, 26, (participant) => (wideColumnOf(participant) === 1 ? 0 : 1))

function columnsOf(
  widths: readonly number[],
  leftPx: number,
  gapPx: number,
  rightPx: number,
  columnOf: MapColumns['columnOf'],
): MapColumns {
  const lefts = widths.map((_, column) => widths.slice(0, column).reduce((sum, width) => sum + width + gapPx, leftPx))
  const last = widths.length - 1
  return { widths, lefts, widthPx: (lefts[last] ?? 0) + (widths[last] ?? 0) + rightPx, columnOf }
}

function wideColumnOf(participant: string): 0 | 1 | 2 | 3 {
  if (participant === hub || participant === 'Store') return 1
  if (/^(kubelet|proxy|dns|Ingress|Webhook)\b/.test(participant) || participant === unscheduledId) return 2
  return /^(Runtime|Network|Volumes|csi\/|cloud\/|endpoint\/)/.test(participant) ? 3 : 0
}

/** Clients first, then the scheduler and the controllers; nodes, with the pods that have none, then other servers. */
export function rankOf(id: string): number {
  const column = wideColumnOf(id)
  if (id === 'scheduler') return 1
  if (id.startsWith('controller')) return 2
  if (column === 2) return id === unscheduledId ? 5 : id.startsWith('kubelet') ? 3 : 4
  return column === 3 ? 6 : 0
}
