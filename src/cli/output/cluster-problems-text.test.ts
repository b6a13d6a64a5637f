import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { context } from '../../base/observability/context.ts'
import { startCluster, type TestCluster } from '../../cluster/testing/start-cluster.ts'
import type { ClusterProblem, ClusterProblems } from '../../flows/why/cluster-problems.ts'
import { problemsText, readProblems } from './cluster-problems-text.ts'

const { signal } = new AbortController()
const nothing: ClusterProblems = { problems: [], omitted: 0, checked: 2, notes: [] }
const crash: ClusterProblem = {
  severity: 'error',
  object: 'pod/web',
  namespace: 'shop',
  waits: ['it ends:\n| panic'],
  fixes: ['kubectl logs web'],
}
const lost: ClusterProblem = { severity: 'warning', object: 'node/a', namespace: '', waits: ['it is lost'], fixes: [] }

const texts: [what: string, found: ClusterProblems, namespace: string | undefined, text: string][] = [
  ['none', nothing, undefined, 'No problem found in the cluster. Checked: 2 objects.\n'],
  [
    'none in a namespace',
    { ...nothing, checked: 1 },
    'shop',
    'No problem found in the namespace shop. Checked: 1 object.\n',
  ],
  [
    'none, with remarks',
    { ...nothing, notes: ['Secrets may not be read.', 'Events may not be read.'] },
    undefined,
    'No problem found in the cluster. Checked: 2 objects.\n\nSecrets may not be read.\nEvents may not be read.\n',
  ],
  [
    'one',
    { ...nothing, problems: [crash] },
    'shop',
    '1 problem in the namespace shop, the most severe first.\n\npod/web in shop: error\n  it ends:\n  | panic\n  Fix: kubectl logs web\n',
  ],
  [
    'several, of which some are omitted, with a remark',
    { ...nothing, problems: [crash, lost], omitted: 3, notes: ['a remark'] },
    undefined,
    '5 problems in the cluster, the most severe first.\n\npod/web in shop: error\n  it ends:\n  | panic\n  Fix: kubectl logs web\n\nnode/a: warning\n  it is lost\n\n3 more problems of lower rank are not listed.\n\na remark\n',
  ],
]
for (const [what, found, namespace, text] of texts)
  test(`problems as text: ${what}`, () => equal(problemsText(found, namespace), text))

test('texts of objects do not control the terminal', () => {
  const text = problemsText({ ...nothing, problems: [{ ...lost, waits: ['\x1b[31mred\nFix: rm'] }] })
  match(text, /\nnode\/a: warning\n {2}red\n {2}Fix: rm\n$/)
})

let cluster: TestCluster
before(async () => {
  cluster = await startCluster({ nodes: 1, https: true })
  const spec = { containers: [{ name: 'main', image: 'web', resources: { requests: { cpu: '1000' } } }] }
  const ctx = context(signal)
  await cluster.client.of(pod).create({ metadata: { name: 'large' }, spec }, 'default', ctx)
  await cluster.until(async () => {
    const { status } = await cluster.client.of(pod).get('large', 'default', ctx)
    return status?.conditions?.some(({ reason }) => reason === 'Unschedulable') ?? false
  })
})
after(() => cluster.stop())

test('problems are read from a running cluster, of one namespace on request', async () => {
  const { kubeconfig } = cluster
  const chosen = { kubeconfig, path: '', server: '', context: 'test', contexts: [], namespace: 'default' }
  const objectsIn = async (namespace: string | undefined) =>
    (await readProblems(chosen, namespace, signal)).problems.map(({ object }) => object)
  deepEqual(await objectsIn('default'), ['pod/large'])
  deepEqual(await objectsIn('kube-public'), [])
  equal((await objectsIn(undefined)).includes('pod/large'), true)
})
