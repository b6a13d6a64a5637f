// The map: which box a participant belongs to, where the boxes are, and the rate of messages along each line.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { hasFailed } from '../../../flows/diagram-colors.ts'

export interface Box {
  /** The participant, or the prefix of participants, that the box stands for; also the filter of its messages. */
  readonly id: string
  readonly label: string
  readonly x: number
  readonly y: number
  readonly widthPx: number
  readonly heightPx: number
}

export interface Line {
  /** The filter of its messages: `scheduler>API Server`. */
  readonly id: string
  readonly from: Box
  readonly to: Box
  readonly perSecond: number
  readonly errorsPerSecond: number
}

export interface Topology {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
  readonly widthPx: number
  readonly heightPx: number
}

const [boxWidthPx, boxHeightPx, gapPx] = [150, 28, 8]
/** Boxes per column; further participants are not drawn. */
const boxesPerColumnMax = 40
/** If there are more kubelets, they share one box. */
const kubeletBoxesMax = 6
const columns = ['clients', 'API Server', 'controllers', 'nodes'] as const

/** The column of a participant. The API server and its store are in the middle. */
function columnOf(participant: string): (typeof columns)[number] {
  if (participant === 'API Server' || participant === 'Store') return 'API Server'
  if (/^(controllers?\b|controller\/|scheduler|csi-|storage)/.test(participant)) return 'controllers'
  if (/^(kubelet|proxy|dns|Runtime|Network|Volumes|ingress)/.test(participant)) return 'nodes'
  return 'clients'
}

/** A box for many similar participants: clients with their version, kubelets of many nodes. */
const groupOf = (participant: string, kubelets: number): string => {
  if (kubelets > kubeletBoxesMax && participant.startsWith('kubelet/')) return 'kubelet'
  return participant
}

/** The window over which rates are averaged. */
export const rateWindowMs = 5_000

export function topologyOf(events: Iterable<FlowEvent>, nowMs: number): Topology {
  const all = [...events]
  const participants = new Set(all.flatMap(({ from, to }) => [from, to]))
  const kubelets = [...participants].filter((name) => name.startsWith('kubelet/')).length
  const ids = [...new Set([...participants].map((name) => groupOf(name, kubelets)))].toSorted(
    (a, b) => Number(b === 'scheduler') - Number(a === 'scheduler') || (a < b ? -1 : 1),
  )
  const byColumn = Map.groupBy(ids, columnOf)
  const boxes = new Map<string, Box>()
  for (const [at, column] of columns.entries())
    for (const [row, id] of (byColumn.get(column) ?? []).slice(0, boxesPerColumnMax).entries()) {
      const label = id === 'kubelet' ? `${kubelets} kubelets` : id.replace(/^controller\//, '')
      const [x, y] = [20 + at * (boxWidthPx + 90), 20 + row * (boxHeightPx + gapPx)]
      boxes.set(id, { id, label, x, y, widthPx: boxWidthPx, heightPx: boxHeightPx })
    }
  const rows = Math.max(1, ...[...byColumn.values()].map((group) => Math.min(boxesPerColumnMax, group.length)))
  return {
    boxes: [...boxes.values()],
    lines: linesOf(all, boxes, (name) => groupOf(name, kubelets), nowMs),
    widthPx: 40 + columns.length * boxWidthPx + (columns.length - 1) * 90,
    heightPx: 40 + rows * (boxHeightPx + gapPx),
  }
}

function linesOf(
  events: readonly FlowEvent[],
  boxes: ReadonlyMap<string, Box>,
  idOf: (participant: string) => string,
  nowMs: number,
): Line[] {
  const lines = new Map<string, { from: Box; to: Box; recent: number; errors: number }>()
  for (const event of events) {
    const [from, to] = [boxes.get(idOf(event.from)), boxes.get(idOf(event.to))]
    if (from === undefined || to === undefined || from === to) continue
    const [a, b] = from.id < to.id ? [from, to] : [to, from]
    const id = `${a.id}>${b.id}`
    const line = lines.get(id) ?? { from: a, to: b, recent: 0, errors: 0 }
    if (event.atMs > nowMs - rateWindowMs) {
      line.recent++
      if (hasFailed(event)) line.errors++
    }
    lines.set(id, line)
  }
  const perSecond = (count: number): number => count / (rateWindowMs / 1_000)
  return [...lines].map(([id, { from, to, recent, errors }]) => ({
    ...{ id, from, to },
    ...{ perSecond: perSecond(recent), errorsPerSecond: perSecond(errors) },
  }))
}
