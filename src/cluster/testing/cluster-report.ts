// The report of a test: one HTML file with the web page over what the cluster has recorded. It opens without a server.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FlowObject, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { isSameResource, type Kind } from '../../api/kind/kind.ts'
import { namespaceOf, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { verbsOf } from '../../apiserver/discovery/served-resources.ts'
import { tableOf } from '../../apiserver/http/table.ts'
import type { ObjectChange } from '../../apiserver/registry/registry.ts'
import { withoutSecrets } from '../../apiserver/ui/without-secrets.ts'
import { pageFolder } from '../../platform/process/own-files.ts'
import { objectKeyOf, type RecordedRun } from '../../ui/page/source/recorded.ts'
import { resourceId, type Resource, type SchedulingDecision, type Table } from '../../ui/page/source/source.ts'
import { recordHistory } from './recorded-history.ts'

/** Older events and further objects are omitted, so that a browser can open the file. */
const eventsMax = 20_000
const objectsMax = 5_000
const explainedMax = 200

/** What a report reads of a cluster. */
export interface ReportedCluster {
  readonly kinds: readonly Kind[]
  readonly list: (kind: Kind) => Promise<readonly ApiObject[]>
  readonly why: (object: ApiObject) => Promise<readonly string[]>
  readonly decision: (pod: ObjectKey) => SchedulingDecision | undefined
  readonly nowMs: number
  readonly flow: FlowRecorder
  readonly changes: (kind: Kind) => Iterable<ObjectChange>
  /** The revisions of which the state is retained; undefined while the API server is not running. */
  readonly retained: { readonly oldest: number; readonly newest: number } | undefined
}

export async function recordRun(cluster: ReportedCluster, title: string): Promise<RecordedRun> {
  // The requests of the report itself are not part of the run.
  const events = [...cluster.flow.events()].slice(-eventsMax)
  const kinds = listedKinds(cluster.kinds)
  const lists = await Promise.all(kinds.map(async (kind) => ({ kind, objects: await objectsOf(cluster, kind) })))
  const { retained } = cluster
  const { history, revisions } =
    retained === undefined ? { history: [], revisions: undefined } : recordHistory({ ...cluster, retained, lists })
  const withHistory = new Set(history.map(([resource]) => resource))
  const known = lists.filter(({ kind }) => withHistory.has(resourceId(resourceOf(kind))))
  return {
    title,
    events,
    resources: kinds.map(resourceOf),
    tables: known.map(({ kind, objects }) => [resourceId(resourceOf(kind)), tableFor(kind, objects, cluster.nowMs)]),
    history,
    revisions,
    explanations: await explanationsOf(cluster, known),
    decisions: decisionsOf(cluster, known),
  }
}

/** One version of each resource. Reviews and the like cannot be listed. */
const listedKinds = (kinds: readonly Kind[]): Kind[] =>
  kinds.filter(
    (kind, at) => verbsOf(kind).includes('list') && kinds.findIndex((each) => isSameResource(each, kind)) === at,
  )

/** None while the API server is not running. */
async function objectsOf(cluster: ReportedCluster, kind: Kind): Promise<readonly ApiObject[]> {
  try {
    return (await cluster.list(kind)).slice(0, objectsMax)
  } catch {
    return []
  }
}

function resourceOf(definition: Kind): Resource {
  const { group, version, plural, kind, namespaced } = definition
  return { group, version, plural, kind, isNamespaced: namespaced, verbs: verbsOf(definition) }
}

function tableFor(kind: Kind, objects: readonly ApiObject[], nowMs: number): Table {
  const table = tableOf(kind, objects, {}, { include: 'Object', nowMs, withColumns: true })
  const { columnDefinitions, rows } = table as { columnDefinitions: Table['columns']; rows: Table['rows'] }
  return {
    columns: columnDefinitions.map(({ name, priority }) => ({ name, priority })),
    // Reports are shared, so they contain the names of a Secret's values only.
    rows: rows.map(({ cells, object }) => ({ cells, object: withoutSecrets(kind.plural, object as ApiObject) })),
  }
}

interface KindObjects {
  readonly kind: Kind
  readonly objects: readonly ApiObject[]
}

const flowObjectOf = ({ plural }: Kind, object: ApiObject): FlowObject => ({
  resource: plural,
  namespace: namespaceOf(object),
  name: object.metadata.name,
})

async function explanationsOf(
  cluster: ReportedCluster,
  lists: readonly KindObjects[],
): Promise<RecordedRun['explanations']> {
  const explained = new Set([
    'Pod',
    'Deployment',
    'ReplicaSet',
    'StatefulSet',
    'DaemonSet',
    'Job',
    'Service',
    'Node',
    'PersistentVolumeClaim',
  ])
  const wanted = lists
    .filter(({ kind }) => explained.has(kind.kind))
    .flatMap(({ kind, objects }) => objects.map((object) => ({ kind, object })))
  const all = await Promise.all(
    wanted.slice(0, explainedMax).map(async ({ kind, object }) => {
      const sentences = await cluster.why(object).catch(() => [])
      return [objectKeyOf(flowObjectOf(kind, object)), sentences] as const
    }),
  )
  return all.filter(([, sentences]) => sentences.length > 0)
}

function decisionsOf(cluster: ReportedCluster, lists: readonly KindObjects[]): RecordedRun['decisions'] {
  return lists
    .filter(({ kind }) => kind.plural === 'pods')
    .flatMap(({ kind, objects }) =>
      objects.flatMap((object) => {
        const found = cluster.decision(`${namespaceOf(object)}/${object.metadata.name}`)
        return found === undefined ? [] : [[objectKeyOf(flowObjectOf(kind, object)), found] as const]
      }),
    )
}

/** Writes the report; directories are created. */
export async function writeReport(file: string, run: RecordedRun): Promise<void> {
  const template = await readFile(new URL('report.html', pageFolder()), 'utf8').catch((error: Error) => {
    throw new Error('the page of the report is missing: npm run build:page', { cause: error })
  })
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, reportText(template, run))
}

/** No text of the cluster can end the element that contains it, because `<` is escaped. */
export const reportText = (template: string, run: RecordedRun): string =>
  template.replace('{{run}}', () => JSON.stringify(run).replaceAll('<', String.raw`\u003c`))
