// Folding of branches: branches that differ only in names and revisions are drawn once, with a count. The pods of one
// ReplicaSet are merged event by event, even if one of them triggered another component; other branches only if they
// are equal as a whole.
import type { FlowEvent, FlowId } from '../base/observability/flow-recorder.ts'
import type { FlowNode } from './flow-graph.ts'
import { foldParticipants, type ShareLifelines } from './fold-participants.ts'

/** An event that represents `count` similar ones, and the events that they caused. */
export interface Branch {
  readonly event: FlowEvent
  readonly isInferred: boolean
  readonly count: number
  readonly branches: readonly Branch[]
}

const noneExpanded: ReadonlySet<FlowId> = new Set()

/** Similar branches merged, in the order of their first; all branches separately when `fold` is false. */
export const foldBranches = (
  nodes: readonly FlowNode[],
  fold: boolean,
  expanded: ReadonlySet<FlowId> = noneExpanded,
  share?: ShareLifelines,
): readonly Branch[] =>
  fold
    ? foldFamilies([foldParticipants(nodes, share)], expanded)
    : nodes.map((node) => branchOf([node], foldBranches(node.children, false)))

/** `families` are the children of several similar events. */
function foldFamilies(families: readonly (readonly FlowNode[])[], expanded: ReadonlySet<FlowId>): Branch[] {
  const byShape = new Map<string, Branch>()
  for (const similar of similarNodes(families)) {
    if (similar.length > 1 && expanded.has(firstOf(similar).event.id)) {
      for (const node of similar)
        byShape.set(`separate ${node.event.id}`, branchOf([node], foldFamilies([node.children], expanded)))
      continue
    }
    const branch = branchOf(
      similar,
      foldFamilies(
        similar.map(({ children }) => children),
        expanded,
      ),
    )
    const shape = branchShape(branch)
    const same = byShape.get(shape)
    byShape.set(shape, same === undefined ? branch : mergeBranches(same, branch))
  }
  return [...byShape.values()]
}

const firstOf = (similar: readonly [FlowNode, ...FlowNode[]]): FlowNode =>
  similar.reduce((first, node) => (node.event.id < first.event.id ? node : first))

/** Groups of nodes to merge: similar siblings, matched by their position among the events of the same object. */
function similarNodes(families: readonly (readonly FlowNode[])[]): Iterable<readonly [FlowNode, ...FlowNode[]]> {
  const groups = new Map<string, [FlowNode, ...FlowNode[]]>()
  for (const family of families) {
    const turns = new Map<string, number>()
    for (const node of family) {
      const { event } = node
      const name = event.object?.name ?? ''
      const line = messageShape(event)
      const own = `${line} ${name}`
      const turn = turns.get(own) ?? 0
      // A call with generateName: each is about another object.
      if (!name.endsWith('*')) turns.set(own, turn + 1)
      const key = `${line} ${turn}`
      const known = groups.get(key)
      if (known === undefined) groups.set(key, [node])
      else known.push(node)
    }
  }
  return groups.values()
}

/** Merges two branches of the same shape. */
const mergeBranches = (a: Branch, b: Branch): Branch => ({
  ...a,
  count: a.count + b.count,
  branches: a.branches.map((branch, index) => mergeBranches(branch, b.branches[index] ?? branch)),
})

function branchOf(similar: readonly [FlowNode, ...FlowNode[]], branches: readonly Branch[]): Branch {
  const { event, isInferred } = firstOf(similar)
  return { event, isInferred, count: similar.length, branches }
}

/** The text of an event: action, object and outcome. */
export function eventText(event: FlowEvent): string {
  const { arrow, what, outcome, revision, object } = event
  const subject = object === undefined || object.name === '' || isNamed(what, object.name) ? '' : ` ${object.name}`
  const isAt = arrow === 'persist' || (revision > 0 && object?.name === '')
  const at = isAt ? ` @${revision}` : ''
  const result = outcome === undefined || outcome === 'done' || outcome === 'ok' ? '' : ` → ${outcome}`
  const noun = arrow === 'watch' ? ` ${object?.resource ?? ''}` : ''
  return `${what}${noun}${subject}${at}${result}`
}

/** Whether the text contains the name as a whole word. */
function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (isEdge(text[at - 1]) && isEdge(text[at + name.length])) return true
  return false
}

const isEdge = (character: string | undefined): boolean => character === undefined || !/[\w-]/.test(character)

const lineOf = ({ arrow, from, to }: FlowEvent, text: string): string => `${arrow} ${from} ${to} ${text}`

/** The shape of a branch: its text without names. Cached per branch. */
function branchShape(branch: Branch): string {
  const { event, branches } = branch
  const known = shapes.get(branch)
  if (known !== undefined) return known
  const shape = `${lineOf(event, maskName(eventText(event), event))}(${branches.map(branchShape).join()})`
  shapes.set(branch, shape)
  return shape
}

const shapes = new WeakMap<Branch, string>()

/** Removes what differs between similar events: revisions, durations, generated suffixes. */
const maskNumbers = (text: string): string =>
  text
    .replace(/(^|[^\w.])[\d.]+ms$/, '$1ms')
    .replaceAll(/Filter \d+ of \d+/g, 'Filter n of n')
    .replaceAll(/@\d+/g, '@')
    .replaceAll(/-[a-z0-9]{5}\b/g, '-*')

/** The name without its ordinal: `db-0` and `db-1` of a StatefulSet are similar. */
const maskOrdinal = (name: string): string => name.replace(/-\d+$/, '-*')

/** The text of an event without names and numbers; equal for repeated messages. */
export const messageShape = (event: FlowEvent): string => {
  const name = event.object?.name ?? ''
  return lineOf(event, maskNumbers(eventText(event).replace(name, maskOrdinal(name))))
}

function maskName(text: string, { object }: FlowEvent): string {
  return maskNumbers(object === undefined || object.name === '' ? text : text.replaceAll(object.name, '*'))
}
