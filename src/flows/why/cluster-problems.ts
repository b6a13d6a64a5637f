// clusterProblems: everything that is wrong in a cluster or a namespace, the most severe first.
import { node } from '../../api/core/v1/node/node.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { FlowEvent } from '../../base/observability/flow-recorder.ts'
import { keyOf, namespaceOf, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import type { ResourceType } from '../../api/kind/kind.ts'
import type { ClusterReader } from './explainer/cluster-reader.ts'
import { severities, worst, type Finding, type Severity } from './explainer/finding.ts'
import { simulationNote } from './explainer/simulated-nodes.ts'
import { explainers } from './explainers.ts'
import { findingsOf } from './findings-of.ts'
import { onceReader } from './once-reader.ts'
import { findingTexts, fixesOf, unreadableNote } from './why.ts'

export interface ClusterProblem {
  readonly severity: Severity
  /** `deployment/web` */
  readonly object: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly waits: readonly string[]
  readonly fixes: readonly string[]
}

export interface ClusterProblems {
  readonly problems: readonly ClusterProblem[]
  /** Problems beyond the limit. */
  readonly omitted: number
  /** How many objects were examined. */
  readonly checked: number
  readonly notes: readonly string[]
}

/** Objects of a kind that are examined, and problems that are reported. */
const objectsMax = 5_000
const problemsMax = 100

interface Examined {
  readonly kind: ResourceType
  readonly object: ApiObject
  readonly findings: readonly Finding[]
}

/** With a namespace, only its objects. `pause` is called before each object. */
export async function clusterProblems(
  cluster: ClusterReader,
  namespace: string,
  recorded: readonly FlowEvent[],
  pause: () => MaybePromise<void> = () => undefined,
): Promise<ClusterProblems> {
  const reader = onceReader(cluster, namespace)
  const examined: Examined[] = []
  for (const { kind } of explainers) {
    if (namespace !== '' && !kind.namespaced) continue
    for (const object of (await reader.list(kind, namespace)).slice(0, objectsMax)) {
      await pause()
      examined.push({ kind, object, findings: await findingsOf(kind, object, reader, recorded) })
    }
  }
  const wrong = examined.filter(({ findings }) => worst(findings) !== 'info')
  const problems = withoutOwned(wrong).toSorted(bySeverity).map(problemOf)
  const notes = [
    ...simulationNote(await reader.list(node, '')),
    ...unreadableNote({ unreadable: cluster.unreadable?.difference(reader.partial) }),
  ]
  return {
    problems: problems.slice(0, problemsMax),
    omitted: Math.max(0, problems.length - problemsMax),
    checked: examined.length,
    notes: findingTexts(notes),
  }
}

/** The explanation of an owner includes what is wrong with the objects that it owns. */
function withoutOwned(wrong: readonly Examined[]): Examined[] {
  const uids = new Set(wrong.map(({ object }) => object.metadata.uid))
  return wrong.filter(({ object }) => !(object.metadata.ownerReferences ?? []).some(({ uid }) => uids.has(uid)))
}

/** Then cluster-scoped objects, because more depends on them. */
const bySeverity = (a: Examined, b: Examined): number =>
  severities.indexOf(worst(a.findings)) - severities.indexOf(worst(b.findings)) ||
  Number(a.kind.namespaced) - Number(b.kind.namespaced) ||
  keyOf(a.object).localeCompare(keyOf(b.object))

function problemOf({ kind, object, findings }: Examined): ClusterProblem {
  const bad = findings.filter(({ severity }) => severity !== 'info')
  return {
    severity: worst(bad),
    object: `${kind.singular}/${object.metadata.name}` satisfies ObjectKey,
    namespace: namespaceOf(object),
    waits: findingTexts(bad),
    fixes: fixesOf(bad),
  }
}
