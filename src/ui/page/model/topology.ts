// The map: which box a participant belongs to, where the boxes are, and the rate of messages along each line.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { hasFailed } from '../../../flows/diagram-colors.ts'
import { gapHalfPx, routeAlong, routeBetween, type Place, type Route } from './line-routes.ts'
import { hub, rankOf, unscheduledId, type MapColumns } from './map-columns.ts'
import type { PodMark } from './pod-marks.ts'

export interface PlacedPod extends PodMark {
  readonly x: number
  readonly y: number
}

export interface Box extends Place {
  /** The participant, or the prefix of participants, that the box stands for; also the filter of its messages. */
  readonly id: string
  readonly label: string
  readonly pods: readonly PlacedPod[]
  /** All pods of the box; some of them may not be drawn. */
  readonly podCount: number
}

export interface Line {
  /** The filter of its messages: `scheduler>API Server`. */
  readonly id: string
  readonly from: Box
  readonly to: Box
  readonly route: Route
  readonly perSecond: number
  readonly errorsPerSecond: number
}

export interface Topology {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
  readonly widthPx: number
  readonly heightPx: number
  /** The box of a participant. */
  readonly boxIdOf: (participant: string) => string
}

export interface MapContent {
  /** All pairs of participants between which messages were recorded. */
  readonly pairs: Iterable<readonly [from: string, to: string]>
  /** The events within the window before now. */
  readonly recent: Iterable<FlowEvent>
  readonly pods: ReadonlyMap<string, readonly PodMark[]>
  readonly columns: MapColumns
  /** Only this node, with more of its pods; empty for the cluster. */
  readonly node: string
}

const marginPx = 20
const rowGapPx = 12
const boxHeightPx = 24
const storeGapPx = 26
/** Boxes per column; further participants are not drawn. */
const boxesPerColumnMax = 60
/** If there are more nodes, they share one box. */
export const nodeBoxesMax = 12
/** Squares of pods: their distance, how many are in a row, and how many a box shows. */
export const podPx = 11
const podStepPx = 15
const podsPerRow = 12
export const podsDrawnMax = 60
const nodePodsDrawnMax = 600

/** The window over which rates are averaged. */
export const rateWindowMs = 5_000

export function topologyOf({ pairs, recent, pods, columns, node }: MapContent): Topology {
  const known = node === '' ? [...pairs] : [...pairs].filter((pair) => pair.some(isOn(node)))
  const participants = new Set(known.flat())
  if (node !== '') participants.add(`kubelet/${node}`)
  else for (const name of pods.keys()) participants.add(name === '' ? unscheduledId : `kubelet/${name}`)
  participants.add(hub)
  const nodes = [...participants].filter((name) => name.startsWith('kubelet/'))
  const sharesBox = nodes.length > nodeBoxesMax
  const boxIdOf = (name: string): string => (sharesBox && name.startsWith('kubelet/') ? 'kubelet' : name)
  const ids = [...new Set([...participants].map(boxIdOf))].toSorted(
    (a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : a > b ? 1 : 0),
  )
  const podsOf = (id: string): readonly PodMark[] => {
    if (id === unscheduledId) return pods.get('') ?? []
    if (id === 'kubelet') return nodes.flatMap((name) => pods.get(name.slice('kubelet/'.length)) ?? [])
    return id.startsWith('kubelet/') ? (pods.get(id.slice('kubelet/'.length)) ?? []) : []
  }
  const labelOf = (id: string): string =>
    id === 'kubelet' ? `${nodes.length} nodes` : id.replace(/^(controller|kubelet)\//, '')
  const boxes = placed(ids, columns, podsOf, labelOf, node === '' ? podsDrawnMax : nodePodsDrawnMax)
  const floorY = Math.max(...[...boxes.values()].map(({ y, heightPx }) => y + heightPx)) + gapHalfPx / 2
  return {
    boxes: [...boxes.values()],
    lines: linesOf(known, recent, boxes, boxIdOf, floorY),
    widthPx: columns.widthPx,
    heightPx: floorY + marginPx,
    boxIdOf,
  }
}

/** Whether a participant is one of a node: its kubelet, its proxy, its announcer. */
const isOn =
  (node: string) =>
  (participant: string): boolean =>
    participant.endsWith(`/${node}`) && /^(?:kubelet|proxy|announcer)\//.test(participant)

/** The names of all nodes that the map knows, in order. */
export const nodesOf = (
  pairs: Iterable<readonly [from: string, to: string]>,
  pods: ReadonlyMap<string, unknown>,
): readonly string[] => {
  const kubelets = [...pairs].flat().filter((name) => name.startsWith('kubelet/'))
  const names = new Set([...kubelets.map((name) => name.slice('kubelet/'.length)), ...pods.keys()])
  names.delete('')
  return [...names].toSorted()
}

function placed(
  ids: readonly string[],
  { widths, lefts, columnOf }: MapColumns,
  podsOf: (id: string) => readonly PodMark[],
  labelOf: (id: string) => string,
  drawnMax: number,
): Map<string, Box> {
  const boxes = new Map<string, Box>()
  // The store is above the API server, and everything else is beside the API server.
  const topPx = marginPx + boxHeightPx + storeGapPx
  const hubColumn = columnOf(hub)
  const bottoms = widths.map((_, column) => (column === hubColumn ? marginPx : topPx))
  const counts = widths.map(() => 0)
  const place = (id: string, heightPx?: number): void => {
    const column = columnOf(id)
    counts[column] = (counts[column] ?? 0) + 1
    if ((counts[column] ?? 0) > boxesPerColumnMax) return
    const all = podsOf(id)
    const x = lefts[column] ?? 0
    const y = bottoms[column] ?? marginPx
    const drawn = all.slice(0, drawnMax).map((pod, at) => ({
      ...pod,
      x: x + 8 + (at % podsPerRow) * podStepPx,
      y: y + boxHeightPx + Math.floor(at / podsPerRow) * podStepPx,
    }))
    const podsPx = drawn.length === 0 ? 0 : Math.ceil(drawn.length / podsPerRow) * podStepPx + 6
    const box = { id, label: labelOf(id), column, x, y, pods: drawn, podCount: all.length }
    const ownPx = heightPx ?? boxHeightPx + podsPx
    boxes.set(id, { ...box, widthPx: widths[column] ?? 0, heightPx: ownPx })
    bottoms[column] = y + ownPx + rowGapPx
  }
  for (const id of ids) if (columnOf(id) !== hubColumn) place(id)
  if (ids.includes('Store')) place('Store')
  bottoms[hubColumn] = topPx
  // The API server is as high as everything beside it, so that lines to it are straight.
  place(hub, Math.max(80, Math.max(...bottoms) - rowGapPx - topPx))
  return boxes
}

function linesOf(
  pairs: readonly (readonly [string, string])[],
  recent: Iterable<FlowEvent>,
  boxes: ReadonlyMap<string, Box>,
  boxIdOf: (participant: string) => string,
  floorY: number,
): Line[] {
  const keyOf = (from: string, to: string): string => {
    const a = boxIdOf(from)
    const b = boxIdOf(to)
    return a < b ? `${a}>${b}` : `${b}>${a}`
  }
  const counts = new Map<string, Count>()
  for (const [from, receivers] of countsOf(recent))
    for (const [to, { messages, errors }] of receivers) {
      const count = getOrInsert(counts, keyOf(from, to), newCount)
      count.messages += messages
      count.errors += errors
    }
  const lines = new Map<string, Line>()
  for (const pair of pairs) {
    const [from, to] = pair.map((name) => boxes.get(boxIdOf(name)))
    const id = keyOf(...pair)
    if (from === undefined || to === undefined || from === to || lines.has(id)) continue
    const [a, b] = from.id < to.id ? [from, to] : [to, from]
    const { messages, errors } = counts.get(id) ?? { messages: 0, errors: 0 }
    const [perSecond, errorsPerSecond] = [messages, errors].map((count) => count / (rateWindowMs / 1_000)) as [
      number,
      number,
    ]
    lines.set(id, { id, from: a, to: b, route: routeAlong(routeBetween(a, b, floorY)), perSecond, errorsPerSecond })
  }
  return [...lines.values()]
}

interface Count {
  messages: number
  errors: number
}
const newCount = (): Count => ({ messages: 0, errors: 0 })

/** Messages by sender and receiver. There are tens of thousands, so no text is built for each of them. */
function countsOf(events: Iterable<FlowEvent>): Map<string, Map<string, Count>> {
  const counts = new Map<string, Map<string, Count>>()
  for (const event of events) {
    const count = getOrInsert(
      getOrInsert(counts, event.from, () => new Map<string, Count>()),
      event.to,
      newCount,
    )
    count.messages++
    if (hasFailed(event)) count.errors++
  }
  return counts
}
