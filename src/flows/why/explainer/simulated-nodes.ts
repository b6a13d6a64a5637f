// What answers say about simulated nodes: no container runs there, and their capacity is configured.
import type { Node } from '../../../api/core/v1/node/node.ts'
import { note, type Finding } from './finding.ts'
import { namesText } from './explainer.ts'

export const isSimulated = ({ status }: Node): boolean =>
  status.nodeInfo?.containerRuntimeVersion.startsWith('simulated://') ?? false

/** Empty where none of the nodes is simulated. */
export function simulationNote(nodes: readonly Node[]): Finding[] {
  const names = nodes.filter(isSimulated).map(({ metadata }) => metadata.name)
  if (names.length === 0) return []
  return [
    note(
      names.length === 1
        ? `Node ${namesText(names)} is simulated: its containers are functions, and its capacity is configured.`
        : `The nodes ${namesText(names)} are simulated: their containers are functions, and their capacity is configured.`,
    ),
  ]
}
