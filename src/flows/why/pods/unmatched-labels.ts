// Labels of a pod's nodeSelector and required node affinity that nodes do not have.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { matchesRequiredAffinity } from '../../../api/core/v1/pod-spec/node-selection.ts'
import type { NodeSelectorTerm } from '../../../api/core/v1/scheduling/affinity.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { editCommand, type TemplateOwner } from '../explainer/template-owner.ts'
import { nodesText } from './nodes-text.ts'
import type { RejectedNodes } from './untolerated-taints.ts'

export function unmatchedLabels(
  { spec }: Pick<Pod, 'spec'>,
  nodes: readonly Node[],
  owner: TemplateOwner,
): RejectedNodes {
  const rejected = nodes.filter((each) => !matchesRequiredAffinity(spec, each))
  if (rejected.length === 0) return { nodes: new Set(), findings: [] }
  const findings = Object.entries(spec.nodeSelector ?? {}).flatMap(([key, value]) =>
    selectorFinding(key, value, rejected),
  )
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return {
    nodes: new Set(rejected),
    findings:
      findings.length > 0
        ? findings
        : [
            problem(
              `${nodesText(namesOf(rejected))} ${rejected.length === 1 ? 'does' : 'do'} not match its required node affinity: ${terms.map(termText).join(', or ')}.`,
              withFix(editCommand(owner)),
            ),
          ],
  }
}

const namesOf = (nodes: readonly Node[]): string[] => nodes.map(({ metadata }) => metadata.name)

function selectorFinding(key: string, value: string, nodes: readonly Node[]): Finding[] {
  const without = nodes.filter(({ metadata }) => lookup(metadata.labels, key) !== value)
  const [first] = without
  if (first === undefined) return []
  const other = without.find(({ metadata }) => lookup(metadata.labels, key) !== undefined)
  const near =
    other === undefined ? '' : ` (node ${other.metadata.name} has ${key}=${lookup(other.metadata.labels, key) ?? ''})`
  const overwrite = lookup(first.metadata.labels, key) === undefined ? [] : ['--overwrite']
  return [
    problem(
      `${nodesText(namesOf(without))} ${without.length === 1 ? 'does' : 'do'} not have the label ${key}=${value} of its nodeSelector${near}.`,
      { fix: kubectl('', 'label', 'node', first.metadata.name, `${key}=${value}`, ...overwrite) },
    ),
  ]
}

/** `disk In [ssd] and zone Exists` */
const termText = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): string =>
  [...matchExpressions, ...matchFields]
    .map(
      ({ key, operator, values = [] }) => `${key} ${operator}${values.length === 0 ? '' : ` [${values.join(', ')}]`}`,
    )
    .join(' and ')
