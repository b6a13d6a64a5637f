// Taints that a pod does not tolerate, with the toleration that it needs.
import type { Node } from '../../../api/core/v1/node/node.ts'
import { untoleratedTaint } from '../../../api/core/v1/node/tolerations.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { problem, type Finding } from '../explainer/finding.ts'
import { jsonPatch } from '../explainer/fix-command.ts'
import { editCommand, type TemplateOwner } from '../explainer/template-owner.ts'
import { nodeSentences, taintText } from '../nodes/node-explainer.ts'
import { nodesText } from './nodes-text.ts'

type Taint = NonNullable<Node['spec']['taints']>[number]

/** Taints that the node controller sets: the condition of the node is the cause, and no toleration is needed. */
const conditionTaint = /^node\.kubernetes\.io\/(?!unschedulable)/

export interface RejectedNodes {
  readonly nodes: ReadonlySet<Node>
  readonly findings: readonly Finding[]
}

export function untoleratedTaints(object: Pod, nodes: readonly Node[], owner: TemplateOwner): RejectedNodes {
  const rejected = nodes.flatMap((each) => {
    const { taints = [] } = each.spec
    const taint = untoleratedTaint(taints, object.spec.tolerations ?? [], ['NoSchedule', 'NoExecute'])
    return taint === undefined ? [] : [{ node: each, taint }]
  })
  const byTaint = Map.groupBy(rejected, ({ taint }) => taintText(taint))
  return {
    nodes: new Set(rejected.map(({ node }) => node)),
    findings: [...byTaint.values()].flatMap((group) => {
      const [first] = group
      return first === undefined
        ? []
        : [
            taintFinding(
              first.taint,
              group.map(({ node }) => node),
              object,
              owner,
            ),
          ]
    }),
  }
}

function taintFinding(taint: Taint, nodes: readonly Node[], object: Pod, owner: TemplateOwner): Finding {
  const who = nodesText(nodes.map(({ metadata }) => metadata.name))
  const [first] = nodes
  const [cause] = first === undefined ? [] : nodeSentences(first)
  if (conditionTaint.test(taint.key) && cause !== undefined)
    return problem(`${who} ${nodes.length === 1 ? 'has' : 'have'} a problem: ${cause}`)
  const { key, value, effect } = taint
  const toleration =
    value === undefined || value === ''
      ? { key, operator: 'Exists', effect }
      : { key, operator: 'Equal', value, effect }
  return problem(
    `${who} ${nodes.length === 1 ? 'has' : 'have'} the taint ${taintText(taint)}, which it does not tolerate; it needs the toleration ${JSON.stringify(toleration)}.`,
    { fix: tolerationCommand(toleration, object, owner) },
  )
}

/** Tolerations may be added to a pod that exists. Each pod has some, which admission added; a template may have none. */
function tolerationCommand(toleration: object, object: Pod, owner: TemplateOwner): string {
  const { kind, target, namespace, specPath } = owner
  if (kind === 'Job') return editCommand(owner)
  const own = (object.spec.tolerations ?? []).filter(({ key = '' }) => !addedByAdmission.has(key))
  return kind === 'Pod' || own.length > 0
    ? jsonPatch(target, namespace, { op: 'add', path: `${specPath}/tolerations/-`, value: toleration })
    : jsonPatch(target, namespace, { op: 'add', path: `${specPath}/tolerations`, value: [toleration] })
}

const addedByAdmission = new Set([
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
])
