// One user floods the server while another reads and a node renews its lease: for the test that neither is starved, and
// for the benchmark of their waiting times.
import { rawCalls, type RawAnswer, type RawCalls } from '../flows/raw-calls.ts'

const namespace = '/api/v1/namespaces/default'
const maps = `${namespace}/configmaps`
const otherNamespace = '/api/v1/namespaces/kube-public'
const eventIn = (name: string, inNamespace: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: inNamespace, name: 'p' },
})
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'

export interface Flooded extends AsyncDisposable {
  read(): Promise<RawAnswer>
  renew(): Promise<RawAnswer>
  /** Writes an event in another namespace than the flood. */
  record(name: string): Promise<RawAnswer>
  /** Keeps this many creates of one user in flight; `stop` ends it and returns the number of responses by status. */
  flood(atOnce: number, what?: 'configmaps' | 'events'): { stop(): Promise<ReadonlyMap<number, number>> }
}

export async function flooded(kubeconfig: string): Promise<Flooded> {
  const calm = rawCalls(kubeconfig)
  const noisy = rawCalls(kubeconfig)
  await mustMake(calm, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'flood' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: ['flooder', 'reader'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
  })
  await mustMake(calm, maps, { metadata: { name: 'read' } })
  await mustMake(calm, leases, { metadata: { name: 'n1' }, spec: { holderIdentity: 'n1' } })
  let made = 0
  let renewals = 0
  return {
    read: () => calm.call('GET', `${maps}/read`, undefined, { 'impersonate-user': 'reader' }),
    renew: () =>
      calm.call(
        'PUT',
        `${leases}/n1`,
        { metadata: { name: 'n1' }, spec: { holderIdentity: 'n1', leaseTransitions: ++renewals } },
        { 'impersonate-user': 'system:node:n1', 'impersonate-group': 'system:nodes' },
      ),
    record: (name) =>
      calm.call('POST', `${otherNamespace}/events`, eventIn(name, 'kube-public'), { 'impersonate-user': 'reader' }),
    flood(atOnce, what = 'configmaps') {
      const over = new AbortController()
      const answers = new Map<number, number>()
      const slot = async () => {
        while (!over.signal.aborted) {
          const name = `flood-${made++}`
          const body = what === 'events' ? eventIn(name, 'default') : { metadata: { name } }
          const { status } = await noisy.call('POST', `${namespace}/${what}`, body, { 'impersonate-user': 'flooder' })
          answers.set(status, (answers.get(status) ?? 0) + 1)
        }
      }
      const all = Promise.all(Array.from({ length: atOnce }, slot))
      return {
        async stop() {
          over.abort()
          await all
          return answers
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([calm[Symbol.asyncDispose](), noisy[Symbol.asyncDispose]()])
    },
  }
}

async function mustMake(calls: RawCalls, path: string, object: object): Promise<void> {
  const { status, body } = await calls.call('POST', path, object)
  if (status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(body)}`)
}
