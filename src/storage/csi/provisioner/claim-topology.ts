// Where the volume of a claim may be: the accessibility requirements for a driver, from the selected node, the allowed
// topologies of the class and the topology keys of the nodes on which the driver runs.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { NodeSelectorTerm } from '../../../api/core/v1/scheduling/affinity.ts'
import type { CSINode } from '../../../api/storage/v1/csi-node.ts'
import type { TopologySelectorTerm } from '../../../api/storage/v1/storage-class.ts'
import type { topologyRequirement } from '../../../machine/csi/messages/volume.ts'
import type { ProtoInput } from '../../../wire/protobuf/proto-message.ts'

export type Segments = Readonly<Record<string, string>>

export interface TopologyInput {
  readonly driverName: string
  readonly nodes: readonly Node[]
  readonly csiNodes: readonly CSINode[]
  readonly allowedTopologies: readonly TopologySelectorTerm[]
  readonly selectedNode: string | undefined
  /** Spreads claims without a selected node over the segments. */
  readonly seed: string
}

/** Undefined when there is nothing to require. Throws when the selected node does not have the driver's topology. */
export function accessibilityRequirements(input: TopologyInput): ProtoInput<typeof topologyRequirement> | undefined {
  const { allowedTopologies, selectedNode, seed } = input
  const selected = selectedNode === undefined ? undefined : segmentsOfNode(input, selectedNode)
  const allowed = allowedTopologies.length > 0 ? flattened(allowedTopologies) : segmentsInCluster(input, selected)
  const requisite = distinct(allowed)
  if (selected !== undefined && !requisite.some((segments) => isPart(selected, segments)))
    throw new Error(
      `selected node '${JSON.stringify(selected)}' topology is not in allowed topologies: ${JSON.stringify(requisite)}`,
    )
  if (requisite.length === 0) return undefined
  const sorted = requisite.toSorted((a, b) => compare(canonical(a), canonical(b)))
  const first =
    selected === undefined ? hashOf(seed) % sorted.length : sorted.findIndex((segments) => isPart(selected, segments))
  const preferred = [...sorted.slice(first), ...sorted.slice(0, first)]
  const messages = (all: readonly Segments[]) => all.map((segments) => ({ segments }))
  return { requisite: messages(requisite), preferred: messages(preferred) }
}

/** Whether a node with these segments is in the segment. */
const isPart = (node: Segments, segments: Segments): boolean =>
  Object.entries(segments).every(([key, value]) => lookup(node, key) === value)

const topologyKeysOf = ({ spec }: CSINode, driverName: string): readonly string[] =>
  spec.drivers?.find(({ name }) => name === driverName)?.topologyKeys ?? []

function segmentsOfNode({ nodes, csiNodes, driverName }: TopologyInput, name: string): Segments {
  const node = nodes.find(({ metadata }) => metadata.name === name)
  const csiNode = csiNodes.find(({ metadata }) => metadata.name === name)
  if (node === undefined || csiNode === undefined)
    throw new Error(`error getting CSINode for selected node "${name}": not found`)
  const keys = topologyKeysOf(csiNode, driverName)
  if (keys.length === 0) throw new Error(`no topology key found on CSINode ${name}`)
  const segments = labelsOf(node, keys)
  if (segments === undefined) throw new Error(`topology labels from selected node ${name} do not match ${keys.join()}`)
  return segments
}

function labelsOf({ metadata }: Node, keys: readonly string[]): Segments | undefined {
  const entries = keys.map((key) => [key, lookup(metadata.labels, key)] as const)
  return entries.every(([, value]) => value !== undefined) ? (Object.fromEntries(entries) as Segments) : undefined
}

/** The segments of all nodes with the driver; with a selected node, of those with its keys. */
export function segmentsInCluster(
  { nodes, csiNodes, driverName }: Pick<TopologyInput, 'nodes' | 'csiNodes' | 'driverName'>,
  selected?: Segments,
): readonly Segments[] {
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]))
  const found = csiNodes.flatMap((csiNode) => {
    const keys = topologyKeysOf(csiNode, driverName)
    const node = byName.get(csiNode.metadata.name)
    const isComparable = selected === undefined || keys.toSorted().join() === Object.keys(selected).toSorted().join()
    if (node === undefined || keys.length === 0 || !isComparable) return []
    const segments = labelsOf(node, keys)
    return segments === undefined ? [] : [segments]
  })
  return distinct(found)
}

/** Each combination of one value per key: a term with two zones and one rack gives two segments. */
function flattened(terms: readonly TopologySelectorTerm[]): readonly Segments[] {
  return terms.flatMap(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.reduce<readonly Segments[]>(
      (all, { key, values }) => all.flatMap((segments) => values.map((value) => ({ ...segments, [key]: value }))),
      [{}],
    ),
  )
}

const canonical = (segments: Segments): string => JSON.stringify(Object.entries(segments).toSorted())
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const distinct = (all: readonly Segments[]): readonly Segments[] => [
  ...new Map(all.map((segments) => [canonical(segments), segments])).values(),
]

/** FNV-1a with 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  return hash
}

/** The nodes from which a volume is accessible, as terms of a node affinity. */
export const nodeSelectorTerms = (topologies: readonly { readonly segments: Segments }[]): NodeSelectorTerm[] =>
  topologies
    .filter(({ segments }) => Object.keys(segments).length > 0)
    .map(({ segments }) => ({
      matchExpressions: Object.entries(segments)
        .toSorted()
        .map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    }))
